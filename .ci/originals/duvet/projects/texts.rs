//! The texts of specifications: markdown and the form of the IETF, with sentences that can be cited.

use super::Maker;

const SUBJECTS: [&str; 8] = ["kettle", "pot", "saucer", "cup", "leaf", "water", "strainer", "tray"];
const UNUSUAL: [&str; 5] = ["thé vert", "Straße", "煎茶", "🫖 pot", "İstanbul çayı"];
const DEEDS: [&str; 8] = ["pour", "steep", "boil", "cool", "stir", "be warmed", "be rinsed", "keep the heat"];
const WORDS: [&str; 12] = [
    "MUST",
    "MUST",
    "MUST NOT",
    "SHALL",
    "SHALL NOT",
    "SHOULD",
    "SHOULD NOT",
    "MAY",
    "is REQUIRED to",
    "is RECOMMENDED to",
    "is NOT RECOMMENDED to",
    "can",
];
/// Headings of markdown, and the names that they give to their sections.
const HEADINGS: [(&str, &str); 6] = [
    ("Brewing", "brewing"),
    ("Pouring a cup", "pouring-a-cup"),
    ("4.1 Pots & cups", "4-1-pots-cups"),
    ("Cleaning: how_to", "cleaning-how-to"),
    ("Serving", "serving"),
    ("After", "after"),
];
/// The same, less usual.
const ODD_HEADINGS: [(&str, &str); 6] = [
    ("Thé vert", "the-vert"),
    ("Heat {#warmth}", "warmth"),
    ("See `pot.pour()` & [links](https://example.org)", "see-pot-pour-links-https-example-org"),
    ("煎茶", "jian-cha"),
    ("Brewing", "brewing-1"),
    ("Steeping ##", "steeping"),
];

/// A section of a text, and what it says.
pub struct Section {
    pub id: String,
    pub sentences: Vec<String>,
}

/// A specification.
pub struct Text {
    pub target: String,
    pub is_markdown: bool,
    pub is_configured: bool,
    pub sections: Vec<Section>,
}

impl Maker {
    pub fn sentence(&mut self) -> String {
        self.sentences += 1;
        let subject = self.subject();
        let (word, deed, number) = (*self.dice.pick(&WORDS), *self.dice.pick(&DEEDS), self.sentences);
        if self.has("odd sentences") && self.dice.one_in(2) {
            let other = *self.dice.pick(&DEEDS);
            return match self.dice.below(9) {
                0 => format!("If it is cold (e.g. at night), pot {number} {word} {deed}."),
                1 => format!("Version 1.{number} of the {subject} {word} {deed}."),
                2 => format!("The word \"{word}\" of line {number} is explained elsewhere."),
                3 => format!("The {subject} {word} {deed} {number} times! It MAY rest; then it MUST {other}."),
                4 => format!("A {subject} MAY {deed}, but {word} {other} within {number} minutes."),
                5 => format!("MUST the {subject} {deed} {number} times?"),
                6 => format!("The  {subject}\t{word} {deed}  {number} times."),
                7 => format!("{subject}.{number} {word} {deed}, cf. section {number}.2 of it."),
                _ => format!("The {subject} {word}: {deed} ({number}), \"{other}\" or `x.y{number}`."),
            };
        }
        match self.dice.below(3) {
            0 => format!("The {subject} {word} {deed} within {number} minutes."),
            1 => format!("In round {number}, a {subject} {word} {deed}."),
            _ => format!("A {subject} that is number {number} {word} {deed}."),
        }
    }

