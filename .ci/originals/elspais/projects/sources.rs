//! Code, tests and results of tests that refer to the requirements of a project.

use super::Maker;

const FUNCTIONS: [&str; 6] = ["brew", "pour_cup", "boil", "rinse", "steep_leaves", "serve"];

impl Maker {
    /// References as a comment names them, behind the word of its kind.
    fn named(&mut self) -> String {
        let mut found = Vec::new();
        for _ in 0..self.dice.between(1, 2) {
            let to = self.dice.below(self.requirements.len());
            let mut one = self.written(to, "joined labels in code");
            if self.has("broken references") && self.dice.one_in(4) {
                one = self
                    .dice
                    .pick(&[
                        self.id(2, 444),
                        format!("{}-Q", self.requirements[to].id),
                        format!("{}-x1", self.ids.prefix),
                    ])
                    .clone();
            }
            if self.has("other separators in code") && self.dice.one_in(2) {
                one = one.replace('-', "_");
            }
            if self.has("other case in code") && self.dice.one_in(2) {
                one = one.replace(self.ids.prefix, &self.ids.prefix.to_lowercase());
            }
            found.push(one);
        }
        found.join(", ")
    }

    /// A comment that refers, or lines of comment, or nothing.
    fn comment(&mut self, indent: &str, mark: &str, word: &str) -> String {
        if self.dice.one_in(3) {
            return String::new();
        }
        if self.has("blocks of references in code") && self.dice.one_in(2) {
            let (first, second) = (self.named(), self.named());
            return format!(
                "{indent}{mark} {} REQUIREMENTS:\n{indent}{mark}   {first}: because\n{indent}{mark}\n{indent}{mark}   {second}\n",
                word.to_uppercase()
            );
        }
        let named = self.named();
        let word = match word {
            "Implements" if self.has("configured references") && self.dice.one_in(3) => "Does",
            "Tests" if self.has("configured references") && self.dice.one_in(3) => "Proves",
            word => word,
        };
        let colon = if self.dice.one_in(4) { "" } else { ":" };
        format!("{indent}{mark} {word}{colon} {named}\n")
    }

    /// The head of a class of Python, perhaps below another one, perhaps with a comment that belongs to no function.
    fn class(&mut self, name: &str, word: &str) -> String {
        let mut text = String::new();
        if self.has("further classes") {
            text += "class Helper(object):\n    def help(self):\n";
            text += &self.comment("        ", "#", word);
            text += "        return self\n\n";
        }
        text += &format!("class {name}:\n");
        if self.has("comments below a class") {
            text += &self.comment("    ", "#", word);
            text += "    kind = 1\n\n";
        }
        text
    }

    /// A statement that is in no function, perhaps with a comment before and behind it.
    fn between(&mut self, mark: &str, word: &str) -> String {
        if !self.has("statements between functions") {
            return String::new();
        }
        let before = self.comment("", mark, word);
        let text = format!("{before}TIMES = 3\n{}", self.comment("", mark, word));
        text + "TIMES += 1\n\n"
    }

    pub(super) fn write_code(&mut self) {
        if self.has("further languages") {
            self.write_further_languages();
        }
        for (path, write) in [
            ("src/kettle.py", Self::python as fn(&mut Self) -> String),
            ("src/deep/pot.py", Self::python),
            ("src/deep/cup.rs", Self::rust),
            ("src/saucer.js", Self::script),
        ] {
            if self.dice.one_in(3) {
                continue;
            }
            let text = write(self);
            let text = self.ended(text, "crlf in code");
            self.project.add(path, text);
        }
    }

    fn python(&mut self) -> String {
        let mut text = self.comment("", "#", "Implements") + "\nimport os\n\n";
        for name in FUNCTIONS.iter().take(self.dice.between(1, 3)) {
            text += &self.comment("", "#", "Implements");
            text += &format!("def {}(cup):\n", name);
            text += &self.comment("    ", "#", "Implements");
            if self.has("nested functions") && self.dice.one_in(2) {
                text += "    def inner():\n";
                text += &self.comment("        ", "#", "Implements");
                text += "        return 1\n";
            }
            text += "    return cup\n\n";
            text += &self.between("#", "Implements");
        }
        text += &self.class("Kettle", "Implements");
        for (at, name) in FUNCTIONS[3..5].iter().enumerate() {
            // Above the first function a comment stands below the class.
            if at > 0 || self.has("comments below a class") {
                text += &self.comment("    ", "#", "Implements");
            }
            text += &format!(
                "    {}def {}(self):\n        \"\"\"Says it.\"\"\"\n",
                if self.dice.one_in(3) { "async " } else { "" },
                name
            );
            text += &self.comment("        ", "#", "Implements");
            text += "        return self\n\n";
        }
        text + &self.comment("", "#", "Implements")
    }

