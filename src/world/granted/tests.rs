//! A view shows what was granted, and no more.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::world::memory::MemoryWorld;
use crate::world::run::ProgramGrant;

fn granted(read: &[&str], write: &[&str], flags: (bool, bool)) -> GrantedWorld {
    let files = ["a.md", "docs/b.md", "docs/c.txt", "docs/deep/d.md", "src/x.rs", "~/notes/n.md", "~/key"];
    let memory = MemoryWorld::with(files.map(|path| (path, "x"))).unwrap();
    memory.set_env("NOTES", "~/notes");
    memory.set_env("APP_A", "1");
    let texts = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
    let allowed = GrantedAccess {
        read: texts(read),
        write: texts(write),
        env: vec!["APP_*".into()],
        may_read: flags.0,
        may_write: flags.1,
        ..GrantedAccess::default()
    };
    GrantedWorld::new(Arc::new(memory), allowed).unwrap()
}

fn found(world: &GrantedWorld, from: &str) -> String {
    let walk = WalkOptions { from: from.into(), hidden: true, ignore: false, follow: false, depth: None };
    world.walk(&walk).map_or_else(|error| error.message.clone(), |walked| walked.files.join(" "))
}

//= docs/spec.md#scripts
//= type=test
//# A script MUST NOT reach a file, a variable or a program that its pack was not granted.
#[test]
fn reading_stays_within_the_grants() {
    let all = granted(&["."], &[], (true, false));
    assert_eq!(found(&all, "."), "a.md docs/b.md docs/c.txt docs/deep/d.md src/x.rs");
    assert!(all.read("/workspace/docs/../a.md").is_ok() && all.read("~/key").is_err() && all.read("../x").is_err());
    let some = granted(&["docs/*.md", "src", "$NOTES/**", "$UNSET/**"], &[], (true, false));
    assert_eq!(found(&some, "."), "docs/b.md src/x.rs");
    assert_eq!(found(&some, "~/notes"), "~/notes/n.md");
    assert_eq!(found(&some, "other"), "the pack may not read `other`");
    assert!(some.read("docs/b.md").is_ok() && some.read("src/x.rs").is_ok() && some.read("~/notes/n.md").is_ok());
    assert!(some.read("docs/deep/d.md").is_err() && some.read("docs/c.txt").is_err() && some.read("a.md").is_err());
    assert!(some.stat("docs").unwrap().is_some() && some.stat("docs/c.txt").is_err());
    let names = |path: &str| some.list(path).unwrap().into_iter().map(|entry| entry.name).collect::<Vec<_>>();
    assert_eq!((names("."), names("docs")), (vec!["docs".into(), "src".into()], vec!["b.md".into()]));
}

#[test]
fn an_ignore_file_above_what_is_granted_is_seen_to_change() {
    let memory = Arc::new(MemoryWorld::with([("docs/a.md", "x"), ("docs/b.md", "x"), (".gitignore", "b.md")]).unwrap());
    let allowed = GrantedAccess { read: vec!["docs/**".into()], may_read: true, ..GrantedAccess::default() };
    let world: Arc<dyn World> = Arc::new(GrantedWorld::new(memory.clone(), allowed).unwrap());
    memory.advance_ms(60_000);
    let recorded = crate::world::recorded::RecordedWorld::new(Arc::clone(&world));
    let walk = WalkOptions { from: "docs".into(), hidden: false, ignore: true, follow: false, depth: None };
    assert_eq!(recorded.walk(&walk).unwrap().files, ["docs/a.md"]);
    let reads = recorded.take();
    assert!(reads.unchanged(world.as_ref()));
    memory.write(".gitignore", b"").unwrap();
    assert!(!reads.unchanged(world.as_ref()));
}

#[test]
fn writing_stays_within_the_grants() {
    let world = granted(&["."], &["**", "~/notes"], (true, true));
    assert!(world.write("docs/new.md", b"").is_ok() && world.write("~/notes/new.md", b"").is_ok());
    for path in [".git/config", "sub/.git/hooks/x", ".GIT/x", ".toolsd/x", "toolsd.toml", "a/../.git/x", ".git"] {
        let error = world.write(path, b"").unwrap_err();
        assert!(error.message.contains("no grant covers") && world.remove(path).is_err(), "{error}");
    }
    assert!(world.write("~/key", b"").is_err() && world.remove("~/key").is_err());
    let error = granted(&["."], &["out"], (true, true)).write("a.md", b"").unwrap_err();
    assert_eq!(error.message, "the pack may not write `a.md`");
    assert_eq!(
        error.help.as_deref(),
        Some("allow it in `[pack]` by `grants = { read = [\".\"], write = [\"out\", \"a.md\"], env = [\"APP_*\"] }`")
    );
}

