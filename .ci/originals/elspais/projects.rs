//! Projects for elspais: requirements, journeys, code, tests and results, plain in the main and with quirks drawn for each.

mod sources;

use crate::dice::Dice;
use crate::project::Project;

/// What makes a project less plain. A reason for a difference can ask for one of these.
const QUIRKS: [&str; 38] = [
    "crlf in specs",
    "crlf in code",
    "byte order mark",
    "unicode",
    "fenced example",
    "duplicate id",
    "broken references",
    "short references",
    "joined labels",
    "joined labels in code",
    "other separators in code",
    "other case in code",
    "blocks of references in code",
    "comments below a class",
    "statements between functions",
    "nested functions",
    "further classes",
    "further languages",
    "configured references",
    "configured graph",
    "tabs and blanks",
    "headings of all levels",
    "no end marks",
    "odd metadata",
    "cycles",
    "references to itself",
    "sections",
    "configured ids",
    "numbered labels",
    "long assertions",
    "several spec folders",
    "overlapping globs",
    "skipped files",
    "symbolic links",
    "hidden files",
    "monorepo",
    "html comments",
    "no last line end",
];
const SUBJECTS: [&str; 8] = ["kettle", "pot", "saucer", "cup", "leaf", "water", "strainer", "tray"];
const UNUSUAL: [&str; 5] = ["thé vert", "Straße", "煎茶", "🫖 pot", "İstanbul çayı"];
const DEEDS: [&str; 8] = ["pour", "steep", "boil", "cool", "stir", "be warmed", "be rinsed", "keep the heat"];

/// How ids look: the prefix, the letter of each level, the digits, whether zeros lead.
struct Ids {
    prefix: &'static str,
    types: [(&'static str, &'static str); 3],
    digits: usize,
}

/// A requirement before it is written.
struct Requirement {
    id: String,
    level: usize,
    labels: Vec<String>,
}

/// What a project is made from.
struct Maker {
    dice: Dice,
    project: Project,
    ids: Ids,
    requirements: Vec<Requirement>,
}

/// The project of a seed.
pub fn generate(seed: u64) -> Project {
    let mut dice = Dice::new(seed);
    let quirks = dice.quirks(5, 6, &QUIRKS);
    let folder = if quirks.contains("monorepo") { "services/tea" } else { "" };
    let committed = quirks.contains("monorepo") || dice.one_in(3);
    let project = Project { quirks, folder: folder.to_owned(), committed, ..Project::default() };
    let usual = Ids { prefix: "REQ", types: [("prd", "p"), ("ops", "o"), ("dev", "d")], digits: 5 };
    let configured = Ids { prefix: "TEA", types: [("need", "N"), ("design", "D"), ("unit", "U")], digits: 3 };
    let ids = if project.has("configured ids") { configured } else { usual };
    let mut maker = Maker { dice, project, ids, requirements: Vec::new() };
    maker.make();
    maker.project
}

impl Maker {
    fn has(&self, quirk: &str) -> bool {
        self.project.has(quirk)
    }

    fn make(&mut self) {
        self.draw_requirements();
        let mut folders = vec!["spec"];
        if self.has("several spec folders") {
            folders.extend(["docs/needs", "spec/more"]);
        }
        let testing = self.dice.one_in(2);
        let patterns = if self.has("overlapping globs") {
            r#"["src/**/*.py", "src/**/*.*", "src/deep/*.rs"]"#
        } else {
            r#"["src/**/*.*"]"#
        };
        let configuration = self.configuration(&folders, patterns, testing);
        self.project.add(".elspais.toml", configuration);
        self.write_specs(&folders);
        self.write_code();
        if testing {
            self.write_tests();
        }
        self.add_unusual_files();
        let known: Vec<String> = self.requirements.iter().map(|one| one.id.clone()).collect();
        self.project.ids.extend(known);
        self.project.ids.extend([self.id(0, 999), "no such id".to_owned(), "JNY-Guest-01".to_owned()]);
        if let Some((first, label)) = self.requirements.first().and_then(|one| Some((&one.id, one.labels.first()?))) {
            self.project.ids.insert(format!("{first}-{label}"));
        }
    }

