//! Every setting of git that is known, against git as it is: the same comes out, or the answer names it.

use crate::answers::{changed, copied_repository, plain, questions, state, template};
use crate::support;
use crate::yard::Yard;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use toolsd::primitive::git::{read_verbs, write_verbs};
use toolsd::world::repository::{HonoredFrom, KNOWN_SETTINGS};

/// A setting, its value, what is so before by git, the verb that it matters for, and its options.
type Row = (&'static str, &'static str, &'static [&'static str], &'static str, &'static str);

const NOTHING: &[&str] = &[];
const PATCH: &[&str] = &["fetch -q near", "!printf 'one\\nTWO\\nthree\\n' > a.txt"];
const CLASH: &[&str] = &["checkout -q -b clash v1", "!printf 'one\\nclash\\n' > a.txt", "commit -qam clash"];

const ROWS: &[Row] = &[
    (
        "apply.whitespace",
        "error",
        NOTHING,
        "apply",
        r#"{ "patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-one\n+uno \n line two\n three\n" }"#,
    ),
    (
        "apply.ignoreWhitespace",
        "change",
        NOTHING,
        "apply",
        r#"{ "patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-one\n+uno\n line  two\n three\n" }"#,
    ),
    ("author.name", "Somebody", NOTHING, "commit", r#"{ "message": "x", "allow_empty": true }"#),
    ("author.email", "s@example.org", NOTHING, "commit", r#"{ "message": "x", "allow_empty": true }"#),
    ("committer.name", "Somebody", NOTHING, "commit", r#"{ "message": "x", "allow_empty": true }"#),
    ("committer.email", "s@example.org", NOTHING, "merge", r#"{ "ref": "side", "no_ff": true }"#),
    ("user.name", "Somebody", NOTHING, "commit", r#"{ "message": "x", "allow_empty": true }"#),
    ("user.email", "s@example.org", NOTHING, "revert", r#"{ "refs": "HEAD~1" }"#),
    ("revert.reference", "true", NOTHING, "revert", r#"{ "refs": "HEAD~1" }"#),
    ("blame.blankBoundary", "true", NOTHING, "blame", r#"{ "paths": "a.txt" }"#),
    ("blame.date", "short", NOTHING, "blame", r#"{ "paths": "a.txt" }"#),
    ("blame.showEmail", "true", NOTHING, "blame", r#"{ "paths": "a.txt" }"#),
    ("blame.showRoot", "true", NOTHING, "blame", r#"{ "paths": "a.txt" }"#),
    (
        "branch.main.mergeOptions",
        "--no-ff",
        &["branch ahead", "reset -q --hard HEAD~1"],
        "merge",
        r#"{ "ref": "ahead" }"#,
    ),
    ("branch.sort", "-refname", NOTHING, "branches", "{}"),
    ("tag.sort", "-refname", &["tag v2"], "tags", "{}"),
    ("versionsort.suffix", "-rc", &["tag w1", "tag w1-rc"], "tags", r#"{ "sort": "version:refname" }"#),
    (
        "commit.cleanup",
        "verbatim",
        NOTHING,
        "commit",
        r##"{ "message": "said\n\n\n\nmore\n\n\n", "allow_empty": true }"##,
    ),
    (
        "core.commentChar",
        ";",
        &["config commit.cleanup strip"],
        "commit",
        r#"{ "message": "said\n\n;more\n", "allow_empty": true }"#,
    ),
    ("core.abbrev", "20", NOTHING, "log", r#"{ "oneline": true }"#),
    ("core.autocrlf", "true", &["!rm a.txt"], "restore", r#"{ "paths": "a.txt" }"#),
    ("core.eol", "crlf", &["!echo '*.txt text' > .gitattributes", "!rm a.txt"], "restore", r#"{ "paths": "a.txt" }"#),
    (
        "core.safecrlf",
        "true",
        &["!echo '*.txt text' > .gitattributes", "!printf 'a\\r\\n' > w.txt"],
        "add",
        r#"{ "paths": "w.txt" }"#,
    ),
    ("core.notesRef", "refs/notes/mine", NOTHING, "notes_add", r#"{ "message": "x" }"#),
    ("core.fileMode", "false", &["config --unset core.fileMode", "!chmod +x a.txt"], "add", r#"{ "paths": "a.txt" }"#),
    (
        "core.whitespace",
        "tab-in-indent",
        &["!printf 'one\\n\\ttwo\\nthree\\n' > a.txt"],
        "diff",
        r#"{ "check_whitespace": true }"#,
    ),
    ("core.attributesFile", "~/attributes", &["!rm a.txt"], "restore", r#"{ "paths": "a.txt" }"#),
    ("core.excludesFile", "~/excludes", &["!touch x.swp"], "status", r#"{ "porcelain": "v1" }"#),
    ("core.hooksPath", "~/hooks", NOTHING, "commit", r#"{ "message": "x", "allow_empty": true }"#),
    ("diff.context", "0", PATCH, "diff", "{}"),
    ("diff.noprefix", "true", PATCH, "diff", "{}"),
    ("diff.mnemonicPrefix", "true", PATCH, "diff", "{}"),
    ("diff.srcPrefix", "x/", PATCH, "diff", "{}"),
    ("diff.dstPrefix", "x/", PATCH, "show", r#"{ "refs": "HEAD~2" }"#),
    ("diff.relative", "true", PATCH, "diff", r#"{ "folder": "deep", "refs": ["v1", "main"] }"#),
    ("diff.renames", "false", NOTHING, "show", r#"{ "refs": "HEAD~2", "name_status": true }"#),
    ("diff.algorithm", "patience", NOTHING, "log", "{}"),
    ("diff.statGraphWidth", "1", NOTHING, "log", r#"{ "stat": true }"#),
    (
        "diff.suppressBlankEmpty",
        "true",
        &["!printf 'one\\n\\nthree\\n' > a.txt", "commit -qam blank", "!printf 'one\\n\\nfour\\n' > a.txt"],
        "diff",
        "{}",
    ),
    ("diff.external", "~/mark", PATCH, "diff", "{}"),
    ("diff.orderFile", "~/order", &["!echo x >> a.txt", "!echo x >> b.txt"], "diff", "{}"),
    ("diff.up.textconv", "tr a-z A-Z <", &["!echo 'a.txt diff=up' > .gitattributes", "!echo x >> a.txt"], "diff", "{}"),
    (
        "filter.up.clean",
        "tr a-z A-Z",
        &["!echo 'a.txt filter=up' > .gitattributes", "!echo x >> a.txt"],
        "add",
        r#"{ "paths": "a.txt" }"#,
    ),
    (
        "filter.up.smudge",
        "tr a-z A-Z",
        &["!echo 'a.txt filter=up' > .gitattributes", "!rm a.txt"],
        "restore",
        r#"{ "paths": "a.txt" }"#,
    ),
    ("fetch.prune", "true", &["update-ref refs/remotes/near/gone HEAD"], "fetch", r#"{ "remote": "near" }"#),
    ("remote.near.prune", "true", &["update-ref refs/remotes/near/gone HEAD"], "fetch", r#"{ "remote": "near" }"#),
    ("remote.near.tagOpt", "--no-tags", &["tag -d v1"], "fetch", r#"{ "remote": "near" }"#),
    ("url.other:.insteadOf", ".git/", NOTHING, "remotes", "{}"),
    ("format.pretty", "oneline", NOTHING, "log", "{}"),
    ("grep.lineNumber", "true", NOTHING, "grep", r#"{ "pattern": "line" }"#),
    ("grep.column", "true", NOTHING, "grep", r#"{ "pattern": "line" }"#),
    ("grep.fullName", "true", NOTHING, "grep", r#"{ "pattern": "line", "folder": "deep" }"#),
    ("grep.patternType", "fixed", NOTHING, "grep", r#"{ "pattern": "l.ne" }"#),
    ("grep.extendedRegexp", "true", NOTHING, "grep", r#"{ "pattern": "line|one" }"#),
    ("i18n.commitEncoding", "ISO-8859-1", NOTHING, "commit", r#"{ "message": "x", "allow_empty": true }"#),
    ("i18n.logOutputEncoding", "UTF-16", NOTHING, "log", r#"{ "max_count": 1 }"#),
    ("log.abbrevCommit", "true", NOTHING, "log", "{}"),
    ("log.date", "iso", NOTHING, "log", "{}"),
    ("log.decorate", "full", NOTHING, "log", "{}"),
    (
        "log.follow",
        "true",
        &["mv gone.txt z.txt", "commit -qm moved"],
        "log",
        r#"{ "paths": "z.txt", "oneline": true }"#,
    ),
    ("log.mailmap", "false", &["!echo 'X <x@example.org> <a@example.org>' > .mailmap"], "log", r#"{ "max_count": 2 }"#),
    ("log.showRoot", "false", NOTHING, "log", r#"{ "stat": true }"#),
    ("mailmap.file", "~/mailmap", NOTHING, "log", r#"{ "max_count": 2 }"#),
    ("merge.ff", "false", &["checkout -q merged"], "merge", r#"{ "ref": "side" }"#),
    ("merge.ff", "only", NOTHING, "merge", r#"{ "ref": "side" }"#),
    ("merge.default", "union", CLASH, "merge", r#"{ "ref": "main" }"#),
    ("merge.conflictStyle", "diff3", CLASH, "merge", r#"{ "ref": "main" }"#),
    ("merge.log", "true", NOTHING, "merge", r#"{ "ref": "side", "no_ff": true }"#),
    ("merge.stat", "false", NOTHING, "merge", r#"{ "ref": "side" }"#),
    ("merge.suppressDest", "nothing", NOTHING, "merge", r#"{ "ref": "side", "no_ff": true }"#),
    ("merge.autoStash", "true", &["checkout -q merged", "!echo more >> a.txt"], "merge", r#"{ "ref": "main" }"#),
    (
        "merge.up.driver",
        "~/mark",
        &[
            "!echo 'a.txt merge=up' > .git/info/attributes",
            "checkout -q -b clash v1",
            "!echo clash >> a.txt",
            "commit -qam clash",
            "!cp .git/info/attributes .gitattributes",
        ],
        "merge",
        r#"{ "ref": "main" }"#,
    ),
    ("merge.verifySignatures", "true", NOTHING, "merge", r#"{ "ref": "side" }"#),
    ("notes.displayRef", "refs/notes/x", &["notes --ref=x add -m other"], "log", r#"{ "max_count": 1 }"#),
    (
        "notes.rewriteRef",
        "refs/notes/commits",
        &["notes add -f -m mine"],
        "commit",
        r#"{ "amend": true, "message": "x" }"#,
    ),
    ("rebase.autoStash", "true", &["checkout -q side", "!echo more >> a.txt"], "rebase", r#"{ "upstream": "main" }"#),
    (
        "rebase.updateRefs",
        "true",
        &["checkout -q side", "commit -q --allow-empty -m on", "branch stacked HEAD~1"],
        "rebase",
        r#"{ "upstream": "main" }"#,
    ),
    (
        "rebase.rebaseMerges",
        "true",
        &["checkout -q -b j v1", "commit -q --allow-empty -m j", "merge -q --no-ff -m merged side"],
        "rebase",
        r#"{ "upstream": "main" }"#,
    ),
    ("core.useReplaceRefs", "false", &["replace HEAD HEAD~1"], "log", r#"{ "format": "%s" }"#),
    (
        "remote.near.pruneTags",
        "true",
        &["config remote.near.prune true", "tag own"],
        "fetch",
        r#"{ "remote": "near" }"#,
    ),
    ("rerere.enabled", "true", CLASH, "merge", r#"{ "ref": "main" }"#),
    ("status.short", "true", PATCH, "status", "{}"),
    ("status.branch", "true", PATCH, "status", r#"{ "short": true }"#),
    ("status.relativePaths", "false", &["!echo x >> deep/b.txt"], "status", r#"{ "folder": "deep", "short": true }"#),
    ("status.showUntrackedFiles", "no", &["!touch new"], "status", r#"{ "porcelain": "v1" }"#),
    ("status.showStash", "true", NOTHING, "status", "{}"),
    ("status.renames", "false", &["mv b.txt c.txt"], "status", r#"{ "porcelain": "v1" }"#),
];

/// Settings that no row is about, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("blame.ignorerevsfile", "names a file; told as the others of `blame`"),
    ("core.quotepath", "git that is asked here quotes no names"),
    ("blame.markignoredlines", "matters with `blame.ignoreRevsFile`"),
    ("blame.markunblamablelines", "matters with `blame.ignoreRevsFile`"),
    ("diff.ignoresubmodules", "there is no submodule"),
    ("submodule.*.ignore", "there is no submodule"),
    ("fetch.all", "told as `fetch.fsckObjects`"),
    ("fetch.recursesubmodules", "there is no submodule"),
    ("remote.*.uploadpack", "git starts it: told by a test of programs"),
    ("remote.*.vcs", "git starts it: there is no such program"),
    ("merge.renormalize", "matters with attributes that changed"),
    ("add.ignore-errors", "an older name of `add.ignoreerrors`"),
    ("add.ignoreerrors", "there is no file that cannot be read: for root all can"),
    ("branch.autosetupmerge", "told where a branch begins: a test of its own"),
    ("branch.*.merge", "belongs to the repository"),
    ("branch.*.rebase", "belongs to the repository"),
    ("branch.*.remote", "belongs to the repository"),
    ("core.bigfilethreshold", "how files are kept, not what is"),
    ("core.checkstat", "how files are looked at"),
    ("core.commentstring", "newer than the git that is asked of"),
    ("checkout.defaultremote", "there are no two remotes with the same branch"),
    ("core.ignorestat", "how files are looked at"),
    ("core.ignorecase", "for disks of another kind"),
    ("core.logallrefupdates", "logs of refs hang on the clock"),
    ("core.precomposeunicode", "for disks of another kind"),
    ("core.repositoryformatversion", "belongs to the repository"),
    ("core.sharedrepository", "permissions only"),
    ("core.sparsecheckout", "belongs to the repository"),
    ("core.sparsecheckoutcone", "belongs to the repository"),
    ("core.splitindex", "how the index is kept"),
    ("core.symlinks", "for disks of another kind"),
    ("core.trustctime", "how files are looked at"),
    ("core.worktree", "of the repository only: a test of its own"),
    ("diff.*.binary", "told as `diff.*.textconv`"),
    ("diff.*.command", "told as `diff.*.textconv`"),
    ("diff.*.xfuncname", "told as `diff.*.textconv`"),
    ("diff.indentheuristic", "told as `diff.algorithm`"),
    ("diff.interhunkcontext", "told as `diff.context`"),
    ("diff.renamelimit", "told as `diff.renames`"),
    ("diff.statnamewidth", "told as `diff.statgraphwidth`"),
    ("diff.submodule", "told as `diff.context`"),
    ("extensions.compatobjectformat", "belongs to the repository"),
    ("extensions.noop", "belongs to the repository"),
    ("extensions.objectformat", "belongs to the repository"),
    ("extensions.partialclone", "belongs to the repository"),
    ("extensions.preciousobjects", "belongs to the repository"),
    ("extensions.refstorage", "belongs to the repository"),
    ("extensions.relativeworktrees", "belongs to the repository"),
    ("fetch.fsckobjects", "of a sound remote nothing is refused"),
    ("fetch.prunetags", "as `fetch.prune`"),
    ("filter.*.process", "as `filter.*.clean`"),
    ("format.notes", "told as `notes.displayref`"),
    ("index.sparse", "belongs to the repository"),
    ("index.version", "how the index is kept"),
    ("init.defaultbranch", "in no repository: a test of its own"),
    ("init.defaultobjectformat", "in no repository: a test of its own"),
    ("init.templatedir", "in no repository: a test of its own"),
    ("log.diffmerges", "told as `log.date`"),
    ("log.excludedecoration", "told as `log.decorate`"),
    ("log.showsignature", "there is no signature"),
    ("mailmap.blob", "told as `mailmap.file`"),
    ("merge.branchdesc", "as `merge.log`"),
    ("merge.directoryrenames", "told as `merge.autostash`"),
    ("merge.renamelimit", "how renames are looked for"),
    ("merge.renames", "`ort` heeds it as of git 2.50"),
    ("notes.*.amend", "as `notes.rewriteref`"),
    ("notes.*.rebase", "as `notes.rewriteref`"),
    ("notes.rewritemode", "as `notes.rewriteref`"),
    ("rebase.autosquash", "as `rebase.updaterefs`"),
    ("rebase.backend", "the same commits come out"),
    ("rebase.forkpoint", "told as `rebase.autostash`"),
    ("rebase.stat", "told as `merge.stat`"),
    ("remote.*.fetch", "belongs to the repository"),
    ("remote.*.pushurl", "belongs to the repository: a test of its own"),
    ("remote.*.url", "belongs to the repository"),
    ("rerere.autoupdate", "as `rerere.enabled`"),
    ("sparse.expectfilesoutsideofpatterns", "how files are looked at"),
    ("status.aheadbehind", "there is no upstream"),
    ("status.displaycommentprefix", "told as `status.short`"),
    ("status.renamelimit", "told as `status.renames`"),
    ("status.submodulesummary", "told as `status.short`"),
    ("submodule.recurse", "there is no submodule"),
    ("user.useconfigonly", "the user has a name"),
    ("worktree.guessremote", "there is no branch that only a remote has"),
    ("worktree.userelativepaths", "newer than the git that is asked of"),
];

/// The keys of rows are written as people write them.
fn pattern(key: &str) -> String {
    let key = key.to_ascii_lowercase();
    let parts: Vec<&str> = key.split('.').collect();
    match parts.len() {
        2 => key,
        _ => format!("{}.*.{}", parts[0], parts[parts.len() - 1]),
    }
}

#[test]
fn every_setting_that_is_known_is_asked_about() {
    let rows: BTreeSet<String> = ROWS.iter().map(|row| pattern(row.0)).collect();
    let without: BTreeSet<String> = WITHOUT.iter().map(|(key, _)| (*key).to_owned()).collect();
    let known: BTreeSet<String> = KNOWN_SETTINGS.iter().map(|known| known.key.to_owned()).collect();
    let missing: Vec<_> = known.iter().filter(|key| !rows.contains(*key) && !without.contains(*key)).collect();
    assert!(missing.is_empty(), "neither a row nor a reason: {missing:?}");
    let idle: Vec<_> = without.iter().filter(|key| rows.contains(*key) || !known.contains(*key)).collect();
    assert!(idle.is_empty(), "a reason too many: {idle:?}");
    let commands: BTreeSet<&str> =
        read_verbs().chain(write_verbs()).filter_map(|verb| verb.words.first().copied()).collect();
    for (at, one) in KNOWN_SETTINGS.iter().enumerate() {
        assert!(KNOWN_SETTINGS[..at].iter().all(|other| other.key != one.key), "{} stands there twice", one.key);
        assert_eq!(one.key, one.key.to_ascii_lowercase());
        assert!(one.honored_from != HonoredFrom::Nobody || !one.commands.is_empty(), "{} matters nowhere", one.key);
        let unknown = one.commands.iter().find(|command| **command != "*" && !commands.contains(*command));
        assert!(unknown.is_none(), "{}: no verb speaks {unknown:?}", one.key);
    }
}

//= docs/spec.md#git
//= type=test
//# An answer MUST name the settings by which the user's own git would have done something else here.
#[test]
fn a_file_that_the_repository_names_is_told() {
    for (key, asked) in [
        (
            "core.excludesFile",
            [
                ("status", json!({})),
                ("files", json!({ "others": true, "exclude_standard": true })),
                ("add", json!({ "all": true })),
                ("stash_push", json!({ "untracked": true })),
                ("clean", json!({ "paths": "." })),
            ],
        ),
        (
            "core.attributesFile",
            [
                ("diff", json!({})),
                ("log", json!({ "patch": true })),
                ("grep", json!({ "pattern": "one" })),
                ("add", json!({ "paths": "a.txt" })),
                ("restore", json!({ "paths": "a.txt" })),
            ],
        ),
    ] {
        let yard = Yard::with_repository();
        yard.git(&["config", key, "team"]);
        yard.put("team", "*.own\n*.txt binary\n");
        for (verb, options) in asked {
            yard.put("a.own", "x");
            let reads = read_verbs().any(|one| one.name == verb);
            let told = if reads { yard.look(verb, &options) } else { yard.act(verb, &options) };
            let notice = format!("{} (the repository's)", key.to_ascii_lowercase());
            assert!(told["notices"].to_string().contains(&notice), "{key} {verb}: {told}");
        }
    }
}

fn prepare(yard: &Yard, folder: &std::path::Path, before: &[&str]) {
    for line in before {
        match line.strip_prefix('!') {
            Some(line) => {
                let done = std::process::Command::new("sh").args(["-c", line]).current_dir(folder).status().unwrap();
                assert!(done.success(), "{line}");
            }
            None => drop(yard.git_in(folder, &line.split_whitespace().collect::<Vec<_>>())),
        }
    }
}

/// Writes the files that settings name.
fn write_named(yard: &Yard) {
    for (name, text) in [
        ("attributes", "*.txt text eol=crlf\n"),
        ("excludes", "*.swp\n"),
        ("mailmap", "X <x@example.org> <a@example.org>\n"),
        ("order", "b.txt\na.txt\n"),
    ] {
        fs::write(yard.at(name), text).unwrap();
    }
}

//= docs/spec.md#git
//= type=test
//# An answer MUST name the settings by which the user's own git would have done something else here.
#[test]
fn a_setting_of_the_user_counts_or_is_told() {
    let template = template();
    let yard = Yard::new();
    write_named(&yard);
    let home = yard.home.path().display().to_string();
    yard.program("mark", "echo marked\n");
    yard.program("hooks/pre-commit", "exit 1\n");
    let mut asked = Vec::new();
    let mut config = fs::read_to_string(yard.at(".gitconfig")).unwrap();
    // Ours, git with the setting, and git without it.
    let places = |at: usize| {
        [yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")), yard.at(&format!("without{at}"))]
    };
    let rows = crate::support::sample(ROWS.iter().enumerate().collect::<Vec<_>>(), 40);
    for &(at, (key, value, before, verb, options)) in &rows {
        for copy in places(at) {
            copied_repository(&yard, &template.workspace(), &copy);
            prepare(&yard, &copy, before);
        }
        let file = yard.at(&format!("setting{at}"));
        let value = if key.ends_with("external") || key.ends_with("driver") {
            value.replace('~', &home)
        } else {
            (*value).to_owned()
        };
        yard.git_in(yard.home.path(), &["config", "--file", file.to_str().unwrap(), key, &value]);
        for place in &places(at)[..2] {
            let file = file.display();
            config += &format!("[includeIf \"gitdir:{}/\"]\npath = {file}\n", place.canonicalize().unwrap().display());
        }
        let mut options: Value = serde_json::from_str(options).unwrap();
        let below = options["folder"].as_str().unwrap_or_default().to_owned();
        options["folder"] = json!(format!("q{at}/{below}"));
        options["check"] = json!(false);
        options["any_bytes"] = json!(true);
        asked.push(json!({ "verb": verb, "options": options, "reads": read_verbs().any(|one| one.name == *verb) }));
    }
    fs::write(yard.at(".gitconfig"), config).unwrap();
    let answers = yard.call("say_all", &json!({ "questions": asked }));
    let answers = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
    let mut faults = Vec::new();
    let known_here = crate::keys::keys();
    for (&(at, (key, value, _, name, options)), told) in rows.iter().zip(answers) {
        let verb = read_verbs().chain(write_verbs()).find(|verb| verb.name == *name).unwrap();
        let options: Value = serde_json::from_str(options).unwrap();
        let below = options["folder"].as_str().unwrap_or_default();
        let [ours, theirs, without] = places(at);
        let (code, output, errors) = plain(&yard, &theirs.join(below), verb, &options);
        let (_, usual, _) = plain(&yard, &without.join(below), verb, &options);
        let seen = |folder: &std::path::Path| {
            let mut found = state(&template, folder);
            let more = ["log", "-1", "--format=%cn %ce %N %(trailers) %e%n%B", "--notes"];
            found
                .insert("last".to_owned(), String::from_utf8_lossy(&template.plain(folder, &more).stdout).into_owned());
            found.insert("config".to_owned(), fs::read_to_string(folder.join(".git/config")).unwrap());
            found
        };
        let (ours, theirs, without) = (seen(&ours), seen(&theirs), seen(&without));
        let is_text = read_verbs().any(|one| one.name == *name);
        if (output == usual || !is_text && *key != "merge.stat") && theirs == without {
            let is_quiet = ["diff.algorithm", "rerere.enabled", "blame.showRoot", "core.safecrlf"].contains(key);
            // An older git does not know of all of them.
            if !is_quiet && known_here.contains(&pattern(key)) {
                faults.push(format!(
                    "{key} = {value}: git does nothing else by it in {name} {options}: {output}{errors}"
                ));
            }
        }
        let is_same = told["code"] == json!(code) && ours == theirs && (!is_text || told["text"] == json!(output));
        let notices = told["notices"].to_string().to_ascii_lowercase();
        let is_told = notices.contains(&key.to_ascii_lowercase())
            || *key == "core.hooksPath" && notices.contains("hooks do not run: pre-commit");
        if !is_same && !is_told {
            let differs: Vec<_> = theirs.iter().filter(|(name, text)| ours.get(*name) != Some(text)).collect();
            faults.push(format!(
                "{key} = {value}: {name} {options}\n  git: {code} {output:?} {errors:?}\n  we: {told}\n  {differs:?}"
            ));
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), ROWS.len(), faults.join("\n"));
}

/// What a format can ask for that hangs on settings (but no time since: it hangs on the clock).
const FORMATS: &[(&str, &str)] = &[
    ("log", "%h %t %p %an %aN %ad %d %D %N %gd %s %e"),
    ("show", "%h %t %p %an %aN %ad %d %D %N %s %e"),
    (
        "branches",
        "%(refname:short) %(objectname:short) %(upstream:short) %(push:short) %(authordate) %(contents) %(HEAD)",
    ),
    (
        "refs",
        "%(refname:short) %(objectname:short) %(upstream:track) %(authorname) %(taggerdate) %(subject) %(*objectname:short)",
    ),
    ("tags", "%(refname:short) %(objectname:short) %(authorname) %(taggerdate) %(contents) %(*objectname:short)"),
];

//= docs/spec.md#git
//= type=test
//# An answer MUST name the settings by which the user's own git would have done something else here.
#[test]
#[ignore = "minutes: `.ci/long git`"]
fn a_setting_of_the_user_counts_or_is_told_whatever_is_asked() {
    let yard = template();
    changed(&yard, &yard.workspace());
    write_named(&yard);
    let mut questions: Vec<_> = questions(read_verbs()).into_iter().map(|(verb, _, options)| (verb, options)).collect();
    for (name, format) in FORMATS {
        let verb = read_verbs().find(|verb| verb.name == *name).unwrap();
        let mut options = json!({ "format": format });
        if *name == "show" {
            options["refs"] = json!(["HEAD"]);
        }
        questions.push((verb, options));
    }
    let asked: Vec<Value> = questions
        .iter()
        .map(|(verb, options)| {
            let mut options = options.clone();
            options["check"] = json!(false);
            options["any_bytes"] = json!(true);
            json!({ "verb": verb.name, "options": options, "reads": true })
        })
        .collect();
    let mine = fs::read_to_string(yard.at(".gitconfig")).unwrap();
    let mut faults = Vec::new();
    let settings: BTreeSet<(&str, &str)> = ROWS.iter().map(|row| (row.0, row.1)).collect();
    for (key, value) in settings {
        fs::write(yard.at(".gitconfig"), &mine).unwrap();
        yard.git(&["config", "--global", key, value]);
        let answers = yard.call("say_all", &json!({ "questions": asked }));
        for ((verb, options), told) in questions.iter().zip(answers.as_array().unwrap_or_else(|| panic!("{answers}"))) {
            let (code, output, errors) = plain(&yard, &yard.workspace(), verb, options);
            let is_same = told["code"] == json!(code) && told["text"] == json!(output);
            let notices = told["notices"].to_string().to_ascii_lowercase();
            if !is_same && !notices.contains(&key.to_ascii_lowercase()) {
                faults.push(format!(
                    "{key} = {value}: {} {options}\n  git: {code} {output:?} {errors:?}\n  we: {told}",
                    verb.name
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_new_repository_is_as_the_user_wants_it() {
    let yard = Yard::new();
    let mine = fs::read_to_string(yard.at(".gitconfig")).unwrap();
    let more = "[init]\ndefaultBranch = trunk\ntemplateDir = ~/template\n";
    fs::write(yard.at(".gitconfig"), mine + more).unwrap();
    let told = yard.act("init", &json!({ "path": "new" }));
    assert_eq!(told["code"], 0, "{told}");
    assert!(told["notices"].to_string().contains("init.templatedir (the user's)"), "{told}");
    assert_eq!(fs::read_to_string(yard.workspace().join("new/.git/HEAD")).unwrap(), "ref: refs/heads/trunk\n");
}

/// Who the user is can also stand in the environment of the host.
#[test]
fn the_environment_says_who_commits() {
    let yard = Yard::with_repository();
    let arguments = json!({ "verb": "commit", "options": { "message": "x", "allow_empty": true } }).to_string();
    let mut command = yard.command(&["call", "act_git", &arguments]);
    command.env("GIT_AUTHOR_NAME", "Ada").env("GIT_AUTHOR_EMAIL", "ada@example.org");
    command.env("GIT_COMMITTER_NAME", "Bob").env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z");
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let who = yard.git(&["log", "-1", "--format=%an <%ae> %cn <%ce> %cI"]);
    // Older ones write the zone in full.
    let who = who.replace("+00:00", "Z");
    assert_eq!(who, "Ada <ada@example.org> Bob <a@example.org> 2026-01-02T03:04:05Z\n");
}

//= docs/spec.md#git
//= type=test
//# What the environment of the host says of git's configuration MUST count as the user's own.
#[test]
fn the_environment_configures_git() {
    let yard = template();
    let file = yard.at("mine");
    fs::write(&file, "[user]\nname = Mine\nemail = mine@example.org\n[diff]\nrelative = true\n").unwrap();
    let file = file.to_str().unwrap();
    let pairs = [("GIT_CONFIG_COUNT", "2"), ("GIT_CONFIG_KEY_0", "user.name"), ("GIT_CONFIG_VALUE_0", "Pair")];
    let more = [("GIT_CONFIG_KEY_1", "log.Date"), ("GIT_CONFIG_VALUE_1", "iso")];
    let commit = json!({ "verb": "commit", "options": { "message": "x", "allow_empty": true } }).to_string();
    for (variables, who) in [
        (&[("GIT_CONFIG_GLOBAL", file)][..], "Mine <mine@example.org>"),
        (&[&[("GIT_CONFIG_GLOBAL", file)][..], &pairs, &more].concat(), "Pair <mine@example.org>"),
        (&[("GIT_CONFIG_SYSTEM", file)], "a <a@example.org>"),
        (&[("GIT_CONFIG_SYSTEM", file), ("GIT_CONFIG_NOSYSTEM", "1")], "a <a@example.org>"),
    ] {
        let mut command = yard.command(&["call", "act_git", &commit]);
        let done = command.envs(variables.iter().copied()).output().unwrap();
        assert!(done.status.success(), "{variables:?}: {}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(yard.git(&["log", "-1", "--format=%an <%ae>"]).trim(), who, "{variables:?}");
        let look = |verb: &str| {
            let look = json!({ "verb": verb, "options": {} }).to_string();
            let done = yard.command(&["call", "look_git", &look]).envs(variables.iter().copied()).output().unwrap();
            support::said(&done)["notices"].to_string()
        };
        let has_file = variables.iter().all(|(name, _)| *name != "GIT_CONFIG_NOSYSTEM");
        assert_eq!(look("diff").contains("diff.relative (the user's)"), has_file, "{variables:?}: {}", look("diff"));
        assert_eq!(
            look("log").contains("log.date (the user's)"),
            variables.len() > 2,
            "{variables:?}: {}",
            look("log")
        );
    }
    // `fetch` reads the user's own configuration itself.
    let other = yard.at("config/git");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("config"), "[url \".git/near\"]\ninsteadOf = elsewhere\n").unwrap();
    yard.git(&["config", "remote.far.url", "elsewhere"]);
    let told = yard.act("fetch", &json!({ "remote": "far", "refs": "main" }));
    assert_eq!(told["code"], 0, "{told}");
}

/// Where a new branch begins at one of a remote, git notes that: its configuration stays as it is, and that is told.
#[test]
fn an_upstream_that_is_not_noted_is_told() {
    let yard = template();
    for (verb, options, is_told) in [
        ("branch", json!({ "name": "one", "ref": "near/side" }), true),
        ("switch", json!({ "create": "two", "ref": "near/side" }), true),
        ("worktree_add", json!({ "path": "w", "create": "three", "ref": "near/side" }), true),
        ("branch", json!({ "name": "four", "ref": "side" }), false),
        ("branch", json!({ "name": "five" }), false),
        ("switch", json!({ "ref": "side" }), false),
    ] {
        let told = yard.act(verb, &options);
        assert_eq!(told["code"], 0, "{verb} {options}: {told}");
        let has_notice = told["notices"].to_string().contains("`near/side` as upstream of the branch");
        assert_eq!(has_notice, is_told, "{verb} {options}: {told}");
    }
    let told = yard.act("merge", &json!({ "ref": "near/side", "check": false }));
    assert!(!told["notices"].to_string().contains("mergeoptions"), "{told}");
    yard.git(&["config", "branch.main.mergeOptions", "--no-ff"]);
    let told = yard.act("merge", &json!({ "ref": "near/side", "check": false }));
    assert!(told["notices"].to_string().contains("branch.main.mergeoptions (the repository's)"), "{told}");
    // Git makes a branch of one that only a remote has.
    yard.git(&["update-ref", "refs/remotes/near/only", "near/side"]);
    for (options, is_told) in [
        (json!({ "path": "x", "ref": "only", "detach": true, "check": false }), false),
        (json!({ "path": "y", "ref": "only" }), true),
        (json!({ "path": "z", "ref": "only", "force": true }), false),
    ] {
        let told = yard.act("worktree_add", &options);
        assert_eq!(told["notices"].to_string().contains("`near/only` as upstream"), is_told, "{options}: {told}");
    }
    yard.git(&["config", "core.worktree", "/elsewhere"]);
    let told = yard.look("status", &json!({}));
    assert!(told["notices"].to_string().contains("core.worktree (the repository's)"), "{told}");
}

/// Where a driver of the user may be named, and what is done then: made by git, with `NAMES` for the line.
const NAMED_AT: &[(&str, &[&str], &str, &str)] = &[
    (".gitattributes", NOTHING, "add", r#"{ "all": true }"#),
    ("sub/.gitattributes", NOTHING, "add", r#"{ "all": true }"#),
    (".git/info/attributes", NOTHING, "add", r#"{ "all": true }"#),
    (".git/info/attributes", NOTHING, "commit", r#"{ "all": true, "message": "x" }"#),
    (".git/info/attributes", NOTHING, "stash_push", "{}"),
    ("sub/.gitattributes", &["add -A", "!rm sub/.gitattributes"], "add", r#"{ "paths": "a.txt" }"#),
    (
        "sub/.gitattributes",
        &["checkout -q -b named", "add -A", "commit -qm named", "checkout -q main"],
        "switch",
        r#"{ "ref": "named" }"#,
    ),
    (
        "sub/.gitattributes",
        &["checkout -q -b named", "add -A", "commit -qm named", "checkout -q main"],
        "merge",
        r#"{ "ref": "named" }"#,
    ),
    (
        "sub/.gitattributes",
        &["checkout -q -b named", "add -A", "commit -qm named", "checkout -q main"],
        "reset",
        r#"{ "ref": "named", "mode": "hard" }"#,
    ),
    (
        "sub/.gitattributes",
        &["checkout -q -b named", "add -A", "commit -qm named", "checkout -q main"],
        "worktree_add",
        r#"{ "ref": "named", "path": "more" }"#,
    ),
    (
        "sub/.gitattributes",
        &["checkout -q -b named", "add -A", "commit -qm named", "checkout -q main", "config attr.tree named"],
        "add",
        r#"{ "all": true }"#,
    ),
];

//= docs/spec.md#git
//= type=test
//# An answer MUST name the settings by which the user's own git would have done something else here.
#[test]
fn a_driver_of_the_user_is_told_wherever_it_is_named() {
    for (place, steps, verb, options) in NAMED_AT {
        for is_named in [true, false] {
            let yard = Yard::with_repository();
            let own = fs::read_to_string(yard.at(".gitconfig")).unwrap();
            fs::write(yard.at(".gitconfig"), own + "[filter \"up\"]\n\tclean = tr a-z A-Z\n").unwrap();
            yard.put("sub/x.txt", "x\n");
            yard.put(place, if is_named { "*.txt filter=up\n" } else { "*.txt filter=down\n" });
            for step in *steps {
                match step.strip_prefix('!') {
                    Some(line) => drop(yard.plain(&yard.workspace(), &["-c", &format!("alias.x=!{line}"), "x"])),
                    None => drop(yard.git(&step.split(' ').collect::<Vec<_>>())),
                }
            }
            yard.put("a.txt", "changed\n");
            if ["switch", "merge", "worktree_add"].contains(verb) {
                yard.git(&["checkout", "-q", "a.txt"]);
            }
            let told = yard.act(verb, &options.parse().unwrap());
            let is_told = told["notices"].to_string().contains("filter.up.clean (the user's)");
            assert_eq!(is_told, is_named, "{place} {verb}: {told}");
        }
    }
}
