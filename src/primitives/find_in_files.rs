//! `find_in_files`: matches of a regular expression in files.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::pattern::Pattern;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, parameters};
use crate::value::{Kind, Text, Value};
use crate::world::glob::FileSearch;
use crate::world::{World, read_text};
use std::ops::ControlFlow;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "find_in_files",
    family: Family::Files,
    summary: "Returns all matches of `regex` in the files that match `globs`, in the order of files and positions, as `#{ path, line, text, groups }`: `line` counted from 1, `groups` by number and name. In a line that ends with `\\r\\n`, the `\\r` is not searched unless `regex` mentions it. Files that are not UTF-8 are skipped. Fails with the path of any other file that cannot be searched, such as one that is too large, unless `include_errors` is set.",
    params: &[
        parameters::GLOBS,
        parameters::REGEX,
        parameters::ROOT,
        parameters::EXCLUDE,
        parameters::HIDDEN,
        parameters::IGNORE,
        parameters::FOLLOW,
        parameters::MAX_DEPTH,
        option("limit", &[Kind::Integer], "Maximum number of matches."),
        option(
            "include_errors",
            &[Kind::Bool],
            "Whether a file that cannot be searched to its end becomes an item `#{ path, error }` after its matches, while the search continues with the other files.",
        ),
    ],
    returns: Kind::List,
    effect: Effect::Reads,
    examples: &[
        Example::gives(
            r#"find_in_files("**/*.md", "t(?<rest>w|h).*").map(|m| [m.path, m.line, m.text, m.groups.rest])"#,
            r#"[["docs/b.md", 1, "two", "w"]]"#,
        )
        .with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
        Example::gives(
            r#"find_in_files("**", "o", #{ ignore: false, limit: 2 }).map(|m| m.path)"#,
            r#"["a.md", "docs/b.md"]"#,
        )
        .with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
        Example::gives(
            r#"find_in_files("*", "(?m)t(.*)$").map(|m| [m.line, m.text, m.groups["1"]])"#,
            r#"[[1, "tea", "ea"], [2, "two", "wo"]]"#,
        )
        .with(&[("a.md", "tea\r\ntwo\r\n")]),
        Example::gives(r#"find_in_files("*", "a\\r").len()"#, "1").with(&[("a.md", "tea\r\n")]),
        Example::gives(
            r#"find_in_files("*", "^(?:(a|a|aa)+)+\\1$|tea", #{ include_errors: true }).map(|m| [m.path, m.error == (), m.text])"#,
            r#"[["a.md", false, null], ["b.md", true, "tea"]]"#,
        )
        .with(ENDLESS),
        Example::fails(r#"find_in_files("*", "^(?:(a|a|aa)+)+\\1$|tea")"#, "`a.md`: the regular expression gave up")
            .with(ENDLESS),
        Example::fails(r#"find_in_files("*", "(")"#, r#"`("#),
    ],
    run,
};

/// A text on which a pattern with back references never finishes.
const ENDLESS: &[(&str, &str)] = &[("a.md", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), ("b.md", "tea")];

/// Maximum number of matches: each is a map of a script.
const MAX_MATCHES: usize = 250_000;

/// Number of files that one job of a thread reads.
const FILES_PER_JOB: usize = 32;

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let limit = args.integer_or("limit").map_or(MAX_MATCHES + 1, |limit| usize::try_from(limit).unwrap_or(0));
    let pattern = Pattern::compile_cached(args.text("regex"))?;
    let world = context.host.world().as_ref();
    let files = parameters::find_asked(context, &args, FileSearch::files)?;
    let tells = args.flag("include_errors");
    let search = Search { world, pattern: &pattern, limit, tells, foreign: Mutex::default() };
    let shares: Vec<&[String]> = files.chunks(FILES_PER_JOB).collect();
    let found: Vec<OnceLock<Result<Vec<Value>>>> = shares.iter().map(|_| OnceLock::new()).collect();
    context.functions.parallel(shares.len(), &|at| {
        // Each job runs once.
        let _first = found[at].set(search.all(shares[at]));
    });
    let foreign = std::mem::take(&mut *search.foreign.lock().unwrap_or_else(PoisonError::into_inner));
    foreign_notice(foreign).into_iter().for_each(|notice| context.host.tell_in_result(&notice));
    let mut matches = Vec::new();
    for share in found {
        matches.append(&mut share.into_inner().unwrap_or_else(|| Ok(Vec::new()))?);
    }
    matches.truncate(limit);
    match matches.len() > MAX_MATCHES {
        true => Err(Diagnostic::new(Code::LIMIT, format!("`find_in_files` finds more than {MAX_MATCHES} matches"))
            .author_help("narrow the globs or the regular expression, or set `limit`")),
        false => Ok(Value::List(matches)),
    }
}

/// A search, and how it reports errors.
struct Search<'a> {
    world: &'a dyn World,
    pattern: &'a Pattern,
    limit: usize,
    /// Whether a file that cannot be searched is reported among the matches.
    tells: bool,
    /// The texts in other encodings, which were not searched.
    foreign: Mutex<Vec<String>>,
}

