//! Sections, requirements and quotes of a real project, against what another program found in it.
//!
//! `TOOLSD_SYSTEMS` names the directory that contains `duvet/corpus` and `duvet/golden`.

use crate::support::systems;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use toolsd::document::{
    AnchorStyle, Document, Keywords, MarkdownOptions, Passage, QuoteTolerance, Sections, Spans, TitleStyle,
    keyword_sentences, parse_markdown, parse_rfc,
};

const LEVELS: [&str; 3] = ["MUST", "SHOULD", "MAY"];

fn keywords() -> Keywords {
    let words = |words: &str| words.split(", ").map(str::to_owned).collect();
    Keywords {
        levels: vec![
            words("MUST, MUST NOT, SHALL, SHALL NOT, REQUIRED"),
            words("SHOULD, SHOULD NOT, RECOMMENDED, NOT RECOMMENDED"),
            words("MAY, OPTIONAL"),
        ],
        definitions: words("\""),
    }
}

/// The file of a specification: a path of the project, or its copy in the download folder.
fn file_of(project: &Path, target: &str) -> PathBuf {
    match target.split_once("://") {
        Some((_, rest)) => {
            let rest = rest.strip_suffix(".html").or(rest.strip_suffix(".txt")).unwrap_or(rest);
            let folder = project.join(".duvet/specifications");
            let written = folder.join(format!("{rest}.txt"));
            let name = rest.rsplit('/').next().unwrap();
            if written.exists() { written } else { folder.join(format!("www.rfc-editor.org/rfc/{name}.txt")) }
        }
        None => project.join(target),
    }
}

fn read(project: &Path, target: &str, format: &str) -> Sections {
    let document = Document::new(target, fs::read_to_string(file_of(project, target)).unwrap());
    match format {
        "markdown" => parse_markdown(
            &document,
            MarkdownOptions { anchor: AnchorStyle::Ascii, title: TitleStyle::Source, attributes: true },
        )
        .unwrap(),
        _ => parse_rfc(&document).unwrap(),
    }
}

/// A line of the report: its text, and which annotations cover which part of it.
fn pieces(line: &Json) -> Vec<(Vec<usize>, String)> {
    match line {
        Json::String(text) => vec![(Vec::new(), text.clone())],
        pieces => pieces.as_array().unwrap().iter().map(piece).collect(),
    }
}

fn piece(piece: &Json) -> (Vec<usize>, String) {
    match piece {
        Json::String(text) => (Vec::new(), text.clone()),
        piece => {
            let ids = piece[0].as_array().unwrap().iter().map(|id| usize::try_from(id.as_u64().unwrap()).unwrap());
            (ids.collect(), piece[2].as_str().unwrap().to_owned())
        }
    }
}

/// Compares ids, titles and lines of all sections.
fn same_sections(target: &str, found: &Sections, expected: &Json) {
    let found: Vec<(String, String, Vec<String>)> = found
        .sections
        .iter()
        .map(|one| (one.id.clone(), one.title.clone(), one.lines.texts().map(str::to_owned).collect()))
        .collect();
    let sections = expected["sections"].as_array().unwrap();
    let text = |line: &Json| pieces(line).into_iter().map(|(_, text)| text).collect::<String>();
    let expected: Vec<(String, String, Vec<String>)> = sections
        .iter()
        .map(|one| {
            let lines = one["lines"].as_array().unwrap().iter().map(text).collect();
            (one["id"].as_str().unwrap().to_owned(), one["title"].as_str().unwrap_or_default().to_owned(), lines)
        })
        .collect();
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected, "in {target}");
    }
    assert_eq!(found.len(), expected.len(), "the sections of {target}");
}

/// Annotation by annotation: what it covers, without white space, in the order of the text.
fn covered(section: &Json) -> BTreeMap<usize, String> {
    let mut covered: BTreeMap<usize, String> = BTreeMap::new();
    for (ids, text) in section["lines"].as_array().unwrap().iter().flat_map(pieces) {
        for id in ids {
            covered.entry(id).or_default().extend(text.chars().filter(|letter| !letter.is_whitespace()));
        }
    }
    covered
}

