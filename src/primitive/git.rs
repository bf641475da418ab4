//! How git is run: which subcommands and options, and what it is kept from.

mod ground;

use super::{Args, Context, Param, option, required};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Kind, Value};
use crate::world::granted::GRANT_ROOT;
use crate::world::run::{Command, Confinement, Needs, Ran};
use crate::world::{World, path};
use serde_json::json;
use std::time::Duration;

/// The parameter `args` of both primitives.
pub const ARGS: Param = required("args", &[Kind::Text, Kind::List], "The subcommand and its options.");

/// The parameter `folder` of both primitives.
pub const FOLDER: Param =
    option("folder", &[Kind::Text], "The folder it runs in; the root of the workspace if it is left out.");

/// The parameter `refs` of both primitives.
pub const REFS: Param = option(
    "refs",
    &[Kind::Text, Kind::List],
    "Names of commits, branches and the like, from data: one that begins with `-` is a fault.",
);

/// The parameter `paths` of both primitives.
pub const PATHS: Param = option("paths", &[Kind::Text, Kind::List], "Paths, taken literally; they come after `--`.");

/// The parameter `check` of both primitives.
pub const CHECK: Param =
    option("check", &[Kind::Bool], "Whether another exit code than 0 is a fault; `true` if it is left out.");

/// How many bytes git may print.
const MOST: usize = 32 << 20;

/// Before every subcommand: no hook, no watcher, no pager, no network, no program that the repository names.
const ALWAYS: [&str; 19] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.quotePath=false",
    "color.ui=false",
    "commit.gpgSign=false",
    "credential.helper=",
    // The work trees of submodules have a configuration of their own, which nobody has looked at.
    "diff.ignoreSubmodules=dirty",
    "submodule.recurse=false",
    "gc.auto=0",
    "gpg.openpgp.program=false",
    "gpg.program=false",
    "gpg.ssh.defaultKeyCommand=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "log.showSignature=false",
    "maintenance.auto=false",
    "tag.gpgSign=false",
];

/// The network, whatever the protocol.
const NO_PROTOCOL: [&str; 2] = ["protocol.allow=never", "protocol.ext.allow=never"];

const WALK: &str = "--all --author --boundary --branches --cherry-pick --count --date-order --first-parent --grep \
    --left-only --left-right --max-count --merges --no-merges --parents --reverse --right-only --since --skip --tags \
    --topo-order --until --ancestry-path -n";
const DIFF: &str = "--abbrev --abbrev-commit --binary --cached --check --date --diff-filter --exit-code --find-renames \
    --follow --format --full-index --ignore-all-space --merge-base --name-only --name-status --no-abbrev --no-color \
    --no-patch --no-renames --numstat --oneline --patch --pretty --quiet --raw --shortstat --staged --stat --unified \
    -M -U -p -s -w -z -1";
const CONFIG: &str =
    "--bool --default --get --get-all --get-regexp --int --list --local --name-only --null --show-scope --type -z";

/// The subcommands that change nothing, and the options with which they change nothing.
const READING: [(&str, &[&str]); 18] = [
    ("branch", &["--all --contains --format --list --merged --no-merged --remotes --show-current --sort -a -r"]),
    ("cat-file", &["-e -p -s -t"]),
    ("check-ignore", &["--no-index --non-matching --quiet --verbose -n -q -v -z"]),
    ("config", &[CONFIG]),
    ("describe", &["--abbrev --all --always --contains --dirty --exact-match --long --match --tags"]),
    ("diff", &[DIFF]),
    ("diff-tree", &[DIFF, "--root --no-commit-id -r -t"]),
    ("for-each-ref", &["--contains --count --format --merged --no-merged --points-at --sort"]),
    ("log", &[WALK, DIFF]),
    (
        "ls-files",
        &["--cached --deleted --directory --eol --error-unmatch --exclude-standard --full-name --ignored --modified \
           --others --stage --unmerged -c -d -m -o -s -u -z"],
    ),
    ("ls-tree", &["--full-name --full-tree --long --name-only -d -l -r -t -z"]),
    ("merge-base", &["--all --fork-point --independent --is-ancestor --octopus"]),
    (
        "rev-parse",
        &["--abbrev-ref --absolute-git-dir --git-common-dir --git-dir --git-path --is-bare-repository \
           --is-inside-work-tree --path-format --quiet --short --show-prefix --show-toplevel --symbolic-full-name \
           --verify -q"],
    ),
    ("rev-list", &[WALK, "--objects --no-object-names"]),
    ("show", &[DIFF]),
    (
        "status",
        &["--branch --ignore-submodules --ignored --no-renames --porcelain --renames --short --untracked-files -b -s \
           -u -uall -uno -unormal -z"],
    ),
    ("symbolic-ref", &["--quiet --short -q"]),
    ("worktree", &["--porcelain -z"]),
];