    fn subject(&mut self) -> &'static str {
        let is_unusual = self.has("unicode") && self.dice.one_in(2);
        let subjects: &[&str] = if is_unusual { &UNUSUAL } else { &SUBJECTS };
        self.dice.pick::<&str>(subjects)
    }

    fn sentences_of_section(&mut self) -> Vec<String> {
        let mut found: Vec<String> = (0..self.dice.between(1, 4)).map(|_| self.sentence()).collect();
        if self.has("same sentence twice") && self.dice.one_in(2) {
            found.push(found[0].clone());
        }
        if self.has("a full stop before unicode") && self.dice.one_in(3) {
            found.push(format!("The pot .é{} MUST steep.", self.sentences));
        }
        found
    }

    /// The sentences as paragraphs, lists and the like.
    fn body(&mut self, sentences: &[String], indent: &str) -> String {
        let mut text = String::new();
        let is_list = self.has("lists") && self.dice.one_in(2);
        if is_list {
            text += &format!("{indent}The following holds:\n\n");
        }
        for sentence in sentences {
            let width = if self.has("long lines") || self.dice.one_in(3) { 500 } else { 56 };
            if is_list {
                let (mark, hang) = *self.dice.pick(&[("- ", "  "), ("* ", "  "), ("1. ", "   "), ("  - ", "    ")]);
                text += &wrapped(sentence, &format!("{indent}{mark}"), &format!("{indent}{hang}"), width);
                continue;
            }
            let form = if self.has("markup") { self.dice.below(7) } else { 9 };
            text += &match form {
                0 => format!("{indent}```\n{indent}{sentence}\n{indent}# No heading\n{indent}```\n"),
                1 => format!("{indent}<!-- {sentence} -->\n"),
                2 => format!("{indent}| what | how |\n{indent}|---|---|\n{indent}| 1 | {sentence} |\n"),
                3 => wrapped(sentence, &format!("{indent}> "), &format!("{indent}> "), width),
                _ => wrapped(sentence, indent, indent, width),
            };
            if self.dice.one_in(2) {
                text += "\n";
            }
        }
        text + "\n"
    }

    pub fn markdown(&mut self, sections: &mut Vec<Section>) -> String {
        let mut text = String::new();
        if self.has("text before the heading") {
            text += "[//]: # (Nothing MUST stand here.)\n\nIt MUST NOT count.\n\n";
        }
        text += "# Tea of the house\n\nWhat this is about.\n\n";
        let mut headings = HEADINGS.to_vec();
        headings.truncate(self.dice.between(1, HEADINGS.len()));
        if self.has("odd headings") {
            headings.extend(&ODD_HEADINGS[..self.dice.between(1, ODD_HEADINGS.len())]);
        }
        for (heading, id) in headings {
            let marks = *self.dice.pick(&["##", "##", "###", "######"]);
            let is_setext = self.has("odd headings") && self.dice.one_in(3);
            text += &if is_setext { format!("{heading}\n-------\n\n") } else { format!("{marks} {heading}\n\n") };
            let is_empty = self.has("empty sections") && self.dice.one_in(3);
            let sentences = if is_empty { Vec::new() } else { self.sentences_of_section() };
            text += &self.body(&sentences, "");
            sections.push(Section { id: id.to_owned(), sentences });
        }
        text
    }

    pub fn ietf(&mut self, number: usize, sections: &mut Vec<Section>) -> String {
        let mut text = format!(
            "\n\n\n\nTea Working Group{:>50}\nRequest for Comments: {number}{:>44}\n\n\n                 Hyper Text Tea Pots\n\n",
            "A. Brewer", "April 1998"
        );
        text += "Status of This Memo\n\n   This memo MUST be read.\n\nAbstract\n\n   This is about pots.\n\n";
        text +=
            "Table of Contents\n\n   1.  Introduction . . . . . . . . . 2\n   2.  Brewing ................... 3\n\n";
        let mut numbers: Vec<(&str, &str)> =
            vec![("1.  Introduction", "section-1"), ("2.  Brewing", "section-2"), ("2.1.  Heat", "section-2.1")];
        if self.dice.one_in(2) {
            numbers.extend([("2.1.1.  Water: hot", "section-2.1.1"), ("3.  Pouring", "section-3")]);
        }
        if self.has("odd headings") {
            numbers.push(("4 Serving", "section-4"));
            numbers.push(*self.dice.pick(&[("5.\tTabs", "section-5"), ("4.1:  Colons", "section-4.1")]));
        }
        if self.dice.one_in(2) {
            numbers.extend([("Appendix A.  Leaves", "appendix-A"), ("A.1.  Green leaves", "appendix-A.1")]);
        }
        for (heading, id) in numbers {
            let sentences = self.sentences_of_section();
            text += &format!("{heading}\n\n{}", self.body(&sentences, "   "));
            if self.has("pages") && self.dice.one_in(2) {
                text = text.trim_end().to_owned();
                text += "\n\n\n\nBrewer                       Informational                      [Page 2]\n\u{c}\n";
                text += &format!("RFC {number}                    Tea Pots                     April 1998\n\n\n");
            }
            if self.has("odd lines") && self.dice.one_in(2) {
                text += "   1.  Indented MUST be no heading.\n\n10.  Too far\n\n   | 2.2 | MAY |\n\n";
            }
            sections.push(Section { id: id.to_owned(), sentences });
        }
        text + "Author's Address\n\n   A. Brewer MAY be written to.\n"
    }
}

fn wrapped(text: &str, first: &str, next: &str, width: usize) -> String {
    let mut lines = vec![first.to_owned()];
    let mut is_empty = true;
    for word in text.split(' ') {
        let line = lines.last_mut().map_or(0, |line| line.chars().count());
        if !is_empty && line + word.len() > width {
            lines.push(next.to_owned());
            is_empty = true;
        }
        if let Some(line) = lines.last_mut() {
            *line += if is_empty { "" } else { " " };
            *line += word;
        }
        is_empty = false;
    }
    lines.join("\n") + "\n"
}