//= docs/spec.md#scripts
//= type=test
//# A declared effect MUST be enforced at run time.
#[test]
fn the_declared_effect_holds_at_run_time() {
    let pure = granted(&["."], &["**"], (false, false));
    assert!(pure.read("a.md").unwrap_err().help.unwrap().contains("effect = \"reads\""));
    assert!(pure.stat("a.md").is_err() && pure.list(".").is_err() && pure.env("APP_A").is_none());
    let reads = granted(&["."], &["**"], (true, false));
    assert!(reads.write("x", b"").unwrap_err().help.unwrap().contains("effect = \"writes\""));
}

#[test]
fn variables_are_granted_by_name() {
    let world = granted(&[], &[], (true, false));
    assert_eq!((world.env("APP_A").as_deref(), world.env("NOTES")), (Some("1"), None));
    assert_eq!(world.env_names(), ["APP_A"]);
    assert_eq!(world.may_env("NOTES").unwrap_err().message, "the pack may not read the variable `NOTES`");
    assert_eq!(world.read("a.md").unwrap_err().message, "the pack may not read `a.md`");
}

fn programs(folder: &tempfile::TempDir, write: &[&str], grant: ProgramGrant) -> GrantedWorld {
    let disk = crate::world::disk::Disk::new(folder.path().to_str().unwrap(), []).unwrap();
    let allowed = GrantedAccess {
        read: vec![".".into()],
        write: write.iter().map(|glob| (*glob).to_owned()).collect(),
        run: vec![grant],
        may_read: true,
        may_write: true,
        may_run: true,
        ..GrantedAccess::default()
    };
    GrantedWorld::new(Arc::new(disk), allowed).unwrap()
}

fn start(program: &str, env: &[(&str, &str)]) -> ProgramCommand {
    ProgramCommand {
        program: program.to_owned(),
        arguments: Vec::new(),
        folder: ".".into(),
        input: Vec::new(),
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        time: std::time::Duration::from_secs(60),
        most: 1 << 20,
        needs: crate::world::run::RequiredGrant::Program,
        confinement: crate::world::run::Confinement::default(),
        stop: || Ok(()),
    }
}

fn grant(program: &str) -> ProgramGrant {
    ProgramGrant { program: program.to_owned(), ..ProgramGrant::default() }
}

//= docs/spec.md#programs
//= type=test
//# `env` of `run` MUST set only variables that the grant names, and none that selects other programs.
#[test]
fn a_program_gets_the_variables_that_its_grant_names() {
    let folder = tempfile::tempdir().unwrap();
    let world = programs(&folder, &[], ProgramGrant { env: vec!["LC_ALL".into(), "PATH".into()], ..grant("env") });
    let ran = world.run(&start("env", &[("LC_ALL", "C")])).unwrap();
    let said = String::from_utf8(ran.output).unwrap();
    assert!(said.contains("LC_ALL=C\n") && said.contains("TMPDIR=") && !said.contains("CARGO"), "{said}");
    let error = world.run(&start("env", &[("LC_ALLL", "C")])).unwrap_err();
    assert_eq!(error.message, "`env` of `run` may not set `LC_ALLL` for `env`");
    for name in
        ["PATH", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "GIT_DIR", "PYTHONPATH", "BASH_ENV", "TMPDIR", "A=B", ""]
    {
        let error = world.run(&start("env", &[(name, "x")])).unwrap_err();
        assert_eq!(error.message, format!("`env` of `run` may not set `{name}`"));
    }
}

