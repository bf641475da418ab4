//! Sources and files of requirements that cite the texts of a project.

use super::Maker;

const KINDS: [&str; 6] = ["implementation", "test", "implication", "exception", "todo", "citation"];

/// Comment marks of the usual style.
const USUAL: (&str, &str) = ("//=", "//#");

impl Maker {
    pub fn write_sources(&mut self) {
        let mut files = vec![
            ("src/pot.rs", USUAL),
            ("src/deep/cup.rs", USUAL),
            ("src/pour_test.rs", USUAL),
            ("src/kettle.c", ("*=", "*#")),
            ("scripts/serve.py", ("##=", "##%")),
            ("tests/all.rs", USUAL),
        ];
        if self.has("braces") || self.has("question marks and classes") {
            files.extend(
                [
                    "lib/{a,b}.rs",
                    "lib/a.rs",
                    "lib/é.rs",
                    "lib/at.rs",
                    "lib/dt.rs",
                    "lib/].rs",
                    "lib/x.{c,h}",
                    "lib/x.c",
                ]
                .map(|path| (path, USUAL)),
            );
        }
        if self.has("further comment styles") {
            files.extend([("scripts/serve.sh", ("#=", "#%")), ("lib/pour.hs", ("--=", "--#"))]);
        }
        if self.has("marks that begin alike") {
            files.extend([("lib/pour.lua", ("--", "---")), ("lib/pour.sql", ("-- =", "-- #"))]);
        }
        if self.has("hidden files") {
            files.extend([("src/.hidden.rs", USUAL), ("src/.git/x.rs", USUAL), ("lib/.cache/notes.txt", USUAL)]);
        }
        if self.has("ignored files") {
            self.project.add(".gitignore", "build/\n".to_owned());
            files.push(("build/made.rs", USUAL));
        }
        for (path, marks) in files {
            if !self.dice.one_in(4) {
                let text = self.source(path, marks);
                self.project.add(path, text);
            }
        }
        if self.has("symbolic links") {
            let text = self.source("elsewhere/linked.rs", USUAL);
            self.project.add("elsewhere/linked.rs", text);
            for (link, to) in [
                ("src/linked.rs", "../elsewhere/linked.rs"),
                ("src/folder", "../elsewhere"),
                ("src/gone.rs", "nowhere.rs"),
            ] {
                if !self.dice.one_in(3) {
                    self.project.links.insert(self.project.place(link), to.to_owned());
                }
            }
        }
    }

    fn source(&mut self, path: &str, marks: (&str, &str)) -> String {
        let mut text = String::new();
        for number in 0..self.dice.between(1, 4) {
            text += &format!("fn step_{number}() {{\n");
            let block = self.block("    ", marks);
            text += &block;
            if self.has("same citation twice") && self.dice.one_in(2) {
                text += &format!("    ok();\n{block}");
            }
            if self.has("sources of two styles") && self.dice.one_in(2) {
                text += &self.block("    ", ("//*", "//%"));
            }
            if self.has("comments within lines") {
                text += &format!("    pour(); {}", self.block("", marks));
                text += &format!("    let text = \"\n{}\";\n", self.block("", marks));
            }
            text += "    pour();\n}\n\n";
        }
        if path.ends_with("pot.rs") {
            text += &self.broken_blocks();
        }
        if self.has("byte order mark in code") {
            let block = self.block("", marks);
            text = format!("\u{feff}{block}\n{text}");
        }
        if self.has("tabs") {
            text = text.replace("    ", "\t").replace("= ", "=\t");
        }
        self.ended(text, "crlf in code")
    }