/// The subcommands that change the repository and its files, and nothing else.
const CHANGING: &str = "add am apply branch checkout cherry-pick clean commit commit-tree hash-object init merge mktree \
    mv notes read-tree rebase reset restore revert rm sparse-checkout stash switch symbolic-ref tag update-index \
    update-ref worktree write-tree";

/// Options that start programs or write elsewhere. Git takes abbreviations: so does this list.
const NEVER: &str = "--exec --ext-diff --git-dir --gpg-sign --output --receive-pack --recurse-submodules \
    --separate-git-dir --template --textconv --upload-pack --work-tree --file --strategy --edit-description --no-index \
    --unsafe-paths --pathspec-from-file";

/// Runs git for a primitive whose parameters are `args`, `folder`, `refs`, `paths`, `check` and, if it changes
/// something, `index` and `input`.
pub fn run(context: &Context<'_>, args: &Args, needs: Needs) -> Result<Value> {
    let world = context.host.world();
    let folder = args.text_or("folder").unwrap_or(".").to_owned();
    let words = args.texts("args")?;
    let refs = args.texts_or("refs")?.unwrap_or_default();
    let paths = args.texts_or("paths")?;
    accept(&words, &refs, args.primitive_name(), needs)?;
    let mut arguments = vec!["--no-pager".to_owned(), "--literal-pathspecs".to_owned()];
    for setting in ALWAYS.iter().chain(&NO_PROTOCOL) {
        arguments.extend(["-c".to_owned(), (*setting).to_owned()]);
    }
    let subcommand = words[0].clone();
    arguments.push(subcommand.clone());
    if matches!(subcommand.as_str(), "diff" | "log" | "show" | "diff-tree") {
        arguments.extend(["--no-ext-diff".to_owned(), "--no-textconv".to_owned()]);
    }
    arguments.extend(words[1..].iter().cloned());
    if matches!(subcommand.as_str(), "status" | "diff") {
        arguments.push("--ignore-submodules=dirty".to_owned());
    }
    arguments.extend(refs);
    let outside = reaches_out(&**world, &folder, &words, paths.as_deref().unwrap_or_default());
    if let Some(outside) = outside {
        let message = format!("`git {}` may not reach `{outside}`", words.join(" "));
        return Err(Diagnostic::new(Code::WORLD, message).help(GRANT_ROOT));
    }
    if let Some(paths) = paths {
        arguments.push("--".to_owned());
        arguments.extend(paths);
    }
    if needs == Needs::WriteGit {
        stays_inside(&**world, &folder, &words)?;
    }
    let mut command = Command {
        program: "git".to_owned(),
        arguments,
        folder,
        input: if args.has_option("input") { args.bytes("input").to_vec() } else { Vec::new() },
        env: variables(needs),
        time: Duration::from_secs(86_400),
        most: MOST,
        needs,
        confinement: Confinement::default(),
        stop: guard::check,
    };
    command.env.extend(ground::stand(&**world, &command)?);
    if args.has_option("index")
        && let Some(index) = args.text_or("index")
    {
        command.env.push(("GIT_INDEX_FILE".to_owned(), own_index(&**world, &command, index)?));
    }
    let ran = world.run(&command)?;
    let shown = Command { arguments: words, ..command };
    ended(&shown, ran, Code("git"), args.value("check").is_null() || args.flag("check"))
}

