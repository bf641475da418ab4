//! Renders changes: as lines for people, as JSON, as SARIF for code hosts, and as Markdown for a comment on a change.

use super::change::{Change, Verdict};
use super::version::VERSION_STEP;
use crate::diagnostic::{Code, Diagnostic, Severity, fenced, printable, printable_lines, render};
use crate::value::Json;
use serde_json::json;
use similar::{ChangeTag, TextDiff};

/// Texts of more bytes than this are shown one after the other, without a diff.
const MAX_DIFF_BYTES: usize = 64 << 10;

/// The worst verdict, whether anything widens, and how many changes there are.
fn summary(changes: &[Change]) -> String {
    let worst = changes.iter().map(|change| change.verdict).max().unwrap_or(Verdict::None).word();
    let widens = if changes.iter().any(|change| change.widens) { ", widens" } else { "" };
    let count = match changes.len() {
        0 => "no changes".to_owned(),
        1 => "1 change".to_owned(),
        count => format!("{count} changes"),
    };
    format!("{worst}{widens} ({count})")
}

fn flags(change: &Change) -> String {
    format!("{}{}", change.verdict.word(), if change.widens { ", widens" } else { "" })
}

/// Renders one line for each change, the texts of a change indented below it.
pub fn text(changes: &[Change]) -> String {
    let mut shown = format!("verdict: {}\n", summary(changes));
    for change in changes {
        let Change { pack, what, kind, message, .. } = change;
        let line = format!("{pack}: {what}: {message} [{kind}]");
        shown.push_str(&format!("{}: {}\n", flags(change), printable(&line)));
        for line in word_diff(change).iter().flat_map(|diff| diff.lines()) {
            shown.push_str(&format!("    {line}\n"));
        }
    }
    shown
}

/// The difference of the texts of a change by words: removed words in `[-…-]`, new ones in `{+…+}`.
fn word_diff(change: &Change) -> Option<String> {
    let (before, after) = (change.before.as_deref(), change.after.as_deref());
    before.or(after)?;
    let [before, after] = [before, after].map(|text| printable_lines(text.unwrap_or("")));
    let mut parts: Vec<(ChangeTag, String)> = Vec::new();
    let mut add = |tag, text: &str| match parts.last_mut() {
        Some((last, known)) if *last == tag => known.push_str(text),
        _ if text.is_empty() => {}
        _ => parts.push((tag, text.to_owned())),
    };
    if before.len().max(after.len()) > MAX_DIFF_BYTES {
        add(ChangeTag::Delete, &before);
        add(ChangeTag::Insert, &after);
    } else {
        let diff = TextDiff::from_words(&before, &after);
        diff.iter_all_changes().for_each(|part| add(part.tag(), part.value()));
    }
    let marked = parts.into_iter().map(|(tag, text)| match tag {
        ChangeTag::Equal => text,
        ChangeTag::Delete => format!("[-{text}-]"),
        ChangeTag::Insert => format!("{{+{text}+}}"),
    });
    Some(marked.collect())
}

/// Renders changes as JSON with a stable shape.
pub fn json(changes: &[Change]) -> Json {
    json!({
        "format": 1,
        "verdict": changes.iter().map(|change| change.verdict).max().unwrap_or(Verdict::None),
        "widens": changes.iter().any(|change| change.widens),
        "changes": changes,
    })
}

/// Renders changes as a SARIF log with one run. It omits what asks for no attention: a code host shows each result.
pub fn sarif(changes: &[Change]) -> Json {
    let needs_attention = |change: &&Change| {
        change.widens || change.kind == VERSION_STEP || matches!(change.verdict, Verdict::Breaking | Verdict::Wording)
    };
    let of_change = |change: &Change| {
        let message = format!("{}: {}: {}: {}", flags(change), change.pack, change.what, change.message);
        let is_error = change.verdict == Verdict::Breaking || change.kind == VERSION_STEP;
        Diagnostic {
            severity: if is_error { Severity::Error } else { Severity::Warning },
            ..*Diagnostic::new(Code(change.kind), message)
        }
    };
    render::sarif(&changes.iter().filter(needs_attention).map(of_change).collect::<Vec<_>>())
}

/// Renders changes as Markdown: the worst verdict first, a table, and the texts that models read in a folded block.
pub fn markdown(changes: &[Change]) -> String {
    let mut shown = format!("**Verdict: {}**\n", summary(changes));
    if !changes.is_empty() {
        shown.push_str("\n| verdict | pack | what | change |\n|---|---|---|---|\n");
    }
    for change in changes {
        let [pack, what, message] = [&change.pack, &change.what, &change.message].map(|text| cell(text));
        shown.push_str(&format!("| {} | {pack} | {what} | {message} |\n", flags(change)));
    }
    let texts: Vec<(&Change, String)> =
        changes.iter().filter_map(|change| Some((change, word_diff(change)?))).collect();
    if !texts.is_empty() {
        shown.push_str(&format!("\n<details>\n<summary>Texts that models read: {}</summary>\n", texts.len()));
        for (change, diff) in texts {
            let (pack, what, diff) = (cell(&change.pack), cell(&change.what), fenced(diff.trim_end_matches('\n')));
            shown.push_str(&format!("\n{pack}: {what}\n\n{diff}"));
        }
        shown.push_str("\n</details>\n");
    }
    shown
}

/// A text of a pack in a cell: it cannot end the cell, begin markup, or notify a person.
fn cell(text: &str) -> String {
    let mut shown = String::new();
    for letter in printable(text).chars() {
        match letter {
            '<' => shown.push_str("&lt;"),
            '&' => shown.push_str("&amp;"),
            '@' => shown.push_str("&#64;"),
            '|' | '[' | ']' | '*' | '_' | '\\' | '`' | '!' | '#' => shown.extend(['\\', letter]),
            ':' => shown.push_str("&#58;"),
            letter => shown.push(letter),
        }
    }
    shown.replace("&#58; ", ": ")
}