    /// A comment that cites a sentence.
    fn block(&mut self, indent: &str, (meta, content): (&str, &str)) -> String {
        let at = self.dice.below(self.texts.len());
        let section = self.dice.below(self.texts[at].sections.len());
        let target = self.target(at, section);
        let key = if target.contains('=') || (self.has("odd metas") && self.dice.one_in(3)) { "source=" } else { "" };
        let mut metas = vec![format!("{key}{target}")];
        let is_written = self.has("written requirements") && self.dice.one_in(3);
        let kind = if is_written { "spec" } else { *self.dice.pick(&KINDS) };
        if is_written || self.dice.one_in(2) {
            let is_loud = self.has("odd metas") && self.dice.one_in(2);
            metas.push(format!("type={}", if is_loud { kind.to_uppercase() } else { kind.to_owned() }));
            if is_written && self.dice.one_in(2) {
                metas.push(format!("level={}", self.dice.pick(&["MUST", "SHOULD", "MAY", "AUTO"])));
            }
            if kind == "exception" {
                metas.push("reason=Nobody drinks it".to_owned());
            }
            if kind == "todo" && self.dice.one_in(2) {
                metas.push("tracking-issue=7".to_owned());
            }
        }
        if self.has("odd metas") && self.dice.one_in(2) {
            metas.rotate_left(1);
        }
        if self.has("format of citations") && self.dice.one_in(3) {
            let of = if self.texts[at].is_markdown { ["markdown", "md"] } else { ["ietf", "IETF"] };
            metas.push(format!("format={}", self.dice.pick(&of)));
        }
        let quote = if self.texts[at].sections[section].sentences.is_empty() || (!is_written && self.dice.one_in(5)) {
            Vec::new()
        } else {
            self.quote(at, section)
        };
        let blank = if self.has("odd metas") && self.dice.one_in(3) { "  " } else { " " };
        let mut lines: Vec<String> = metas.iter().map(|line| format!("{indent}{meta}{blank}{line}\n")).collect();
        lines.extend(quote.iter().map(|line| format!("{indent}{content} {line}\n")));
        if self.has("broken blocks") && self.dice.one_in(2) && lines.len() > 1 {
            let within = self.dice.between(1, lines.len() - 1);
            let gap = self.dice.pick(&["\n", "    // between\n", "    //\n"]);
            if metas.len() <= within {
                lines.insert(within, (*gap).to_owned());
            }
        }
        lines.concat()
    }

    /// A section of a text, as a citation names it.
    fn target(&mut self, at: usize, section: usize) -> String {
        let mut target = self.texts[at].target.clone();
        if self.has("other spellings") && self.dice.one_in(2) {
            let spellings = match target.as_str() {
                "docs/tea.md" => ["./docs/tea.md", "docs/../docs/tea.md", "docs//tea.md"],
                "https://www.rfc-editor.org/rfc/rfc2324" => [
                    "https://www.rfc-editor.org/rfc/rfc2324.txt",
                    "https://tools.ietf.org/rfc/rfc2324",
                    "https://datatracker.ietf.org/doc/html/rfc2324.html",
                ],
                _ => [&*target; 3],
            };
            target = (*self.dice.pick(&spellings)).to_owned();
        }
        let mut id = self.texts[at].sections[section].id.clone();
        if self.has("names of sections without their kind") && !self.texts[at].is_markdown {
            let number = id.rsplit('-').next().unwrap_or_default().to_owned();
            id = self.dice.pick(&[id.clone(), number.clone(), format!("appendix-{number}")]).clone();
        }
        format!("{target}#{id}")
    }

    /// Lines that quote sentences of a section.
    fn quote(&mut self, at: usize, section: usize) -> Vec<String> {
        let sentences = self.texts[at].sections[section].sentences.clone();
        let first = self.dice.below(sentences.len());
        let mut text = sentences[first].clone();
        if self.has("quotes of two sentences") && first + 1 < sentences.len() {
            text += &format!(" {}", sentences[first + 1]);
        }
        let words: Vec<&str> = text.split(' ').collect();
        let half = words.len() / 2;
        let (mut text, words) = if self.has("half quotes") && self.dice.one_in(2) {
            let part = if self.dice.one_in(2) { &words[..half] } else { &words[half..] };
            (part.join(" "), part.to_vec())
        } else {
            (text.clone(), words)
        };
        if self.has("short quotes") && self.dice.one_in(2) {
            return vec![(*self.dice.pick(&["a", "is", "the", "MUST", ".", "x", "pot", "1"])).to_owned()];
        }
        if self.has("quotes with one edit") && self.dice.one_in(2) {
            return vec![self.edited(&text)];
        }
        if self.has("quotes with other blanks") && self.dice.one_in(2) {
            return vec![
                self.dice.pick(&[text.replace(' ', "  "), text.replace(". ", "."), text.replace(',', " ,")]).clone(),
            ];
        }
        if self.has("broken quotes") && self.dice.one_in(3) {
            text = self
                .dice
                .pick(&[
                    format!("Never {text}"),
                    text.to_lowercase().replace("must", "shall"),
                    text.replace(' ', ""),
                    "Nowhere.".to_owned(),
                ])
                .clone();
            return vec![text];
        }
        if self.dice.one_in(2) && words.len() > 3 {
            return vec![words[..3].join(" "), words[3..].join(" ")];
        }
        vec![text]
    }

