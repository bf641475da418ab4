//! Whatever a script passes, git gets options of the table and no others.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use super::arguments::build_arguments;
use super::verb::{GitVerb, OptionKind};
use super::{read_verbs, write_verbs};
use crate::diagnostic::Code;
use crate::value::{Map, Value};
use proptest::prelude::*;

fn every() -> Vec<&'static GitVerb> {
    read_verbs().chain(write_verbs()).collect()
}

/// The option that git gets before the value.
fn word(kind: OptionKind) -> Option<&'static str> {
    match kind {
        OptionKind::Flag(word) | OptionKind::Number(word) | OptionKind::Text(word) | OptionKind::OneOf(word, _) => {
            Some(word)
        }
        OptionKind::Ref(word) | OptionKind::Refs(word) => Some(word).filter(|word| !word.is_empty()),
        OptionKind::Message => Some("-F"),
        OptionKind::Files => Some("--stdin-paths"),
        _ => None,
    }
}

/// Whether the value of an option is a word of its own.
fn stands_apart(kind: OptionKind) -> bool {
    let is_joined = |word: &str| word.is_empty() || word.ends_with('=');
    matches!(kind, OptionKind::Text(word) | OptionKind::Ref(word) | OptionKind::Refs(word) if !is_joined(word))
}

/// Options of git that start programs, read other files or write elsewhere.
const NEVER: [&str; 25] = [
    "exec",
    "ext-diff",
    "git-dir",
    "gpg-sign",
    "output",
    "receive-pack",
    "recurse-submodules",
    "separate-git-dir",
    "template",
    "textconv",
    "upload-pack",
    "work-tree",
    "file",
    "strategy",
    "edit",
    "no-index",
    "unsafe-paths",
    "pathspec-from-file",
    "interactive",
    "signoff-by",
    "contents",
    "config",
    "exclude-from",
    "reuse-message",
    "stdin",
];

#[test]
fn the_table_is_sound() {
    for verb in every() {
        for option in verb.options() {
            assert!(option.doc.ends_with('.'), "{} {}", verb.name, option.name);
            let named = word(option.kind).unwrap_or_default();
            let name = named.trim_start_matches('-').trim_end_matches('=');
            // toolsd writes what it reads there.
            let is_given = matches!(option.kind, OptionKind::Message | OptionKind::Files);
            assert!(!NEVER.contains(&name) || is_given, "{} {named}", verb.name);
            // A value is part of the word, or the next word of an option that always takes one.
            let apart = is_given || stands_apart(option.kind) || matches!(option.kind, OptionKind::Flag(_));
            let is_joined = apart || named.is_empty() || named.ends_with('=') || ["--", "-"].contains(&named);
            assert!(is_joined, "{} {named}", verb.name);
        }
        let names: Vec<&str> = verb.options().map(|option| option.name).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name) && !matches!(*name, "cwd" | "check"), "{} {name}", verb.name);
        }
    }
    let names: Vec<&str> = every().iter().map(|verb| verb.name).collect();
    let shared: Vec<&&str> =
        names.iter().filter(|name| names.iter().filter(|other| other == name).count() > 1).collect();
    assert!(shared.is_empty(), "{shared:?}");
}

//= docs/spec.md#git
//= type=test
//# Git MUST be available only through the `git` grant, with the verbs and options of one table, and no name
//# that begins with `-`.
#[test]
fn no_other_option_is_taken() {
    let forms: [fn(&str) -> String; 5] = [
        str::to_owned,
        |name| format!("--{name}"),
        |name| format!("-{}", &name[..1]),
        |name| name.to_uppercase(),
        |name| name[..name.len() - 1].to_owned(),
    ];
    for verb in every() {
        let own: Vec<&str> = verb.options().map(|option| option.name).collect();
        for name in NEVER.iter().chain(&own) {
            for form in forms {
                let (name, value) = (form(name), Value::Bool(true));
                if own.contains(&name.as_str()) || ["cwd", "check"].contains(&name.as_str()) {
                    continue;
                }
                let error = build_arguments(verb, &Map::from_iter([(name.as_str().into(), value)])).unwrap_err();
                assert_eq!(error.code, Code::ARGUMENTS);
                assert!(
                    error.message.contains(&format!("has no option \"{name}\"")),
                    "{}: {}",
                    verb.name,
                    error.message
                );
            }
        }
    }
    let error = super::find_verb("comit", crate::world::run::RequiredGrant::WriteGit).err().unwrap();
    assert!(error.help.unwrap().contains("`commit`"));
}

/// Every option of every verb that takes a name, with what git would take for an option.
#[test]
fn no_name_begins_as_an_option_does() {
    let mut asked = 0;
    for verb in every() {
        for option in verb.options() {
            let is_name = matches!(
                option.kind,
                OptionKind::Ref(_) | OptionKind::Refs(_) | OptionKind::FullRef | OptionKind::Path
            );
            let names = ["-", "-x", "--", "--all", "--output=x", "-D", "\n-x"];
            for name in names.iter().filter(|_| is_name) {
                let options = Map::from_iter([(option.name.into(), Value::from(*name))]);
                let error = build_arguments(verb, &options).unwrap_err();
                assert!(error.message.contains("is not a name"), "{} {}: {}", verb.name, option.name, error.message);
                asked += 1;
            }
            // Paths may begin so: they are after `--`, or in what git reads.
            if option.kind == OptionKind::Paths {
                assert!(
                    verb.ends_names || verb.options().any(|one| one.is_required && one.kind == OptionKind::Ref(""))
                );
            }
        }
    }
    assert!(asked > 200, "{asked}");
}

#[test]
fn lists_of_hooks_name_verbs() {
    let all = every();
    let mut named = super::notices::HOOKS.iter().flat_map(|(_, verbs)| verbs.split(' '));
    assert_eq!(named.find(|name| !all.iter().any(|verb| verb.name == *name)), None);
}

proptest! {
    #[test]
    fn whatever_is_given_becomes_no_option(text in "(-{0,2}[a-z]{0,8}[= ]?|[ -~\\n\\x00]{0,12}|--output=x|-F|-x)", at in any::<prop::sample::Index>()) {
        let all = every();
        let verb = all[at.index(all.len())];
        for given in verb.options() {
            let value = |kind: OptionKind| match kind {
                OptionKind::Flag(_) => Value::Bool(true),
                OptionKind::Number(_) => Value::Integer(1),
                OptionKind::OneOf(_, known) => known[0].into(),
                OptionKind::FullRef => "HEAD".into(),
                _ => "a".into(),
            };
            let needed = verb.options().filter(|option| option.is_required);
            let mut options: Map = needed.map(|option| (option.name.into(), value(option.kind))).collect();
            options.insert(given.name.into(), text.as_str().into());
            let Ok(said) = build_arguments(verb, &options) else { continue };
            for name in &said.names {
                prop_assert!(!name.starts_with('-') && !name.is_empty() && !name.contains(['\n', '\0']));
            }
            let mut words = said.words.iter().skip(verb.words.len());
            while let Some(said) = words.next() {
                let option = verb.options().find(|option| word(option.kind).is_some_and(|word| said.starts_with(word)));
                let is_message = said == "-F";
                prop_assert!(option.is_some(), "{} {said}", verb.name);
                // The value of these is the next word, whatever it is.
                let takes_next = |option: &super::verb::GitOption| stands_apart(option.kind) && word(option.kind) == Some(said);
                if is_message || verb.options().any(takes_next) {
                    let value = words.next();
                    prop_assert!(value.is_some() && (!is_message || value.unwrap() == "-"));
                }
                prop_assert!(!said.contains('\0'));
            }
        }
    }
}