    fn id(&self, level: usize, number: usize) -> String {
        let Ids { prefix, types, digits } = &self.ids;
        format!("{prefix}-{}{number:0digits$}", types[level].1)
    }

    fn draw_requirements(&mut self) {
        for number in 1..=self.dice.between(3, 20) {
            let level = self.dice.below(3);
            let count = self.dice.below(5);
            let label = |at: usize| {
                if self.project.has("numbered labels") {
                    at.to_string()
                } else {
                    char::from(b'A' + at as u8).to_string()
                }
            };
            let labels = (0..count).map(label).collect();
            self.requirements.push(Requirement { id: self.id(level, number), level, labels });
        }
    }

    fn configuration(&mut self, folders: &[&str], patterns: &str, testing: bool) -> String {
        let mut text = format!("[project]\nname = \"tea {}\"\n", if self.has("unicode") { "thé" } else { "house" });
        text += &format!("\n[spec]\ndirectories = {folders:?}\n");
        if self.has("skipped files") {
            text += "skip_dirs = [\"roadmap\"]\nskip_files = [\"notes.md\"]\n";
        }
        if self.has("configured ids") || self.has("numbered labels") {
            text += &format!("\n[patterns]\nprefix = \"{}\"\n", self.ids.prefix);
            for (level, (name, letter)) in self.ids.types.iter().enumerate() {
                text += &format!(
                    "[patterns.types.{name}]\nid = \"{letter}\"\nname = \"{}\"\nlevel = {}\n",
                    name.to_uppercase(),
                    level + 1
                );
            }
            text += &format!(
                "[patterns.id_format]\nstyle = \"numeric\"\ndigits = {}\nleading_zeros = true\n",
                self.ids.digits
            );
        }
        if self.has("numbered labels") {
            text += "[patterns.assertions]\nlabel_style = \"numeric\"\n";
        }
        if self.has("configured references") {
            text += "\n[references.defaults]\nseparators = [\"-\", \".\"]\ncomment_styles = [\"#\", \"//\", \"%\"]\n";
            text += "[references.defaults.keywords]\nimplements = [\"Implements\", \"Does\"]\nvalidates = [\"Validates\", \"Tests\", \"Proves\"]\n";
            text += "\n[[references.overrides]]\nmatch = \"src/*.js\"\ncomment_styles = [\"//\"]\n";
        }
        if self.has("configured graph") {
            text += "\n[keywords]\nmin_length = 5\n\n[graph]\nsatellite_kinds = [\"assertion\", \"result\", \"remainder\"]\n";
            text +=
                "\n[validation]\nhash_mode = \"full-text\"\n\n[ignore]\nglobal = [\"z\"]\nspec = [\"serving.md\"]\n";
        }
        text += &format!("\n[traceability]\nscan_patterns = {patterns}\n");
        text += &format!("\n[testing]\nenabled = {testing}\ntest_dirs = [\"tests\"]\npatterns = [\"test_*.py\"]\n");
        text += "result_files = [\"results/*.xml\", \"results/*.json\"]\n";
        text
    }

    fn write_specs(&mut self, folders: &[&str]) {
        let count = self.dice.between(1, 4);
        let mut texts: Vec<String> =
            (0..count).map(|at| format!("# Tea, part {at}\n\nWhat this is about.\n\n")).collect();
        for at in 0..self.requirements.len() {
            let block = self.requirement(at);
            let into = self.dice.below(count);
            texts[into] += &block;
        }
        if self.dice.one_in(2) {
            let into = self.dice.below(count);
            let journey = self.journey();
            texts[into] += &journey;
        }
        if self.has("duplicate id") {
            let at = self.dice.below(self.requirements.len());
            let block = self.requirement(at);
            let into = self.dice.below(count);
            texts[into] += &block;
        }
        for (at, mut text) in texts.into_iter().enumerate() {
            let folder = *self.dice.pick(folders);
            if self.has("fenced example") && at == 0 {
                text += &format!(
                    "```markdown\n# {}: An example\n\n**Level**: PRD\n\n*End* *An example*\n```\n",
                    self.id(0, 77)
                );
            }
            if self.has("byte order mark") && at == 0 {
                text = format!(
                    "\u{feff}{}",
                    text.split_once("\n\n").and_then(|(_, rest)| rest.split_once("\n\n")).map_or("", |(_, rest)| rest)
                );
            }
            if self.has("tabs and blanks") {
                text = text.replace("\n\n", "  \n\t\n").replace(". The", ".\tThe").replace("**: ", "**:  ");
            }
            let text = self.ended(text, "crlf in specs");
            self.project.add(&format!("{folder}/{}.md", ["brewing", "serving", "café", "z/cleaning"][at]), text);
        }
    }

