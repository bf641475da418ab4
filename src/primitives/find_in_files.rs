//! `find_in_files`: matches of a regular expression in files.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::pattern::Pattern;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, find, find_of, option, required};
use crate::value::{Kind, Text, Value};
use crate::world::{World, text};
use std::ops::ControlFlow;
use std::sync::OnceLock;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "find_in_files",
    family: Family::Files,
    summary: "Every match of `regex` in the files that match `globs`, in the order of files and places: `path`, `line` from 1, the matched `text`, and its `groups` by number and name. Files that are no UTF-8 are passed over.",
    params: &[
        find::GLOBS,
        required(
            "regex",
            &[Kind::Text],
            "The regular expression, in the syntax of the Rust crate `regex`; look-around and back references work too.",
        ),
        find::ROOT,
        find::SKIP,
        find::HIDDEN,
        find::IGNORE,
        find::FOLLOW,
        find::DEPTH,
        option("limit", &[Kind::Integer], "At most so many matches."),
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
        Example::fails(r#"find_in_files("*", "(")"#, r#"`("#),
    ],
    run,
};

/// More matches than this are refused: each is a map of a script.
const MOST: usize = 250_000;

/// How many files one job of a thread reads.
const SHARE: usize = 32;

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let limit = args.integer_or("limit").map_or(MOST + 1, |limit| usize::try_from(limit).unwrap_or(0));
    let regex = args.text("regex");
    Pattern::of(regex)?;
    let world = context.host.world().as_ref();
    let files = find_of(&args)?.files(world)?;
    let shares: Vec<&[String]> = files.chunks(SHARE).collect();
    let found: Vec<OnceLock<Result<Vec<Value>>>> = shares.iter().map(|_| OnceLock::new()).collect();
    context.functions.parallel(shares.len(), &|at| {
        // Each job runs once.
        let _first = found[at].set(search(world, shares[at], regex, limit));
    });
    let mut matches = Vec::new();
    for share in found {
        matches.append(&mut share.into_inner().unwrap_or_else(|| Ok(Vec::new()))?);
    }
    matches.truncate(limit);
    match matches.len() > MOST {
        true => Err(Diagnostic::new(Code::LIMIT, format!("`find_in_files` finds more than {MOST} matches"))
            .help("narrow the globs or the regular expression, or set `limit`")),
        false => Ok(Value::List(matches)),
    }
}

fn search(world: &dyn World, files: &[String], regex: &str, limit: usize) -> Result<Vec<Value>> {
    let pattern = Pattern::of(regex)?;
    let mut matches = Vec::new();
    for path in files {
        guard::check()?;
        let text = match text::read_text(world, path) {
            Ok(text) => text,
            Err(fault) if fault.code == Code::UTF8 => continue,
            Err(fault) => return Err(fault),
        };
        let (path, mut seen, mut line) = (Text::from(path.as_str()), 0, 1_usize);
        pattern.each(&text, |found| {
            if matches.len() >= limit {
                return Ok(ControlFlow::Break(()));
            }
            let span = found.span();
            line += memchr::memchr_iter(b'\n', &text.as_bytes()[seen..span.start]).count();
            seen = span.start;
            matches.push(Value::map([
                ("path", Value::Text(Text::clone(&path))),
                ("line", line.into()),
                ("text", text[span].into()),
                ("groups", Value::Map(pattern.groups(&text, &found))),
            ]));
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(matches)
}