/// What spans cover, without white space, and without lines of which they cover one byte only: the other
/// program loses those.
fn ink_of(passage: &Passage, spans: &Spans) -> String {
    let mut lines: BTreeMap<Option<usize>, Vec<(usize, char)>> = BTreeMap::new();
    for range in spans.ranges() {
        for (at, letter) in passage.text()[range.clone()].char_indices() {
            lines.entry(passage.line_at(range.start + at)).or_default().push((at, letter));
        }
    }
    let inked = lines.into_values().map(|line| line.into_iter().map(|(_, letter)| letter).collect::<String>());
    let kept = inked.filter(|line| line.trim_end().len() > 1);
    kept.collect::<String>().chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// The quote of an annotation, read from its source, by its line.
fn quote_of(project: &Path, annotation: &Json) -> Option<String> {
    let path = project.join(annotation["source"].as_str().unwrap());
    let line = usize::try_from(annotation["line"].as_u64().unwrap()).unwrap();
    if annotation["source"].as_str().unwrap().ends_with(".toml") {
        let text = fs::read_to_string(path).ok()?;
        let from = text.lines().skip(line).collect::<Vec<_>>().join("\n");
        let quote = from.split("'''").nth(1).unwrap_or_default();
        return Some(quote.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "));
    }
    let document = Document::new("a.rs", fs::read_to_string(path).ok()?);
    let (meta, content) = if path_is_python(annotation) { ("##=", "##%") } else { ("//=", "//#") };
    let markers = [meta.to_owned(), content.to_owned()];
    let blocks = toolsd::document::marker_blocks(&document, &markers, &[0]).unwrap();
    let block = blocks.iter().find(|block| block.line() == line)?;
    let parts = block.parts.iter().filter(|part| part.marker == 1 && !part.text.is_empty());
    Some(parts.map(|part| part.text).collect::<Vec<_>>().join(" "))
}

fn path_is_python(annotation: &Json) -> bool {
    annotation["source"].as_str().unwrap().ends_with(".py")
}

/// Compares one project with its report. Returns how many sections, requirements and quotes were the same, the quotes
/// by the way that found them.
fn compare(project: &Path, report: &Json) -> (usize, usize, BTreeMap<&'static str, usize>) {
    let annotations = report["annotations"].as_array().unwrap();
    let (mut sections, mut requirements, mut ways) = (0, 0, BTreeMap::new());
    for (target, expected) in report["specifications"].as_object().unwrap() {
        let found = read(project, target, expected["format"].as_str().unwrap());
        same_sections(target, &found, expected);
        sections += found.sections.len();
        for (section, expected) in found.sections.iter().zip(expected["sections"].as_array().unwrap()) {
            let passage = Passage::from_lines(&section.lines);
            let covered = covered(expected);
            let of_section = |annotation: &&Json| {
                annotation["target_path"] == **target && annotation["target_section"] == *section.id
            };
            let specs = annotations.iter().filter(of_section).filter(|one| one["type"] == "SPEC" && is_extracted(one));
            let expected: Vec<(String, String)> = specs
                .map(|one| {
                    (one["comment"].as_str().unwrap().trim_end().to_owned(), one["level"].as_str().unwrap().to_owned())
                })
                .collect();
            if !expected.is_empty() {
                let texts: Vec<(String, String)> = keyword_sentences(&section.lines, &keywords())
                    .unwrap()
                    .into_iter()
                    .map(|sentence| (sentence.text, LEVELS[sentence.level].to_owned()))
                    .collect();
                assert_eq!(texts, expected, "requirements of {target}#{}", section.id);
                requirements += texts.len();
            }
            for (id, expected) in covered {
                let annotation = &annotations[id];
                let comment = annotation["comment"].as_str().filter(|_| annotation["type"] == "SPEC");
                let quote = comment.map(str::to_owned);
                let Some(quote) = quote.or_else(|| quote_of(project, annotation)) else { continue };
                let found = passage.find_quote(&quote, &QuoteTolerance::ALL).expect("nothing stops it");
                let Some(found) = found else { panic!("no place of {quote:?} in {target}#{}", section.id) };
                assert_eq!(ink_of(&passage, &found.spans), expected, "{annotation} in {target}#{}", section.id);
                *ways.entry(found.tolerance.name()).or_default() += usize::from(annotation["type"] != "SPEC");
            }
        }
    }
    (sections, requirements, ways)
}

/// Whether the other program extracted it: the file is where it writes them.
fn is_extracted(annotation: &Json) -> bool {
    annotation["source"].as_str().unwrap().starts_with(".duvet/requirements/")
}

#[test]
#[ignore = "real projects: `just corpora`"]
fn the_corpus_is_read_as_the_other_program_reads_it() {
    let corpus = systems("duvet");
    let report = fs::read_to_string(corpus.join("golden/small/report.json")).unwrap();
    let report: Json = serde_json::from_str(&report).unwrap();
    let (sections, requirements, ways) = compare(&corpus.join("corpus"), &report);
    eprintln!("{sections} sections, {requirements} requirements, quotes {ways:?}");
    assert_eq!((sections, requirements), (608, 352));
}

#[test]
#[ignore = "real projects: `just corpora`"]
fn the_edge_cases_are_read_as_the_other_program_reads_them() {
    let corpus = systems("duvet");
    let mut seen = BTreeSet::new();
    for case in fs::read_dir(corpus.join("golden/edge")).unwrap() {
        let case = case.unwrap().path();
        let Ok(report) = fs::read_to_string(case.join("report.json")) else { continue };
        let report: Json = serde_json::from_str(&report).unwrap();
        let counts = compare(&case.join("project"), &report);
        eprintln!("{}: {counts:?}", case.display());
        seen.insert(case);
    }
    assert!(!seen.is_empty());
}