/// How a program ended, as a map. Another exit code than 0 is a fault of this code, if it is checked.
pub fn ended(command: &Command, ran: Ran, code: Code, checks: bool) -> Result<Value> {
    let errors = String::from_utf8_lossy(&ran.errors).into_owned();
    if checks && ran.code != 0 {
        let first = errors.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let message = format!("`{}` ended with {}: {first}", command.line(), ran.code);
        let help = match errors.split('\'').find(|part| part.ends_with(".lock")).filter(|_| errors.contains("exists")) {
            Some(lock) => format!("another git is at work here, or one was ended: if none runs, remove `{lock}`"),
            None => "`check: false` gives the code instead".to_owned(),
        };
        return Err(Diagnostic::new(code, message.trim_end_matches(": "))
            .data(json!({ "code": ran.code, "errors": errors }))
            .help(help));
    }
    let Ok(text) = String::from_utf8(ran.output) else {
        return Err(Diagnostic::new(Code::UTF8, format!("`{}` prints what is no UTF-8", command.line())));
    };
    let line = text.lines().next().unwrap_or_default().to_owned();
    Ok(Value::map([
        ("code", Value::Integer(ran.code)),
        ("text", text.into()),
        ("line", line.into()),
        ("errors", errors.into()),
    ]))
}

fn variables(needs: Needs) -> Vec<(String, String)> {
    let mut variables = vec![
        ("GIT_ASKPASS", "false"),
        ("GIT_EDITOR", ":"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_SEQUENCE_EDITOR", ":"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("LC_ALL", "C"),
    ];
    if needs == Needs::ReadGit {
        variables.push(("GIT_OPTIONAL_LOCKS", "0"));
    }
    variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

//= docs/spec.md#writes
//# Git MUST be run with known subcommands and options only, without hooks, and without the network.
fn accept(words: &[String], refs: &[String], verb: &str, needs: Needs) -> Result<()> {
    let refused = |message: String| Diagnostic::new(Code::ARGUMENTS, message);
    let Some(subcommand) = words.first() else {
        return Err(refused(format!("`{verb}` needs a subcommand")).help("such as `[\"status\", \"--porcelain\"]`"));
    };
    if let Some(bad) = refs.iter().find(|name| name.starts_with('-') || name.is_empty()) {
        return Err(refused(format!("`{bad}` is no name of a branch or commit")));
    }
    if words.iter().chain(refs).any(|word| word.contains('\0')) {
        return Err(refused(format!("an argument of `{verb}` contains a NUL")));
    }
    let reading = READING.iter().find(|(name, _)| name == subcommand);
    let options: Vec<&str> = words[1..].iter().take_while(|word| *word != "--").map(String::as_str).collect();
    let options = options.into_iter().filter(|word| word.starts_with('-') && *word != "-");
    if needs == Needs::WriteGit && listed(CHANGING, subcommand) {
        for option in options {
            let name = option.split('=').next().unwrap_or(option);
            let hit = |never: &&str| name.len() > 2 && (never.starts_with(name) || name == *never);
            let runs = subcommand == "rebase" && option.starts_with("-x") || reads_file(words, option);
            if name.starts_with("--") && NEVER.split_whitespace().any(|never| hit(&never)) || runs {
                return Err(refused(format!("`{verb}` does not take `{option}`")));
            }
        }
        return Ok(());
    }
    let Some((_, allowed)) = reading else {
        let known = READING.map(|(name, _)| name).join(", ");
        let more = if needs == Needs::WriteGit { format!("; {CHANGING}") } else { String::new() };
        return Err(refused(format!("`{verb}` does not run `git {subcommand}`")).help(format!("it runs {known}{more}")));
    };
    for option in options {
        if !allowed.iter().any(|list| allows(list, option)) {
            return Err(refused(format!("`{verb}` does not take `{option}` for `git {subcommand}`"))
                .help(format!("it takes {}", allowed.join(" "))));
        }
    }
    only_looks(subcommand, words, refs).then_some(()).ok_or_else(|| {
        refused(format!("`git {}` could change something", words.join(" "))).help("`git` runs what changes something")
    })
}

/// `-F FILE` reads a message from anywhere; `-F -` from what the script gives.
fn reads_file(words: &[String], option: &str) -> bool {
    let takes = matches!(words[0].as_str(), "commit" | "tag" | "merge" | "notes" | "commit-tree");
    let next = || words.iter().skip_while(|word| *word != option).nth(1).is_some_and(|next| next == "-");
    takes && option.starts_with("-F") && option != "-F-" && !(option == "-F" && next())
}

fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

fn allows(list: &str, option: &str) -> bool {
    let name = option.split('=').next().unwrap_or(option);
    // `-n5`, `-U3`, `-M90`, `-12`: a letter or nothing, and a number.
    let short = option.strip_prefix('-').filter(|rest| !rest.starts_with('-')).is_some_and(|rest| {
        let letters = rest.trim_end_matches(|c: char| c.is_ascii_digit() || c == '%');
        letters.len() < rest.len() && (letters.is_empty() || listed(list, &format!("-{letters}")))
    });
    listed(list, name) || short
}

/// Some subcommands look or change, as their arguments say.
fn only_looks(subcommand: &str, words: &[String], refs: &[String]) -> bool {
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.split('=').next().unwrap_or(word)));
    let plain = words[1..].iter().filter(|word| !word.starts_with('-')).count() + refs.len();
    match subcommand {
        "branch" => has(&["--show-current", "--list"]),
        "config" => has(&["--get", "--get-all", "--get-regexp", "--list"]) || plain == 1,
        "symbolic-ref" => plain == 1,
        "worktree" => words.get(1).is_some_and(|word| word == "list"),
        _ => true,
    }
}

