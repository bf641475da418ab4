//! Projects for spec-kitty: features with work packages in lanes, plain in the main and with quirks drawn for each; and what
//! is done with them.

use crate::dice::Dice;
use crate::project::Project;

/// What makes a project less plain. A reason for a difference can ask for one of these.
const QUIRKS: [&str; 30] = [
    "crlf",
    "byte order mark",
    "unicode",
    "quoted values",
    "comments in front matter",
    "no front matter",
    "broken front matter",
    "unknown lane",
    "no lane",
    "old keys",
    "odd dependencies",
    "no dependencies",
    "cycle",
    "unknown dependencies",
    "odd subtasks",
    "odd sections",
    "no tasks",
    "no log",
    "two logs",
    "odd log",
    "odd review",
    "other id",
    "two files",
    "odd file names",
    "odd agents",
    "research mission",
    "other branch",
    "no meta",
    "earlier layout",
    "numbers as values",
];
const LANES: [&str; 4] = ["planned", "doing", "for_review", "done"];
const TITLES: [&str; 4] = ["Lid", "Spout", "Handle", "Row model and reader"];

/// What a project is made from.
struct Maker {
    dice: Dice,
    project: Project,
}

/// The project of a seed.
pub fn generate(seed: u64) -> Project {
    let mut dice = Dice::new(seed);
    let quirks = dice.quirks(5, 4, &QUIRKS);
    let project = Project { quirks, committed: true, ..Project::default() };
    let mut maker = Maker { dice, project };
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
        let configuration = "vcs:\n  type: git\nagents:\n  available:\n  - claude\n";
        self.project.add(".kittify/config.yaml", configuration.to_owned());
        self.project.add(".kittify/metadata.yaml", "spec_kitty:\n  version: 0.13.9\n".to_owned());
        let mut slugs = vec!["001-tea"];
        if self.dice.one_in(3) {
            slugs.push("002-cold-water");
        }
        let mut deeds = Vec::new();
        for slug in slugs {
            let count = self.dice.between(1, 4);
            self.feature(slug, count);
            for _ in 0..self.dice.between(1, 4) {
                deeds.push(self.deed(slug, count));
            }
        }
        if self.dice.one_in(4) {
            deeds.push("finalize 001-tea".to_owned());
        }
        self.project.ids = deeds.iter().enumerate().map(|(at, deed)| format!("{at:02} {deed}")).collect();
    }

    fn feature(&mut self, slug: &str, count: usize) {
        let folder = format!("kitty-specs/{slug}");
        self.project.add(&format!("{folder}/spec.md"), "# Spec\n".to_owned());
        self.project.add(&format!("{folder}/plan.md"), "# Plan\n".to_owned());
        if !self.here("no meta") {
            let mission = if self.has("research mission") { "research" } else { "software-dev" };
            let branch = if self.has("other branch") { "develop" } else { "main" };
            let meta = format!(
                "{{\n  \"feature_number\": \"{}\",\n  \"slug\": \"{slug}\",\n  \"friendly_name\": \"Tea\",\n  \
                 \"mission\": \"{mission}\",\n  \"target_branch\": \"{branch}\"\n}}\n",
                &slug[..3]
            );
            self.project.add(&format!("{folder}/meta.json"), meta);
        }
        let mut tasks = String::from("# Work Packages\n\n");
        for number in 1..=count {
            tasks += &self.section(number);
            self.package(&folder, number, count);
        }
        if !self.here("no tasks") {
            let tasks = if self.here("crlf") { tasks.replace('\n', "\r\n") } else { tasks };
            self.project.add(&format!("{folder}/tasks.md"), tasks);
        }
    }

    /// The section of a work package in `tasks.md`.
    fn section(&mut self, number: usize) -> String {
        let title = TITLES[number - 1];
        let odd = [
            format!("### WP0{number} {title}"),
            format!("## Phase 1: WP0{number}"),
            format!("## Work Package WP0{number} – {title} (after WP01)"),
            format!("# Work Package WP0{number}"),
        ];
        let heading = if self.here("odd sections") {
            self.dice.pick(&odd).clone()
        } else {
            format!("## Work Package WP0{number}: {title} (Priority: P1)")
        };
        let mut text = format!("{heading}\n\n**Goal**: {title}.\n\n### Included Subtasks\n");
        for at in 0..self.dice.between(0, 3) {
            let id = format!("T0{number}{at}");
            let mark = if self.dice.one_in(3) { " " } else { "x" };
            let odd = [
                format!("- [X] {id} Step"),
                format!("* [ ] {id} Step"),
                format!("  - [ ] {id} Step"),
                format!("- [ ] **{id}** Step"),
                format!("- [] {id} Step"),
                format!("- [ ]{id} Step"),
                "- [ ] A step without a number".to_owned(),
                format!("- [{mark}] {id}"),
                format!("1. [ ] {id} Step"),
                format!("- [ ] {id}a Step"),
            ];
            let line = if self.here("odd subtasks") {
                self.dice.pick(&odd).clone()
            } else {
                format!("- [{mark}] {id} [P] Step of it")
            };
            text += &format!("{line}\n");
        }
        text += "\n### Dependencies\n";
        text += &match (number, self.dice.below(4)) {
            (1, _) | (_, 0) => "- None (starting package).\n".to_owned(),
            (_, 1) => format!("- Depends on WP0{}.\n", number - 1),
            (_, 2) => format!("- Dependencies: WP01, WP0{}\n", number - 1),
            _ => format!("Depends on: WP0{}\n", number - 1),
        };
        text + "\n---\n\n"
    }

    fn package(&mut self, folder: &str, number: usize, count: usize) {
        let title = TITLES[number - 1];
        let lane = *self.dice.pick(&LANES);
        let front = self.front_matter(number, count, title, lane);
        let body = self.body(number, title, lane);
        let mut text = if self.here("no front matter") { body.clone() } else { format!("---\n{front}---\n\n{body}") };
        if self.here("crlf") {
            text = text.replace('\n', "\r\n");
        }
        if self.here("byte order mark") {
            text.insert(0, '\u{feff}');
        }
        let short = title.to_lowercase().replace(' ', "-");
        let usual = format!("WP0{number}-{short}.md");
        let odd = [
            format!("WP0{number}.md"),
            format!("WP0{number}_{short}.md"),
            format!("WP0{number}.{short}.md"),
            format!("WP0{number}b-{short}.md"),
            format!("wp0{number}-{short}.md"),
        ];
        let name = if self.here("odd file names") { self.dice.pick(&odd).clone() } else { usual };
        let place = if self.has("earlier layout") { format!("{lane}/{name}") } else { name };
        self.project.add(&format!("{folder}/tasks/{place}"), text.clone());
        if self.here("two files") {
            self.project.add(&format!("{folder}/tasks/WP0{number}-again.md"), text);
        }
    }

    fn front_matter(&mut self, number: usize, count: usize, title: &str, lane: &str) -> String {
        let quoted = self.here("quoted values");
        let quote = |value: &str| if quoted { format!("\"{value}\"") } else { value.to_owned() };
        let id = if self.here("other id") { "WP07".to_owned() } else { format!("WP0{number}") };
        let title = if self.here("unicode") { "Thé: 煎茶 'hot'" } else { title };
        let mut lines = vec![format!("work_package_id: {}", quote(&id))];
        lines.push(if self.here("old keys") {
            format!("work_package_title: {}", quote(title))
        } else if title.contains(':') {
            format!("title: \"{title}\"")
        } else {
            format!("title: {}", quote(title))
        });
        if self.here("unknown lane") {
            lines.push(format!("lane: {}", self.dice.pick(&["blocked", "Doing", "\"\"", "in progress", "~"])));
        } else if !self.here("no lane") {
            let comment = if self.here("comments in front matter") { "  # planned|doing" } else { "" };
            lines.push(format!("lane: {}{comment}", quote(lane)));
        }
        lines.extend(self.dependencies(number, count));
        lines.push("subtasks:\n- T001".to_owned());
        lines.push("phase: Phase 1 - Foundation".to_owned());
        let agents = ["''", "claude", "\"codex\"", "''"];
        let odd = ["Claude Code", "cursor-agent", "\"a: b\"", "'it''s'", "~", "5"];
        let agent = if self.here("odd agents") { *self.dice.pick(&odd) } else { *self.dice.pick(&agents) };
        lines.push(format!("assignee: ''\nagent: {agent}"));
        let pids = ["007", "1e3", "1.10", "0x1F", "true", "2024-05-06"];
        lines.push(format!(
            "shell_pid: {}",
            if self.here("numbers as values") { *self.dice.pick(&pids) } else { "'4242'" }
        ));
        if self.dice.one_in(2) {
            lines.push("review_status: ''\nreviewed_by: ''".to_owned());
        }
        if self.here("comments in front matter") {
            lines.insert(1, "# a comment of its own".to_owned());
        }
        if self.here("broken front matter") {
            lines.push(
                (*self.dice.pick(&["a: b: c", "- item", "x: [", "agent: second", "\tkey: tab", "words"])).to_owned(),
            );
        }
        if self.dice.one_in(2) {
            lines.push("history:\n- timestamp: '2026-01-29T10:30:00Z'\n  lane: planned\n  agent: system\n  action: Prompt generated".to_owned());
        }
        lines.join("\n") + "\n"
    }

    fn dependencies(&mut self, number: usize, count: usize) -> Option<String> {
        if self.here("no dependencies") {
            return None;
        }
        if self.here("odd dependencies") {
            let odd = [
                "dependencies: WP01",
                "dependencies: \"WP01, WP02\"",
                "dependencies:\n  - wp01",
                "dependencies: ~",
                "dependencies: [1]",
                "dependencies: \"['WP01']\"",
                "dependencies: {WP01: x}",
            ];
            return Some((*self.dice.pick(&odd)).to_owned());
        }
        if self.here("unknown dependencies") {
            return Some("dependencies:\n- WP08\n- WP01".to_owned());
        }
        if self.has("cycle") && number == 1 {
            return Some(format!("dependencies: [WP0{count}]"));
        }
        let before: Vec<String> =
            (1..number).filter(|_| self.dice.one_in(2)).map(|other| format!("WP0{other}")).collect();
        Some(if before.is_empty() {
            "dependencies: []".to_owned()
        } else if self.dice.one_in(2) {
            format!("dependencies: [{}]", before.join(", "))
        } else {
            format!("dependencies:\n- {}", before.join("\n- "))
        })
    }

    fn body(&mut self, number: usize, title: &str, lane: &str) -> String {
        let mut text = format!("# Work Package Prompt: WP0{number} – {title}\n\n");
        let review = "## Review Feedback\n\n*[This section is empty initially.]*\n\n---\n\n";
        let late = self.here("odd review");
        if !late {
            text += review;
        }
        text += "## Objectives\n\n- It works.\n\n### Details\n\nMore.\n\n";
        let entry = format!("- 2026-01-29T10:30:00Z – system – lane={lane} – Prompt created.\n");
        let odd = [
            "## Activity Log\n",
            "## Activity Log (newest last)\n\n- 2026-01-29T10:30:00Z - system - lane=planned - With hyphens.\n",
            "## Activity Log\n\n- 2026-01-29T10:30:00Z – a b – shell_pid=5 – lane=doing – Words\n\nText behind.\n\n### Sub\n\n## Next\n\nEnd.\n",
            "### Activity Log\n\nDeeper.\n",
            "See \"## Activity Log\" below.\n",
            "## Activity Log\n\n- x",
        ];
        if self.here("odd log") {
            text += *self.dice.pick(&odd);
        } else if !self.here("no log") {
            text += &format!("## Activity Log\n\n{entry}");
        }
        if self.here("two logs") {
            text += &format!("\n## Activity Log\n\n{entry}");
        }
        if late {
            text += &format!("\n{}", review.trim_end());
        }
        text
    }

    /// One deed, which may well be refused.
    fn deed(&mut self, slug: &str, count: usize) -> String {
        let number = if self.dice.one_in(12) { 9 } else { self.dice.between(1, count) };
        let agent = ["", " agent=claude", " agent=codex", " agent=Claude_Code"][self.dice.below(4)];
        let note = ["", "", " note=0", " note=1", " note=2", " note=3"][self.dice.below(6)];
        match self.dice.below(6) {
            0 => {
                let text = [" note=0", " note=1", " note=2", " note=3"][self.dice.below(4)];
                format!("history {slug} WP0{number}{agent}{text}")
            }
            1 => {
                let status = ["done", "pending"][self.dice.below(2)];
                let more = ["", " T999", " T011"][self.dice.below(3)];
                format!("mark {slug} {status} T0{number}0{more}")
            }
            _ => {
                let force = if self.dice.one_in(3) { " force" } else { "" };
                format!("move {slug} WP0{number} {}{agent}{note}{force}", self.dice.pick(&LANES))
            }
        }
    }
}
