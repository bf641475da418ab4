//! Workspaces for specman: specifications, implementations and scratch pads, plain in the main and with quirks drawn for each.

mod texts;

use crate::dice::Dice;
use crate::project::Project;
use std::collections::BTreeSet;

/// What makes a workspace less plain. A reason for a difference can ask for one of these.
const QUIRKS: [&str; 35] = [
    "crlf",
    "byte order mark",
    "unicode",
    "no front matter",
    "empty front matter",
    "broken front matter",
    "values of wrong types",
    "other names",
    "odd versions",
    "odd keys",
    "blanks after fences",
    "self dependency",
    "cycle",
    "missing dependency",
    "plain document",
    "remote dependency",
    "odd dependencies",
    "absolute dependency",
    "duplicate headings",
    "duplicate groups",
    "odd groups",
    "fenced examples",
    "indented fences",
    "groups before headings",
    "odd headings",
    "html comments",
    "no specification",
    "no location",
    "location outside",
    "odd targets",
    "odd work types",
    "capital names",
    "symbolic links",
    "nested folders",
    "no last line end",
];
const THINGS: [&str; 6] = ["tea", "water", "pot", "cup", "tea-tray", "kettle"];

/// What a workspace is made from.
struct Maker {
    dice: Dice,
    project: Project,
    specs: Vec<String>,
    impls: Vec<String>,
    pads: Vec<String>,
}

/// The workspace of a seed.
pub fn generate(seed: u64) -> Project {
    let mut dice = Dice::new(seed);
    let quirks = dice.quirks(5, 4, &QUIRKS);
    let project = Project { quirks, ..Project::default() };
    let empty = Vec::new;
    let mut maker = Maker { dice, project, specs: empty(), impls: empty(), pads: empty() };
    maker.make();
    maker.project
}

impl Maker {
    fn has(&self, quirk: &str) -> bool {
        self.project.has(quirk)
    }

    /// True in some places of a project that has a quirk.
    fn here(&mut self, quirk: &str) -> bool {
        self.has(quirk) && self.dice.one_in(2)
    }

    fn make(&mut self) {
        self.project.add(".specman/.gitkeep", String::new());
        self.draw_names();
        for at in 0..self.specs.len() {
            self.write_spec(at);
        }
        for at in 0..self.impls.len() {
            self.write_impl(at);
        }
        for at in 0..self.pads.len() {
            self.write_pad(at);
        }
        self.write_rest();
        self.draw_ids();
    }

    fn draw_names(&mut self) {
        let count = self.dice.between(1, 4);
        self.specs = THINGS[..count].iter().map(|name| (*name).to_owned()).collect();
        if self.has("capital names") {
            self.specs[0] = "Tea".to_owned();
        }
        for at in 0..self.dice.between(0, 2) {
            let suffix = ["rust", "go"][at];
            self.impls.push(format!("{}-{suffix}", self.specs[at % self.specs.len()].to_lowercase()));
        }
        for name in ["hot-tea", "cold-tea"].into_iter().take(self.dice.between(0, 2)) {
            self.pads.push(name.to_owned());
        }
    }

    fn write_spec(&mut self, at: usize) {
        let name = self.specs[at].clone();
        let mut lines = self.common(&name);
        let mut dependencies = Vec::new();
        for other in at + 1..self.specs.len() {
            if self.dice.one_in(2) {
                dependencies.push(self.dependency(&format!("../{}/spec.md", self.specs[other])));
            }
        }
        dependencies.extend(self.quirky_dependencies(at));
        if !dependencies.is_empty() {
            lines.push("dependencies:".to_owned());
            lines.extend(dependencies);
        }
        if self.dice.one_in(5) {
            lines.push("requires_implementation: false".to_owned());
        }
        let body = self.specification(&name);
        self.write(&format!("spec/{name}/spec.md"), &lines, &body);
    }

    fn quirky_dependencies(&mut self, at: usize) -> Vec<String> {
        let mut found = Vec::new();
        if self.here("self dependency") {
            found.push("  - spec.md".to_owned());
        }
        if self.has("cycle") && at + 1 == self.specs.len() && at > 0 {
            found.push(format!("  - ../{}/spec.md", self.specs[0]));
        }
        if self.here("missing dependency") {
            found.push("  - ../nowhere/spec.md".to_owned());
        }
        if self.here("plain document") {
            found.push("  - ../../docs/notes.md".to_owned());
        }
        if self.here("remote dependency") {
            found.push("  - ref: https://example.org/pot.md\n    optional: true".to_owned());
        }
        if self.here("absolute dependency") {
            found.push("  - /spec/tea/spec.md".to_owned());
        }
        if self.here("odd dependencies") {
            let odd = [
                "  - spec://water",
                "  - ../water/",
                "  - ../water",
                "  - ../water/spec.md#concept-water",
                "  - ./../water/../water/spec.md",
                "  - \"\"",
                "  - 5",
                "  - { optional: true }",
                "  - { ref: ../water/spec.md, optional: \"yes\" }",
                "  - { ref: ../water/spec.md, why: wet }",
                "  - http://example.org/pot.md",
                "  - ../../impl/tea-rust/impl.md",
                "  - ../../../outside.md",
            ];
            found.push((*self.dice.pick(&odd)).to_owned());
        }
        found
    }

