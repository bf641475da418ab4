//! Texts like RFCs: front matter, a table of contents, numbered sections, pages of 58 lines.

use super::words::{Dice, name, sentence, title};

/// Columns of a line.
const WIDTH: usize = 72;
/// Lines of a page, without its header and footer.
const PAGE: usize = 54;

/// A sentence that can be quoted.
pub struct Sentence {
    /// The id of its section, as `section-2.1`.
    pub section: String,
    /// Its text.
    pub text: String,
    /// Whether it has a keyword of RFC 2119.
    pub normative: bool,
}

/// A specification.
pub struct Text {
    number: usize,
    title: String,
    sections: Vec<Section>,
}

struct Section {
    number: String,
    title: String,
    paragraphs: Vec<Paragraph>,
}

struct Paragraph {
    bullet: bool,
    sentences: Vec<Sentence>,
}

impl Text {
    /// Creates one; `number` counts from 1.
    pub fn make(dice: &mut Dice, number: usize, sections: usize) -> Text {
        let mut things = number * 1000;
        let sections = (0..sections)
            .map(|place| {
                let number = match place % 4 {
                    0 => format!("{}", place / 4 + 1),
                    below => format!("{}.{below}", place / 4 + 1),
                };
                let paragraphs = (0..3 + dice.below(3)).map(|_| paragraph(dice, &number, &mut things)).collect();
                Section { number, title: title(dice), paragraphs }
            })
            .collect();
        Text { number: 90_000 + number, title: title(dice), sections }
    }

    /// The address by which it is cited.
    pub fn address(&self) -> String {
        format!("https://www.rfc-editor.org/rfc/rfc{}", self.number)
    }

    /// Its short name.
    pub fn short(&self) -> String {
        format!("rfc{}", self.number)
    }

    /// The path of its copy.
    pub fn path(&self) -> String {
        format!(".duvet/specifications/www.rfc-editor.org/rfc/rfc{}.txt", self.number)
    }

    /// All its sentences, in order.
    pub fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        self.sections.iter().flat_map(|section| &section.paragraphs).flat_map(|paragraph| &paragraph.sentences)
    }

    /// How many of them are normative.
    pub fn requirements(&self) -> usize {
        self.sentences().filter(|sentence| sentence.normative).count()
    }

    /// The whole text, in pages.
    pub fn layout(&self) -> String {
        let mut pages = Pages::new(self);
        pages.block(&["Network Working Group                                        E. Writer".to_owned()]);
        pages.block(&[format!("Request for Comments: {}                              November 2026", self.number)]);
        pages.block(&[format!("{:>40}", self.title)]);
        pages.block(&["Abstract".to_owned()]);
        pages.block(&wrap(&format!("This document specifies {}.", self.title), "   ", "   "));
        pages.block(&["Table of Contents".to_owned()]);
        let entry = |section: &Section| format!("   {}.  {} {} 1", section.number, section.title, ". ".repeat(12));
        for entries in self.sections.chunks(12) {
            pages.block(&entries.iter().map(entry).collect::<Vec<_>>());
        }
        for section in &self.sections {
            pages.block(&[format!("{}.  {}", section.number, section.title)]);
            for paragraph in &section.paragraphs {
                let sentences: Vec<&str> = paragraph.sentences.iter().map(|one| one.text.as_str()).collect();
                let (first, rest) = if paragraph.bullet { ("   *  ", "      ") } else { ("   ", "   ") };
                pages.block(&wrap(&sentences.join(" "), first, rest));
            }
        }
        pages.end()
    }
}

fn paragraph(dice: &mut Dice, section: &str, things: &mut usize) -> Paragraph {
    let bullet = dice.chance(15);
    let count = if bullet { 1 } else { 2 + dice.below(4) };
    let sentences = (0..count)
        .map(|_| {
            *things += 1;
            let normative = dice.chance(14);
            Sentence { section: format!("section-{section}"), text: sentence(dice, *things, normative), normative }
        })
        .collect();
    Paragraph { bullet, sentences }
}

/// Lines of at most `WIDTH` columns; the first begins with `first`, the others with `rest`.
pub fn wrap(text: &str, first: &str, rest: &str) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.len() + word.len() >= WIDTH && line.trim() != "" {
            lines.push(format!("{rest}{word}"));
        } else {
            if line.len() > first.len().max(rest.len()) {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Blocks of lines put on pages; a block stays together.
struct Pages {
    header: String,
    lines: Vec<String>,
    used: usize,
    page: usize,
}

impl Pages {
    fn new(text: &Text) -> Pages {
        let header = format!("RFC {}  {:>30}  {:>24}", text.number, name(text.number), "November 2026");
        Pages { header, lines: Vec::new(), used: 0, page: 1 }
    }

    fn block(&mut self, lines: &[String]) {
        if self.used + lines.len() + 1 > PAGE {
            self.footer();
            self.lines.extend(["\u{c}".to_owned(), self.header.clone(), String::new()]);
            self.used = 0;
            self.page += 1;
        }
        self.lines.extend_from_slice(lines);
        self.lines.push(String::new());
        self.used += lines.len() + 1;
    }

    fn footer(&mut self) {
        self.lines.push(format!("{:<62}[Page {}]", "Writer                       Standards Track", self.page));
    }

    fn end(mut self) -> String {
        self.footer();
        self.lines.join("\n") + "\n"
    }
}