/// Whether a file that is not UTF-8 is a text in another encoding, and not data: it has the mark of UTF-16 or no zero
/// byte, by which `grep` tells them apart.
fn is_foreign_text(world: &dyn World, path: &str) -> bool {
    world.read(path).is_ok_and(|bytes| {
        let head = &bytes[..bytes.len().min(8 << 10)];
        [[0xff, 0xfe], [0xfe, 0xff]].iter().any(|mark| head.starts_with(mark)) || !head.contains(&0)
    })
}

/// What the result says of texts that were not searched.
fn foreign_notice(mut paths: Vec<String>) -> Option<String> {
    paths.sort_unstable();
    let named: Vec<String> = paths.iter().take(3).map(|path| format!("`{path}`")).collect();
    let more = if paths.len() > named.len() { ", …" } else { "" };
    let plural = if paths.len() == 1 { " is" } else { "s are" };
    let count = paths.len();
    (count > 0).then(|| format!("{count} file{plural} not UTF-8, so not searched: {}{more}", named.join(", ")))
}

impl Search<'_> {
    fn all(&self, files: &[String]) -> Result<Vec<Value>> {
        let mut matches = Vec::new();
        for path in files {
            guard::check()?;
            let searched = read_text(self.world, path)
                .and_then(|text| self.one(path, &self.with_line_feeds(text), &mut matches));
            match searched {
                Err(error) if error.code != Code::UTF8 => {
                    //= docs/spec.md#primitives
                    //# `find_in_files` MUST name a file that it cannot search, and MUST search the others if
                    //# this is requested.
                    // What stops the call is not an error of the file.
                    guard::check_stopped()?;
                    let error = of_file(path, error);
                    if !self.tells {
                        return Err(error);
                    }
                    matches.push(Value::map([("path", path.as_str().into()), ("error", error.message.into())]));
                }
                Err(_) if is_foreign_text(self.world, path) => {
                    self.foreign.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
                }
                _ => {}
            }
        }
        Ok(matches)
    }

    /// The text with each `\r\n` as `\n`: `.` matches `\r`, but a match in a line should not end with it.
    fn with_line_feeds(&self, text: String) -> String {
        let pattern = self.pattern.text();
        let names_it = pattern.contains('\r') || pattern.contains(r"\r") || pattern.contains(r"\x0");
        if names_it || !text.contains("\r\n") { text } else { text.replace("\r\n", "\n") }
    }

    fn one(&self, path: &str, text: &str, matches: &mut Vec<Value>) -> Result<()> {
        let (path, mut seen, mut line) = (Text::from(path), 0, 1_usize);
        self.pattern.each(text, |found| {
            if matches.len() >= self.limit {
                return Ok(ControlFlow::Break(()));
            }
            let span = found.span();
            line += memchr::memchr_iter(b'\n', &text.as_bytes()[seen..span.start]).count();
            seen = span.start;
            matches.push(Value::map([
                ("path", Value::Text(Text::clone(&path))),
                ("line", line.into()),
                ("text", text[span].into()),
                ("groups", Value::Map(self.pattern.groups(text, &found))),
            ]));
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// The error with the path of the file, and how to continue without it.
fn of_file(path: &str, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    if !error.message.contains(path) {
        error.message = format!("`{path}`: {}", error.message);
    }
    let own = error.help.take().map_or_else(String::new, |help| format!("{help}; "));
    error.author_help(format!("{own}`exclude` skips the file, `include_errors: true` reports it and searches the others"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Files;
    use crate::guard::{CancelFlag, Guard, Limits};
    use crate::world::memory::MemoryWorld;

    //= docs/spec.md#primitives
    //= type=test
    //# `find_in_files` MUST name a file that it cannot search, and MUST search the others if this is
    //# requested.
    #[test]
    fn a_file_that_cannot_be_searched_is_named_and_the_others_are_searched() {
        let [(_, endless), _] = ENDLESS else { panic!("it has two files") };
        let world = MemoryWorld::with([("a.md", "tea"), ("b.md", *endless), ("d.md", "tea")]).expect("they can be");
        world.write("c.md", b"\xff").expect("it can be");
        let files = ["a.md", "b.md", "c.md", "d.md", "e.md"].map(str::to_owned);
        let pattern = Pattern::compile_cached(r"^(?:(a|a|aa)+)+\1$|tea").expect("valid");
        let search = |tells| Search { world: &world, pattern: &pattern, limit: 9, tells, foreign: Mutex::default() }.all(&files);
        let error = search(false).expect_err("one search does not end");
        assert!(error.message.starts_with("`b.md`: the regular expression gave up"), "{error}");
        assert!(error.help.is_some_and(|help| help.contains("; `exclude` skips the file")));
        let reported = Value::List(search(true).expect("they are reported")).to_json();
        let paths: Vec<_> = reported.as_array().expect("a list").iter().map(|one| &one["path"]).collect();
        assert_eq!(paths, ["a.md", "b.md", "d.md", "e.md"]);
        assert!(reported[0]["error"].is_null() && reported[2]["line"] == 1, "{reported}");
        assert_eq!(reported[3]["error"], "there is no file `e.md`");
        let guard = Guard::new(Limits::default(), CancelFlag::default());
        let _entered = guard.enter();
        guard.exceeded("it is over".to_owned(), "time_ms");
        assert_eq!(search(true).expect_err("it is over").message, "it is over");
    }
}