    /// The text with the line ends that the project has.
    fn ended(&self, mut text: String, quirk: &str) -> String {
        if self.has("no last line end") {
            text.truncate(text.trim_end().len());
        }
        if self.has(quirk) { text.replace('\n', "\r\n") } else { text }
    }

    fn title(&mut self) -> String {
        let subject = if self.has("unicode") && self.dice.one_in(2) {
            *self.dice.pick(&UNUSUAL)
        } else {
            *self.dice.pick(&SUBJECTS)
        };
        let form = self.dice.below(3);
        match form {
            0 => format!("The {subject}"),
            1 => format!("Warming of a {subject}, with care"),
            _ => format!("{} handling", subject.to_uppercase()),
        }
    }

    fn sentence(&mut self) -> String {
        let subject = if self.has("unicode") && self.dice.one_in(3) {
            *self.dice.pick(&UNUSUAL)
        } else {
            *self.dice.pick(&SUBJECTS)
        };
        let deed = *self.dice.pick(&DEEDS);
        let times = self.dice.between(1, 9);
        format!("The {subject} SHALL {deed} within {times} minutes")
    }

    /// References of a requirement or a journey to others, as they are written behind a word.
    fn references(&mut self, from: Option<usize>) -> String {
        let mut found = Vec::new();
        for _ in 0..self.dice.below(3) {
            let Some(to) = self.target(from) else { continue };
            found.push(self.written(to, "joined labels"));
        }
        if self.has("broken references") && self.dice.one_in(4) {
            let missing = [self.id(1, 888), format!("{}-Z", self.requirements[0].id), "nothing".to_owned()];
            found.push(self.dice.pick(&missing).clone());
        }
        if self.has("references to itself") && self.dice.one_in(4) {
            found.extend(from.map(|at| self.requirements[at].id.clone()));
        }
        if self.has("short references") {
            let before = format!("{}-", self.ids.prefix);
            found = found.iter().map(|one| one.strip_prefix(&before).unwrap_or(one).to_owned()).collect();
        }
        if found.is_empty() { "-".to_owned() } else { found.join(", ") }
    }

    /// Another requirement, of a higher level unless there are cycles.
    fn target(&mut self, from: Option<usize>) -> Option<usize> {
        let cycles = self.has("cycles");
        let fits = |at: &usize| {
            from.is_none_or(|from| {
                *at != from && (cycles || self.requirements[*at].level < self.requirements[from].level)
            })
        };
        let all: Vec<usize> = (0..self.requirements.len()).filter(fits).collect();
        if all.is_empty() { None } else { Some(*self.dice.pick(&all)) }
    }

    /// A requirement or assertions of it, as others name them.
    fn written(&mut self, to: usize, joined: &str) -> String {
        let Requirement { id, labels, .. } = &self.requirements[to];
        let (id, labels) = (id.clone(), labels.clone());
        if labels.is_empty() || self.dice.one_in(2) {
            return id;
        }
        let first = self.dice.below(labels.len());
        if self.has(joined) && first + 1 < labels.len() {
            return format!("{id}-{}-{}", labels[first], labels[first + 1]);
        }
        format!("{id}-{}", labels[first])
    }