    fn dependency(&mut self, path: &str) -> String {
        match self.dice.below(4) {
            0 => format!("  - ref: {path}\n    optional: true"),
            1 => format!("  - {{ ref: \"{path}\", optional: false }}"),
            2 => format!("  - ref: {path}"),
            _ => format!("  - {path}"),
        }
    }

    /// Lines of the front matter that any artifact may have.
    fn common(&mut self, name: &str) -> Vec<String> {
        let mut lines = Vec::new();
        if self.here("other names") {
            let other = ["Tea Pot", "tea", "pot-of-tea", "Änne", "\"\"", "5"];
            lines.push(format!("name: {}", self.dice.pick(&other)));
        } else if self.dice.one_in(2) {
            lines.push(format!("name: {name}"));
        }
        if self.here("odd versions") {
            let odd = ["1.0", "\"1\"", "v1.0.0", "1.0.0-beta.1+x", "\"1.0.0 \"", "01.0.0", "~", "[1, 0]"];
            lines.push(format!("version: {}", self.dice.pick(&odd)));
        } else if self.dice.one_in(2) {
            lines.push(["version: 1.2.0", "version: \"1.0.0\"", "version: 0.1.0-rc.1"][self.dice.below(3)].to_owned());
        }
        if self.here("unicode") {
            lines.push("title: \"Thé 煎茶 🫖\"".to_owned());
        } else if self.dice.one_in(3) {
            lines.push("title: The tea # of the day".to_owned());
        }
        if self.dice.one_in(3) {
            lines.push(
                ["tags: [green, black]", "tags:\n  - green\n  - \"1\"", "tags: []"][self.dice.below(3)].to_owned(),
            );
        }
        if self.here("values of wrong types") {
            let odd = ["tags: green", "tags: [1, true]", "title: 5", "title: [a]", "description: { a: b }", "tags: ~"];
            let line = *self.dice.pick(&odd);
            let key = line.split(':').next().unwrap_or_default();
            lines.retain(|known| !known.starts_with(key));
            lines.push(line.to_owned());
        }
        if self.here("odd keys") {
            lines.push("x_custom: { keep: [1, 2] }\n\"quoted key\": yes\n5: five\nDate: 2024-05-06".to_owned());
        }
        lines
    }

    fn write_impl(&mut self, at: usize) {
        let name = self.impls[at].clone();
        let mut lines = self.common(&name);
        if !self.here("no specification") {
            let spec = self.dice.pick(&self.specs.clone()).clone();
            lines.push(format!("spec: ../../spec/{spec}/spec.md"));
        }
        if self.here("location outside") {
            lines.push(
                ["location: ../../..", "location: https://example.org/x", "location: /etc"][self.dice.below(3)]
                    .to_owned(),
            );
        } else if !self.here("no location") {
            lines
                .push(["location: ../../src", "location: .", "location: ../../src/tea"][self.dice.below(3)].to_owned());
        }
        if self.dice.one_in(2) && at > 0 {
            lines.push(format!("references:\n  - ref: ../{}/impl.md\n    type: implementation", self.impls[0]));
            if self.dice.one_in(2) {
                lines.push("    optional: true".to_owned());
            }
        } else if self.dice.one_in(3) {
            let spec = self.dice.pick(&self.specs.clone()).clone();
            lines.push(format!(
                "references:\n  - ref: ../../spec/{spec}/spec.md\n    type: specification\n    optional: false"
            ));
        }
        self.write(&format!("impl/{name}/impl.md"), &lines, &format!("# {name}\n\n## Overview\n\nCode.\n"));
    }