#[test]
fn a_missing_grant_of_git_is_named_with_what_it_is_for() {
    use crate::world::repository::Repository;
    use crate::world::run::RequiredGrant;
    for (needs, message, grant) in [
        (RequiredGrant::ReadGit, "the pack may not run git", "read"),
        (RequiredGrant::WriteGit, "the pack may not change a repository", "write"),
        (RequiredGrant::FetchGit, "the pack may not fetch from a remote", "fetch"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = programs(&folder, &[], ProgramGrant::default());
        let error = world.run_git(&ProgramCommand { needs, ..start("git", &[]) }, &Repository::default()).unwrap_err();
        assert_eq!(error.message, message);
        let help = format!("allow it in `[pack]` by `grants = {{ read = [\".\"], run = [\"\"], git = \"{grant}\" }}`");
        assert_eq!(error.help.as_deref(), Some(help.as_str()), "{message}");
        let error = world.repository(".", needs).unwrap_err();
        assert_eq!(error.help.as_deref(), Some(help.as_str()), "{message}");
    }
}

//= docs/spec.md#programs
//= type=test
//# A grant that is narrower than a folder MUST be refused for a program, not widened.
#[test]
fn a_program_is_held_to_whole_folders() {
    let folder = tempfile::tempdir().unwrap();
    for (glob, named) in [("docs/*.md", "docs"), ("docs/**/*.md", "docs"), ("*", "."), ("a/{b,c}", "a"), ("a?", ".")] {
        let error = programs(&folder, &[glob], grant("true")).run(&start("true", &[])).unwrap_err();
        assert_eq!(error.message, format!("`true` is not run: no program can be held to the grant to write `{glob}`"));
        let help = error.help.unwrap();
        assert!(help.contains(&format!("{{ program = \"true\", write = [\"{named}\"] }}")), "{help}");
        let whole = ProgramGrant { start: vec!["bin".into()], network: true, ..grant("true") };
        let help = programs(&folder, &[glob], whole).run(&start("true", &[])).unwrap_err().help.unwrap();
        assert!(help.contains(&format!("write = [\"{named}\"], execute = [\"bin\"], network = true }}")), "{help}");
        let exact = ProgramGrant { write: Some(vec!["docs".into(), "out/**".into()]), ..grant("true") };
        assert_eq!(programs(&folder, &[glob], exact).run(&start("true", &[])).unwrap().code, 0);
    }
}

//= docs/spec.md#writes
//= type=test
//# A grant to write MUST NOT cover a git repository, whatever its name is, nor turn a folder into one.
#[test]
fn what_git_takes_for_a_repository_is_protected() {
    let files = [
        "real/HEAD",
        "real/objects/x",
        "real/refs/x",
        "like/HEAD",
        "like/refs/x",
        "real/hooks/h",
        "beside",
        "shared/HEAD",
        "shared/commondir",
    ];
    let memory = MemoryWorld::with(files.map(|path| (path, "x"))).unwrap();
    let allowed =
        GrantedAccess { write: vec![".".into()], may_read: true, may_write: true, ..GrantedAccess::default() };
    let world = GrantedWorld::new(Arc::new(memory), allowed).unwrap();
    for path in ["real/config", "real/hooks/h", "real/refs/heads/x", "/workspace/real/config", "x/../real/HEAD"] {
        let reported = world.write(path, b"x").unwrap_err().message;
        assert!(reported.contains("git takes `real` for a repository"), "{path}: {reported}");
        assert!(
            world.remove(path).is_err()
                && world.ensure_writable(path).is_err()
                && world.ensure_replaceable(path).is_err()
        );
        assert!(world.ensure_fillable(path).is_err());
    }
    for path in ["shared/HEAD", "shared/commondir", "shared/config.worktree"] {
        let reported = world.write(path, b"x").unwrap_err().message;
        assert!(reported.contains("git takes `shared` for a repository"), "{path}: {reported}");
    }
    for path in ["like/config", "beside", "really/config"] {
        world.write(path, b"x").unwrap();
    }
}

#[test]
fn nothing_is_made_that_git_takes_for_a_repository() {
    for order in [["HEAD", "commondir"], ["commondir", "HEAD"]] {
        let memory = MemoryWorld::with([("out/beside", "x")]).unwrap();
        let allowed =
            GrantedAccess { write: vec![".".into()], may_read: true, may_write: true, ..GrantedAccess::default() };
        let world = GrantedWorld::new(Arc::new(memory), allowed).unwrap();
        let written = order.map(|name| world.write(&format!("out/n/{name}"), b"../c").is_ok());
        assert_eq!(written, [true, false], "{order:?}");
        world.write("out/n/config.worktree", b"x").unwrap();
    }
    let names = ["config", "HEAD", "objects/keep", "refs/keep"];
    let orders = (0..256_usize).map(|code| [code / 64, code / 16 % 4, code / 4 % 4, code % 4]);
    let orders: Vec<[usize; 4]> = orders.filter(|order| (0..4).all(|at| order.contains(&at))).collect();
    assert_eq!(orders.len(), 24);
    for order in orders {
        let memory = Arc::new(MemoryWorld::with([("out/beside", "x")]).unwrap());
        let allowed =
            GrantedAccess { write: vec![".".into()], may_read: true, may_write: true, ..GrantedAccess::default() };
        let world = GrantedWorld::new(Arc::clone(&memory) as Arc<dyn World>, allowed).unwrap();
        let refused = order.iter().filter(|at| world.write(&format!("out/n/{}", names[**at]), b"x").is_err()).count();
        let there = ["HEAD", "objects", "refs"].map(|name| memory.stat(&format!("out/n/{name}")).unwrap().is_some());
        assert!(refused == 1 && there != [true; 3], "{order:?}");
    }
}

#[test]
fn a_folder_is_filled_only_by_a_grant_for_everything_in_it() {
    let memory = Arc::new(MemoryWorld::with([("docs/a.md", "x")]).unwrap());
    let granted = |glob: &str| {
        let allowed = GrantedAccess { write: vec![glob.into()], may_write: true, ..GrantedAccess::default() };
        GrantedWorld::new(Arc::clone(&memory) as _, allowed).unwrap()
    };
    granted("docs/**").ensure_fillable("docs").unwrap();
    let refused = granted("docs/*.md").ensure_fillable("docs").unwrap_err();
    assert_eq!(refused.message, "the pack may not write all of `docs`");
}