//= docs/spec.md#writes
//# Git MUST NOT read a file outside of the granted roots.
/// The first path outside of the roots among the arguments: git itself would read it.
fn reaches_out<'a>(world: &dyn World, folder: &str, words: &'a [String], paths: &'a [String]) -> Option<&'a str> {
    let looks_so = |word: &&String| {
        path::is_absolute(word)
            || word.starts_with("../")
            || word.starts_with("~/")
            || word.contains("/../")
            || *word == ".."
    };
    // The others refuse what lies outside of the work tree, or have words that are patterns and messages.
    let opens = matches!(words[0].as_str(), "diff" | "hash-object" | "apply" | "am");
    let words = words[1..].iter().filter(|word| opens && !word.starts_with('-')).filter(looks_so);
    words.chain(paths).map(String::as_str).find(|given| !ground::is_inside(world, &path::join(folder, given)))
}

/// Other working trees and new repositories lie where the pack may write.
fn stays_inside(world: &dyn World, folder: &str, words: &[String]) -> Result<()> {
    if !matches!(words[0].as_str(), "worktree" | "init") {
        return Ok(());
    }
    // Which word is the path hangs on the options: whatever could lead outside is looked at.
    let branch = |at: usize| matches!(words[at - 1].as_str(), "-b" | "-B" | "--initial-branch");
    for (at, word) in words.iter().enumerate().skip(1) {
        if word.starts_with('-') || branch(at) || !word.contains(['/', '.', '~']) {
            continue;
        }
        world.may_write(&path::join(&path::join(folder, word), "file"))?;
    }
    Ok(())
}

/// The file of an index of the call's own, beside that of the user.
fn own_index(world: &dyn World, command: &Command, name: &str) -> Result<String> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 40 || !name.chars().all(good) {
        return Err(Diagnostic::new(Code::ARGUMENTS, format!("`{name}` is no name of an index"))
            .help("letters, digits, `-` and `_`"));
    }
    let arguments = vec!["rev-parse".to_owned(), "--absolute-git-dir".to_owned()];
    let asked = Command { arguments, input: Vec::new(), ..command.clone() };
    let ran = world.run(&asked)?;
    let folder = String::from_utf8_lossy(&ran.output).trim_end().to_owned();
    if ran.code != 0 || folder.is_empty() {
        let message = format!("`{}` is no repository", command.folder);
        return Err(Diagnostic::new(Code("git"), message));
    }
    Ok(path::join(&folder, &format!("toolsd-{name}.index")))
}
