//! Projects for duvet: a configuration, texts of specifications, sources that cite them and files of requirements, plain in
//! the main and with quirks drawn for each.

mod sources;
mod texts;

use crate::dice::Dice;
use crate::project::Project;
use texts::Text;

/// What makes a project less plain. A reason for a difference can ask for one of these.
const QUIRKS: [&str; 63] = [
    "other spellings",
    "odd addresses",
    "dots in addresses",
    "missing text",
    "texts that are not configured",
    "a text above the project",
    "an IETF text in the project",
    "configured format",
    "format of citations",
    "requirement files",
    "requirements of other folders",
    "todo files",
    "exception files",
    "written requirements",
    "broken quotes",
    "missing sections",
    "no sections",
    "unknown texts",
    "broken comments",
    "broken tables",
    "stale requirement files",
    "overlapping globs",
    "sources of two styles",
    "braces",
    "question marks and classes",
    "refused patterns",
    "broken configuration",
    "no source files",
    "unicode",
    "a full stop before unicode",
    "crlf in specs",
    "crlf in code",
    "byte order mark in specs",
    "byte order mark in code",
    "symbolic links",
    "nested project",
    "hidden files",
    "ignored files",
    "odd headings",
    "odd sentences",
    "odd lines",
    "pages",
    "lists",
    "markup",
    "long lines",
    "text before the heading",
    "empty sections",
    "same sentence twice",
    "same citation twice",
    "half quotes",
    "quotes of two sentences",
    "quotes with one edit",
    "quotes with other blanks",
    "short quotes",
    "names of sections without their kind",
    "comments within lines",
    "broken blocks",
    "odd metas",
    "further comment styles",
    "marks that begin alike",
    "no last line end",
    "reported before",
    "tabs",
];
const SCHEMA: &str = "'$schema' = \"https://awslabs.github.io/duvet/config/v0.4.json\"\n";

/// A `[[source]]`: its pattern, type and comment marks.
struct Source {
    pattern: &'static str,
    kind: Option<&'static str>,
    marks: Option<(&'static str, &'static str)>,
}

/// What a project is made from.
struct Maker {
    dice: Dice,
    project: Project,
    texts: Vec<Text>,
    sentences: usize,
}

/// The project of a seed.
pub fn generate(seed: u64) -> Project {
    let mut dice = Dice::new(seed);
    let quirks = dice.quirks(8, 7, &QUIRKS);
    let is_nested = ["nested project", "a text above the project"].iter().any(|quirk| quirks.contains(*quirk));
    let folder = if is_nested { "services/tea" } else { "" };
    let project = Project { quirks, folder: folder.to_owned(), ..Project::default() };
    let mut maker = Maker { dice, project, texts: Vec::new(), sentences: 0 };
    maker.make();
    maker.project
}

impl Maker {
    fn has(&self, quirk: &str) -> bool {
        self.project.has(quirk)
    }

    fn make(&mut self) {
        self.draw_texts();
        let configuration = self.configuration();
        self.project.add(".duvet/config.toml", configuration);
        if !self.has("no source files") {
            self.write_sources();
        }
        self.write_tables();
        if self.has("nested project") {
            let outer = format!("{SCHEMA}[[specification]]\nsource = \"spec.md\"\n");
            self.project.files.insert(".duvet/config.toml".to_owned(), outer);
            self.project.files.insert("spec.md".to_owned(), "# Outer\n\nNothing MUST count here.\n".to_owned());
        }
    }

    fn draw_texts(&mut self) {
        self.add_text("docs/tea.md", "docs/tea.md", true);
        if self.dice.one_in(2) {
            let address = "https://www.rfc-editor.org/rfc/rfc2324";
            self.add_text(address, ".duvet/specifications/www.rfc-editor.org/rfc/rfc2324.txt", false);
        }
        if self.dice.one_in(4) {
            self.add_text("https://example.org/cups/spec.md", ".duvet/specifications/example.org/cups/spec.txt", true);
        }
        if self.has("odd addresses") {
            let (target, file) = *self.dice.pick(&[
                ("https://example.org/", "example.org/.txt"),
                ("https://Example.org/Pots/Tea", "example.org/Pots/Tea.txt"),
                ("https://me@example.org:8443/v1.2/tea?draft", "example.org/v1.2/tea.txt"),
                ("https://example.org/a%20pot.html", "example.org/a%20pot.txt"),
                ("http://[::1]/tea.v2", "[::1]/tea.txt"),
                ("https://example.org/tea/", "example.org/tea/.txt"),
                ("https://bücher.example/tee", "xn--bcher-kva.example/tee.txt"),
            ]);
            self.add_text(target, &format!(".duvet/specifications/{file}"), true);
        }
        if self.has("dots in addresses") {
            let file = ".duvet/specifications/example.org/tea.txt";
            self.add_text("https://example.org/a/../tea", file, true);
        }
        if self.has("an IETF text in the project") {
            self.add_text(".duvet/specs/draft-tea-01.txt", ".duvet/specs/draft-tea-01.txt", false);
        }
        if self.has("a text above the project") {
            self.add_text("../shared/cups.md", "../shared/cups.md", true);
        }
        if self.has("texts that are not configured") {
            self.add_text("docs/free.md", "docs/free.md", true);
            self.add_text(
                "https://tools.ietf.org/rfc/rfc7168",
                ".duvet/specifications/www.rfc-editor.org/rfc/rfc7168.txt",
                false,
            );
            for text in self.texts.iter_mut().rev().take(2) {
                text.is_configured = false;
            }
        }
    }