    fn metadata(&mut self, at: usize) -> String {
        let level = self.ids.types[self.requirements[at].level].0;
        let level = if self.dice.one_in(2) { level.to_uppercase() } else { level.to_owned() };
        let status = *self.dice.pick(&["Active", "Draft", "Deprecated"]);
        let (implements, refines) = (self.references(Some(at)), self.references(Some(at)));
        if self.has("odd metadata") {
            match self.dice.below(5) {
                0 => return format!("**Status**: {status} | **Level**: {level}\n\n**Refines**: {refines}\n"),
                1 => return format!("**Level**: Odd\n**Status**: {status}\n**Implements**: {implements}\n"),
                2 => return String::new(),
                3 => {
                    return format!(
                        "**Level**:{level}|**Status**:{status}|**Refines**:{refines}|**Implements**:{implements}\n"
                    );
                }
                _ => {}
            }
        }
        match self.dice.below(3) {
            0 => format!("**Level**: {level} | **Status**: {status} | **Implements**: {implements}\n"),
            1 => format!("**Level**: {level} | **Implements**: {implements} | **Status**: {status}\n"),
            _ => format!("**Level**: {level} | **Status**: {status} | **Refines**: {refines}\n"),
        }
    }

    fn requirement(&mut self, at: usize) -> String {
        let title = self.title();
        let marks =
            if self.has("headings of all levels") { *self.dice.pick(&["", "#", "##", "####", "#######"]) } else { "#" };
        let blank = if marks.is_empty() { "" } else { " " };
        let metadata = self.metadata(at);
        let mut text = format!("{marks}{blank}{}: {title}\n\n{metadata}\n", self.requirements[at].id);
        if self.dice.one_in(2) {
            text += &format!("{}.\n\n", self.sentence());
        }
        if self.has("html comments") && self.dice.one_in(2) {
            text += "<!-- Implements: REQ-p00001\n## Hidden\n-->\n\n";
        }
        let labels = self.requirements[at].labels.clone();
        if !labels.is_empty() {
            text += "## Assertions\n\n";
        }
        for label in labels {
            text += &format!("{label}. {}.\n", self.sentence());
            if self.has("long assertions") && self.dice.one_in(2) {
                text += &format!("   {}.\n", self.sentence());
            }
            if self.dice.one_in(3) {
                text += "\n";
            }
        }
        if self.has("sections") && self.dice.one_in(2) {
            text += &format!(
                "\n## {}\n\n{}.\n\n### Below\n\n- {}\n",
                self.dice.pick(&["Rationale", "Notes on it", "Assertions of others"]),
                self.sentence(),
                self.sentence()
            );
        }
        if self.has("no end marks") && self.dice.one_in(2) {
            return text + "\n";
        }
        let hash = if self.dice.one_in(3) {
            String::new()
        } else {
            format!(" | **Hash**: {:08x}", self.dice.below(usize::MAX) as u32)
        };
        text + &format!("\n*End* *{title}*{hash}\n{}\n", if self.dice.one_in(2) { "\n---\n" } else { "" })
    }

    fn journey(&mut self) -> String {
        let addresses = self.references(None);
        let goal = self.sentence();
        format!(
            "# JNY-Guest-01: A guest drinks\n\n**Actor**: Guest\n**Goal**: {goal}\n\nAddresses: {addresses}\n\n## Steps\n\n1. Sit.\n2. Drink.\n\n*End* *JNY-Guest-01*\n\n"
        )
    }

    fn add_unusual_files(&mut self) {
        if self.has("skipped files") {
            let texts: Vec<String> = (0..3).map(|at| self.requirement(at)).collect();
            for (path, text) in ["spec/roadmap/later.md", "spec/z/notes.md", "spec/README.md"].iter().zip(texts) {
                self.project.add(path, text);
            }
        }
        if self.has("hidden files") {
            let text = self.requirement(0).replace(&self.requirements[0].id.clone(), &self.id(2, 66));
            self.project.add("spec/.drafts/idea.md", text);
            self.project.ids.insert(self.id(2, 66));
        }
        if self.has("symbolic links") {
            let text = self.requirement(0).replace(&self.requirements[0].id.clone(), &self.id(2, 55));
            self.project.add("elsewhere/linked.md", text);
            self.project.ids.insert(self.id(2, 55));
            for (link, to) in [
                ("spec/linked.md", "../elsewhere/linked.md"),
                ("spec/folder", "../elsewhere"),
                ("spec/gone.md", "nowhere.md"),
            ] {
                self.project.links.insert(self.project.place(link), to.to_owned());
            }
        }
    }
}