    fn rust(&mut self) -> String {
        let mut text = self.comment("", "//", "Implements");
        text += "pub struct Cup;\n\nimpl Cup {\n";
        for name in &FUNCTIONS[..2] {
            text += &self.comment("    ", "//", "Implements");
            text += &format!("    pub fn {name}(&self) -> u8 {{\n");
            text += &self.comment("        ", "//", "Implements");
            text += "        7\n    }\n\n";
        }
        text += "}\n\n";
        text += &self.comment("", "///", "Implements");
        text += "fn free<T>(it: T) -> T {\n    it\n}\n";
        text
    }

    fn script(&mut self) -> String {
        let mut text = self.comment("", "//", "Implements");
        text += "export function brew(cup) {\n";
        text += &self.comment("  ", "//", "Implements");
        text += "  return cup;\n}\n\nclass Saucer {\n";
        text += &self.comment("  ", "//", "Implements");
        text += "  hold(cup) {\n    if (cup) {\n";
        text += &self.comment("      ", "//", "Implements");
        text += "    }\n  }\n}\n\nconst note = \"# Implements: REQ-p00001\";\n";
        text
    }

    fn write_further_languages(&mut self) {
        let mut go = "package tea\n\n".to_owned() + &self.comment("", "//", "Implements");
        go += "func (k *Kettle) Boil(w Water) error {\n";
        go += &(self.comment("\t", "//", "Implements") + "\treturn nil\n}\n\ntype Kettle struct {\n");
        go += &(self.comment("\t", "//", "Implements") + "\tcups int\n}\n");
        let mut c = self.comment("", "//", "Implements") + "static int boil(struct water *w)\n{\n";
        c += &(self.comment("    ", "//", "Implements") + "    return 0; ");
        c += &(self.comment("", "//", "Implements") + "}\n\n/* Implements: REQ-p00001 */\nint after;\n");
        let sql = self.comment("", "--", "Implements")
            + "create table cup (id int); "
            + &self.comment("", "--", "Implements");
        let mut page = format!("<!-- Implements: {} -->\n", self.named());
        page += &format!("<p>// Implements: {}</p>\n<style>a {{}}</style>\n", self.named());
        for (path, text) in [("src/kettle.go", go), ("src/water.c", c), ("src/cup.sql", sql), ("src/page.html", page)] {
            let text = self.ended(text, "crlf in code");
            self.project.add(path, text);
        }
    }

    pub(super) fn write_tests(&mut self) {
        let mut cases = Vec::new();
        for path in ["tests/test_kettle.py", "tests/deep/test_pot.py"] {
            let mut text = self.comment("", "#", "Tests") + "from kettle import brew\n\n";
            for at in 0..self.dice.between(1, 3) {
                text += &self.comment("", "#", "Validates");
                let name = self.test_name(at);
                text += &format!("def {name}():\n");
                text += &self.comment("    ", "#", "Validates");
                text += "    assert brew\n\n";
                text += &self.between("#", "Tests");
                cases.push((path, String::new(), name));
            }
            text += &self.class("TestKettle", "Tests");
            for at in 3..5 {
                let name = self.test_name(at);
                if at > 3 || self.has("comments below a class") {
                    text += &self.comment("    ", "#", "Tests");
                }
                text += &format!("    def {name}(self):\n");
                text += &self.comment("        ", "#", "Tests");
                text += "        assert True\n\n";
                cases.push((path, "TestKettle".to_owned(), name));
            }
            let text = self.ended(text, "crlf in code");
            self.project.add(path, text);
        }
        self.write_results(&cases);
    }

    fn test_name(&mut self, at: usize) -> String {
        let function = FUNCTIONS[at];
        if !self.dice.one_in(3) {
            return format!("test_{function}");
        }
        let to = self.dice.below(self.requirements.len());
        let named = self.written(to, "joined labels in code").replace('-', "_");
        format!("test_{function}_{named}")
    }

    fn write_results(&mut self, cases: &[(&str, String, String)]) {
        let mut xml = "<?xml version=\"1.0\"?>\n<testsuites><testsuite name=\"pytest\">\n".to_owned();
        let mut listed = Vec::new();
        for (path, class, name) in cases {
            if self.dice.one_in(3) {
                continue;
            }
            let outcome = self.dice.below(4);
            if self.dice.one_in(3) {
                let between = if class.is_empty() { String::new() } else { format!("{class}::") };
                let reported = ["passed", "failed", "skipped", "passed"][outcome];
                listed.push(serde_json::json!({ "nodeid": format!("{path}::{between}{name}"), "outcome": reported, "call": { "duration": 0.25 } }));
                continue;
            }
            let module = path.trim_end_matches(".py").replace('/', ".");
            let class = if class.is_empty() { module } else { format!("{module}.{class}") };
            let within =
                ["", "<failure message=\"it leaks\">trace</failure>", "<skipped message=\"no water\"/>", ""][outcome];
            xml += &format!("<testcase classname=\"{class}\" name=\"{name}\" time=\"0.5\">{within}</testcase>\n");
        }
        if !self.dice.one_in(4) {
            self.project.add("results/junit.xml", xml + "</testsuite></testsuites>\n");
        }
        if !listed.is_empty() {
            self.project.add("results/report.json", serde_json::json!({ "tests": listed }).to_string());
        }
    }
}