    fn add_text(&mut self, target: &str, file: &str, is_markdown: bool) {
        let mut sections = Vec::new();
        let mut text = if is_markdown { self.markdown(&mut sections) } else { self.ietf(2324, &mut sections) };
        if self.has("tabs") {
            text = text.replace(". ", ".\t").replace("   ", "\t");
        }
        let mut text = self.ended(text, "crlf in specs");
        if self.has("byte order mark in specs") {
            text.insert(0, '\u{feff}');
        }
        if let Some(outside) = file.strip_prefix("../") {
            self.project.files.insert(format!("services/{outside}"), text);
        } else if self.has("symbolic links") && self.dice.one_in(2) {
            let name = file.replace('/', "-");
            self.project.add(&format!("linked/{name}"), text);
            let up = "../".repeat(file.matches('/').count());
            self.project.links.insert(self.project.place(file), format!("{up}linked/{name}"));
        } else {
            self.project.add(file, text);
        }
        self.texts.push(Text { target: target.to_owned(), is_markdown, is_configured: true, sections });
    }

    /// The text with the line ends that the project has.
    fn ended(&self, mut text: String, quirk: &str) -> String {
        if self.has("no last line end") {
            text.truncate(text.trim_end().len());
        }
        if self.has(quirk) { text.replace('\n', "\r\n") } else { text }
    }

    fn configuration(&mut self) -> String {
        let mut text = SCHEMA.to_owned();
        for Source { pattern, kind, marks } in self.sources() {
            text += &format!("\n[[source]]\npattern = \"{pattern}\"\n");
            text += &kind.map_or(String::new(), |kind| format!("type = \"{kind}\"\n"));
            text += &marks.map_or(String::new(), |(meta, content)| {
                format!("comment-style = {{ meta = \"{meta}\", content = \"{content}\" }}\n")
            });
        }
        for at in 0..self.texts.len() {
            let Text { target, is_markdown, is_configured, .. } = &self.texts[at];
            let (target, is_markdown) = (target.clone(), *is_markdown);
            if !is_configured {
                continue;
            }
            text += &format!("\n[[specification]]\nsource = \"{target}\"\n");
            if self.has("configured format") && self.dice.one_in(2) {
                let format = if is_markdown { ["markdown", "md"] } else { ["ietf", "IETF"] };
                text += &format!("format = \"{}\"\n", self.dice.pick(&format));
            }
        }
        if self.has("missing text") {
            let missing = *self.dice.pick(&["docs/gone.md", "https://example.org/gone.html", "docs"]);
            text += &format!("\n[[specification]]\nsource = \"{missing}\"\n");
        }
        if self.has("requirements of other folders") {
            text += "\n[[requirement]]\npattern = \"needs/**/*.toml\"\n";
        }
        if self.has("broken configuration") {
            text += *self.dice.pick(&[
                "\n[[source]]\ntype = \"test\"\n",
                "\n[extra]\nkey = 1\n",
                "\n[[specification]]\nsource = \"docs/tea.md\"\nformat = \"pdf\"\n",
                "\n[[source]]\npattern = \"src/*.rs\"\ntype = \"Test\"\n",
                "\n[[source]]\npattern = [\"src/*.rs\"]\n",
                "\n[[source\n",
            ]);
        }
        text + "\n[report.html]\nenabled = false\n"
    }

    fn sources(&mut self) -> Vec<Source> {
        let source = |pattern, kind, marks| Source { pattern, kind, marks };
        let mut all = vec![
            source("src/**/*.rs", None, None),
            source("scripts/*.py", None, Some(("##=", "##%"))),
            source("src/**/*.c", None, Some(("*=", "*#"))),
            source("tests/**/*.rs", Some("test"), None),
        ];
        if self.has("overlapping globs") {
            let pattern = *self.dice.pick(&["src/**/*_test.rs", "src/deep/*.rs", "src/*.rs", "**/*.rs"]);
            let kind = *self.dice.pick(&[Some("test"), Some("exception"), Some("implication"), Some("todo"), None]);
            all.push(source(pattern, kind, None));
        }
        if self.has("sources of two styles") {
            all.push(source("src/**/*.rs", Some("test"), Some(("//*", "//%"))));
        }
        if self.has("braces") {
            all.push(source("lib/{a,b}.rs", None, None));
            all.push(source("lib/*.{c,h}", None, None));
        }
        if self.has("question marks and classes") {
            all.push(source("lib/?.rs", None, None));
            all.push(source("lib/[!a-c]?.rs", Some("test"), None));
            all.push(source("lib/[a-cé]t.rs", None, None));
            all.push(source("lib/[]x].rs", None, None));
        }
        if self.has("further comment styles") {
            all.push(source("scripts/*.sh", None, Some(("#=", "#%"))));
            all.push(source("lib/*.hs", None, Some(("--=", "--#"))));
        }
        if self.has("marks that begin alike") {
            all.push(source("lib/*.lua", None, Some(("--", "---"))));
            all.push(source("lib/*.sql", None, Some(("-- =", "-- #"))));
        }
        if self.has("hidden files") {
            all.push(source("lib/**/*.txt", None, None));
        }
        if self.has("ignored files") {
            all.push(source("build/*.rs", None, None));
        }
        if self.has("refused patterns") {
            let pattern = *self.dice.pick(&["src/**.rs", "src/***/x.rs", "lib/[a.rs", "src/a**/b.rs", "lib/[].rs"]);
            all.push(source(pattern, None, None));
        }
        if self.dice.one_in(3) {
            all.push(source("./src/*.rs", None, None));
        }
        all
    }
}