    fn write_pad(&mut self, at: usize) {
        let name = self.pads[at].clone();
        let mut lines = self.common(&name);
        let of_impl = !self.impls.is_empty() && self.dice.one_in(2);
        let target =
            if of_impl { format!("impl/{}/impl.md", self.impls[0]) } else { format!("spec/{}/spec.md", self.specs[0]) };
        if self.here("odd targets") {
            let odd = [
                "spec://tea",
                "../../../spec/tea/spec.md",
                "spec/nowhere/spec.md",
                "https://example.org/tea.md",
                "\"\"",
                "5",
            ];
            lines.push(format!("target: {}", self.dice.pick(&odd)));
        } else {
            lines.push(format!("target: {target}"));
        }
        if self.here("odd work types") {
            let odd = [
                "work_type: feat",
                "work_type: { feat: {}, ref: {} }",
                "work_type: { zap: {} }",
                "work_type: {}",
                "work_type: { fix: ~ }",
            ];
            lines.push((*self.dice.pick(&odd)).to_owned());
        } else if of_impl {
            let of_impl = [
                "work_type: { feat: {} }",
                "work_type:\n  ref:\n    refactored_headings:\n      - \"Concept: Tea\"",
                "work_type:\n  fix: { fixed_headings: [] }",
            ];
            lines.push((*self.dice.pick(&of_impl)).to_owned());
        } else {
            lines.push(
                ["work_type: { draft: {} }", "work_type: { revision: { revised_headings: [] } }"][self.dice.below(2)]
                    .to_owned(),
            );
        }
        if self.dice.one_in(2) {
            lines.push(format!("branch: tea/feat/{name}"));
        }
        if at > 0 && self.dice.one_in(2) {
            let before = &self.pads[0];
            let forms = [
                before.clone(),
                format!(".specman/scratchpad/{before}/scratch.md"),
                format!("{{ ref: {before}, optional: true }}"),
            ];
            lines.push(format!("dependencies:\n  - {}", self.dice.pick(&forms)));
        }
        self.write(&format!(".specman/scratchpad/{name}/scratch.md"), &lines, "# A pad\n\n## Notes\n\nHot.\n");
    }

    /// Writes an artifact with what its quirks make of it.
    fn write(&mut self, path: &str, lines: &[String], body: &str) {
        let end = if self.here("blanks after fences") { "---  " } else { "---" };
        let mut text = if self.here("no front matter") {
            body.to_owned()
        } else if self.here("empty front matter") {
            format!("---\n{end}\n{body}")
        } else if self.here("broken front matter") {
            let broken = ["a: b: c", "- 1\n- 2", "name: [", "\tname: tea", "name: tea\nname: pot", "text", "a: *b"];
            format!("---\n{}\n{}\n{end}\n{body}", lines.join("\n"), self.dice.pick(&broken))
        } else if lines.is_empty() {
            self.project.quirks.insert("empty front matter".to_owned());
            format!("---\n{end}\n{body}")
        } else {
            format!("---\n{}\n{end}\n{body}", lines.join("\n"))
        };
        if self.here("no last line end") {
            text.truncate(text.trim_end().len());
        }
        if self.here("crlf") {
            text = text.replace('\n', "\r\n");
        }
        if self.here("byte order mark") {
            text.insert(0, '\u{feff}');
        }
        self.project.add(path, text);
    }

    fn write_rest(&mut self) {
        self.project.add("docs/notes.md", "# Notes\n\nAbout [tea](../spec/tea/spec.md).\n".to_owned());
        if self.has("nested folders") {
            self.project.add("spec/tea/deep/spec.md", "---\nname: deep\n---\n# Deep\n".to_owned());
            self.project.add("spec/shelf/sugar/spec.md", "# Sugar\n".to_owned());
            self.project.add("spec/spec.md", "# Nobody's\n".to_owned());
            self.project.add("spec/empty/readme.md", "# Not a specification\n".to_owned());
        }
        if self.has("symbolic links") {
            self.project.links.insert("spec/linked".to_owned(), "tea".to_owned());
            self.project.files.insert("elsewhere/spec.md".to_owned(), "# Elsewhere\n".to_owned());
            self.project.links.insert("spec/else".to_owned(), "../elsewhere".to_owned());
        }
    }

    fn draw_ids(&mut self) {
        let mut ids = BTreeSet::from(["spec://nowhere".to_owned()]);
        ids.extend(self.specs.iter().map(|name| format!("spec://{name}")));
        ids.extend(self.impls.iter().map(|name| format!("impl://{name}")));
        ids.extend(self.pads.iter().map(|name| format!("scratch://{name}")));
        if self.dice.one_in(4) {
            ids.insert(
                ["spec://TEA", "impl://tea", "spec://hot-tea", "spec://te a", "spec://tea/x"][self.dice.below(5)]
                    .to_owned(),
            );
        }
        if self.has("nested folders") {
            ids.insert("spec://sugar".to_owned());
        }
        if self.has("symbolic links") {
            ids.extend(["spec://linked".to_owned(), "spec://else".to_owned()]);
        }
        self.project.ids = ids;
    }
}