    /// The text with one letter more, less or different.
    fn edited(&mut self, text: &str) -> String {
        let letters: Vec<char> = text.chars().collect();
        let at = self.dice.below(letters.len());
        let (before, after) = (&letters[..at], &letters[at + 1..]);
        let changed = *self.dice.pick(&["", "x", ","]);
        let kept = if self.dice.one_in(3) { letters[at].to_string() } else { String::new() };
        format!("{}{kept}{changed}{}", String::from_iter(before), String::from_iter(after))
    }

    /// Citations that fail.
    fn broken_blocks(&mut self) -> String {
        let mut text = String::new();
        let target = self.target(0, 0);
        let quote = self.texts[0].sections[0].sentences.first().cloned().unwrap_or_default();
        let mut add = |block: &str| text += &format!("{block}\n//# {quote}\nfn broken() {{}}\n\n");
        if self.project.has("missing sections") {
            add("//= docs/tea.md#brewin");
            add("//= docs/tea.md#");
            add("//= docs/tea.md#Brewing");
        }
        if self.project.has("no sections") {
            add("//= docs/tea.md");
            add("//= docs/tea.md\n//= type=test");
        }
        if self.project.has("unknown texts") {
            add(self.dice.pick::<&str>(&[
                "//= docs/gone.md#brewing",
                "//= https://example.org/unknown#brewing",
                "//= docs#brewing",
                "//= #brewing",
            ]));
        }
        if self.project.has("broken comments") {
            for _ in 0..self.dice.between(1, 3) {
                let broken = *self.dice.pick(&[
                    "type=test",
                    "TARGET\n//= type=Test",
                    "TARGET\n//= type=test\n//= type=test",
                    "TARGET\n//= TARGET",
                    "TARGET\n//= level=must",
                    "TARGET\n//= format=pdf",
                    "TARGET\n//= type=todo\n//= reason=later",
                    "TARGET\n//= feature=cups",
                    "TARGET\n//= colour=red",
                    "",
                    "TARGET\n//= type=",
                    "TARGET\n//= type=spec\n//= reason=so",
                ]);
                add(&format!("//= {}", broken.replace("TARGET", &target)));
            }
        }
        text
    }

    // ── files of requirements ────────────────────────────────────────────────────────────────────────

    pub fn write_tables(&mut self) {
        let mut files = Vec::new();
        if self.has("requirement files") {
            files.push((".duvet/requirements/own/needs.toml", "spec"));
        }
        if self.has("requirements of other folders") {
            files.extend([("needs/more.toml", "specs"), ("needs/deep/cups.toml", "todo")]);
        }
        if self.has("todo files") {
            files.push((".duvet/todos/later.toml", "TODO"));
        }
        if self.has("exception files") {
            files.push((".duvet/exceptions/deep/never.toml", "exception"));
        }
        if self.has("broken tables") {
            files.push((".duvet/todos/broken.toml", "broken"));
        }
        for (path, table) in files {
            let text = self.table_file(table);
            self.project.add(path, text);
        }
        if self.has("stale requirement files") {
            let target =
                "target = \"docs/tea.md#gone\"\n\n[[spec]]\nlevel = \"MUST\"\nquote = '''\nA pot MUST be gone.\n'''\n";
            self.project.add(".duvet/requirements/docs/tea/gone.toml", target.to_owned());
        }
    }

    fn table_file(&mut self, table: &str) -> String {
        let at = self.dice.below(self.texts.len());
        let section = self.dice.below(self.texts[at].sections.len());
        let is_shared = self.dice.one_in(2);
        let mut text = if is_shared { format!("target = \"{}\"\n\n", self.target(at, section)) } else { String::new() };
        for _ in 0..self.dice.between(1, 3) {
            if self.texts[at].sections[section].sentences.is_empty() {
                continue;
            }
            let quote = self.quote(at, section).join("\n").replace('\\', "");
            let name = if table == "broken" { "TODO" } else { table };
            text += &format!("[[{name}]]\n");
            if !is_shared {
                text += &format!("target = \"{}\"\n", self.target(at, section));
            }
            text += &match table {
                "spec" | "specs" => format!("level = \"{}\"\n", self.dice.pick(&["MUST", "SHOULD", "MAY", "AUTO"])),
                "exception" => "reason = \"Nobody drinks it\"\n".to_owned(),
                "broken" => {
                    (*self.dice.pick(&["owner = \"me\"\n", "reason = 1\n", "quote = \"twice\"\n", "tags = [\"a\"]\n"]))
                        .to_owned()
                }
                _ => "feature = \"cups\"\ntracking-issue = \"7\"\ntags = [\"later\"]\n".to_owned(),
            };
            text += &format!("quote = '''\n{quote}\n'''\n\n");
        }
        self.ended(text, "crlf in specs")
    }
}
