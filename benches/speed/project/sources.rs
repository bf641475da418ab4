//! Source files in Rust and C around the annotations, TOML files for annotations without a source, the configuration.

use super::citations::Annotation;
use super::texts::{Text, wrap};
use super::words::{Dice, name};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How a language marks annotations, and what its files look like.
struct Language {
    extension: &'static str,
    folder: &'static str,
    meta: &'static str,
    content: &'static str,
    /// The default type of an annotation.
    usual: &'static str,
}

const RUST: Language =
    Language { extension: "rs", folder: "src", meta: "//=", content: "//#", usual: "implementation" };
const TESTS: Language = Language { extension: "rs", folder: "tests", meta: "//=", content: "//#", usual: "test" };
const C: Language = Language { extension: "c", folder: "native", meta: "*=", content: "*#", usual: "implementation" };

/// `.duvet/config.toml`.
pub fn configuration(texts: &[Text]) -> String {
    let mut text = "'$schema' = \"https://awslabs.github.io/duvet/config/v0.4.0.json\"\n".to_owned();
    for language in [RUST, TESTS, C] {
        let Language { extension, folder, meta, content, usual } = language;
        text += &format!("\n[[source]]\npattern = \"{folder}/**/*.{extension}\"\ntype = \"{usual}\"\n");
        text += &format!("comment-style = {{ meta = \"{meta}\", content = \"{content}\" }}\n");
    }
    for one in texts {
        text += &format!("\n[[specification]]\nsource = \"{}\"\n", one.address());
    }
    // A page for people is not part of what is compared.
    text + "\n[report.html]\nenabled = false\n"
}

/// Half of the exceptions and todos are in TOML files, one file for each section.
fn in_table(place: usize, annotation: &Annotation) -> bool {
    matches!(annotation.kind, "exception" | "todo") && place.is_multiple_of(2)
}

/// The TOML files: path and text.
pub fn tables(annotations: &[Annotation]) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for (number, annotation) in annotations.iter().enumerate() {
        if !in_table(number, annotation) {
            continue;
        }
        let file = files
            .entry(format!(".duvet/{}s/{}.toml", annotation.kind, annotation.place))
            .or_insert_with(|| format!("target = \"{}\"\n", annotation.target));
        let quote = wrap(annotation.quote.as_deref().unwrap_or_default(), "", "").join("\n");
        let Annotation { kind, reason, .. } = annotation;
        let rest = match *kind {
            "todo" => format!("feature = \"{}\"\ntracking-issue = \"{number}\"\n", name(number)),
            _ => format!("reason = \"{reason}\"\n"),
        };
        *file += &format!("\n[[{kind}]]\nquote = '''\n{quote}\n'''\n{rest}");
    }
    files
}

/// The source files: path and text. Every sixth is a test, every fifteenth is in C.
pub fn sources(dice: &mut Dice, annotations: &[Annotation], files: usize) -> Vec<(String, String)> {
    let language = |number: usize| match number {
        _ if number % 6 == 5 => &TESTS,
        _ if number % 15 == 3 => &C,
        _ => &RUST,
    };
    let mut of_file: Vec<Vec<&Annotation>> = vec![Vec::new(); files];
    for (number, annotation) in annotations.iter().enumerate() {
        if !in_table(number, annotation) {
            of_file[dice.below(files)].push(annotation);
        }
    }
    let file = |(number, cited): (usize, Vec<&Annotation>)| {
        let language = language(number);
        let path = format!("{}/{}/{}.{}", language.folder, name(number % 37), name(number), language.extension);
        (path, source(dice, language, &cited, number))
    };
    of_file.into_iter().enumerate().map(file).collect()
}

fn source(dice: &mut Dice, language: &Language, cited: &[&Annotation], number: usize) -> String {
    let mut text = format!("// The part {number} of a stack of protocols.\n\n");
    let functions = cited.len().max(3) + dice.below(5);
    for function in 0..functions {
        let own = name(number * 31 + function);
        let (open, close) = match language.extension {
            "c" => (format!("int {own}(struct frame *frame)"), "  return frame->length;\n"),
            _ => (format!("pub fn {own}(frame: &mut Frame) -> Result<usize, Error>"), "    Ok(frame.length)\n"),
        };
        let _ = writeln!(text, "/// What is done when the {own} comes: see `{}`.\n{open} {{", name(function));
        if let Some(annotation) = cited.get(function) {
            comment(dice, language, annotation, &mut text);
        }
        for line in 0..8 + dice.below(16) {
            let _ = match dice.below(6) {
                0 => writeln!(text, "    // {} comes before {}: so it is in the text", name(line), name(number)),
                1 => writeln!(text, "    if frame.{} == {} {{ return Err(Error::{own}); }}", name(line), line * 17),
                2 => writeln!(text),
                _ => writeln!(text, "    frame.{} = frame.{} + {};", name(line + 3), name(line + number), line * 3),
            };
        }
        let _ = writeln!(text, "{close}}}\n");
    }
    text
}

/// The annotation as a comment; half of the quotes are wrapped as in the text, the others are on one line.
fn comment(dice: &mut Dice, language: &Language, annotation: &Annotation, text: &mut String) {
    let Annotation { target, kind, quote, reason, .. } = annotation;
    let (open, close) = if language.extension == "c" { ("    /*\n", "     */\n") } else { ("", "") };
    text.push_str(open);
    let mut meta = |line: &str| {
        let _ = writeln!(text, "    {} {line}", language.meta);
    };
    meta(target);
    if *kind != language.usual {
        meta(&format!("type={kind}"));
    }
    match *kind {
        "exception" => meta(&format!("reason={reason}")),
        "todo" => meta("tracking-issue=12"),
        "spec" => meta("level=MUST"),
        _ => {}
    }
    let lines = match quote {
        Some(quote) if dice.chance(50) => wrap(quote, "", ""),
        Some(quote) => vec![quote.clone()],
        None => Vec::new(),
    };
    for line in lines {
        let _ = writeln!(text, "    {} {line}", language.content);
    }
    text.push_str(close);
}
