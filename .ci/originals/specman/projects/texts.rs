//! The texts of specifications.

use super::Maker;

impl Maker {
    /// A specification: headings, groups of constraints, and what a quirk puts between.
    pub fn specification(&mut self, name: &str) -> String {
        let mut text = String::new();
        if self.here("groups before headings") {
            text += "!early.rule:\n- MUST come first.\n\n";
        }
        text +=
            &format!("# Specification of {name}\n\nSee [water](../water/spec.md#concept-water).\n\n## Concepts\n\n");
        for at in 0..self.dice.between(1, 3) {
            text += &self.concept(name, at);
        }
        if self.here("duplicate headings") {
            text += "## Concepts\n\n### Concept: Heat\n\n### Concept: Heat\n\n!concept-heat.again:\n- MUST be hot.\n\n";
        }
        if self.here("duplicate groups") {
            text += "!concept-twice.rule:\n- One.\n\n!concept-twice.rule:\n- Two.\n\n";
        }
        if self.here("html comments") {
            text += "<!-- AI TODO: brew\n!concept-comment.rule:\n-->\n\n<!--\n# No heading\n-->\n\n";
        }
        text + "## Key Entities\n\n### Entity: Cup\n\n!entity-cup.form:\n\n- MUST be round.\n"
    }

    fn concept(&mut self, name: &str, at: usize) -> String {
        let titles = ["Heat", "Parsing & Slugs", "`Pot` **bold** [link](x.md)"];
        let odd = ["Thé vert", "煎茶", "Heat ##", "Closed ###", "A_b  C", "Straße", "İ", "-", "1. Tea"];
        let title = if self.here("odd headings") { *self.dice.pick(&odd) } else { titles[at] };
        let mut text = format!("### Concept: {title}\n\nWords about {name}.\n\n");
        for rule in 0..self.dice.between(0, 2) {
            let group = format!("concept-{}.{}", ["heat", "parsing-slugs", "pot"][at], ["rule", "rule.more"][rule]);
            let blank = if self.dice.one_in(2) { "\n" } else { "" };
            text += &format!("!{group}:\n{blank}- A {name} MUST be warm, see [heat](#concept-heat).\n  - and dry.\n\n");
            if self.dice.one_in(3) {
                text += "A paragraph of the group.\n\n";
            }
            if self.here("fenced examples") {
                text += "```text\n# not a heading\n!concept-fenced.rule:\n- not a group\n```\n\n~~~\n```\n!concept-fenced.other:\n~~~\n\n";
            }
            if self.here("indented fences") {
                text +=
                    "- item\n\n  ```\n  # not a heading\n  !concept-inner.rule:\n  ```\n\n ```\n# no heading\n```\n\n";
            }
        }
        if self.here("odd groups") {
            text += &self.odd_group();
        }
        if self.dice.one_in(3) {
            text += &format!("#### Sub heading {at}\n\nMore.\n\n");
        }
        text
    }

    fn odd_group(&mut self) -> String {
        let odd = [
            "  !concept-heat.indented:  ",
            "    !concept-heat.code:",
            "!Concept-Heat.Case:",
            "!single:",
            "!concept-heat.with space:",
            "!concept-heat.inline: text",
            "!concept..dots:",
            "!.concept.lead:",
            "!!concept-heat.double:",
            "!concept-heat.colons::",
            "!concept_heat.under_score:",
            "!thé.vert:",
            "- !concept-heat.item:",
            "> !concept-heat.quote:",
            "!concept-heat.a.b.c.d:",
            "!1.2:",
            "\\!concept-heat.escaped:",
            "!concept-heat.tab:\t",
            "!-.-:",
        ];
        format!("Before.\n{}\n- MUST do.\n\n", self.dice.pick(&odd))
    }
}
