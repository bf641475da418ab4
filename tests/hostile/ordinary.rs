//! Ordinary programs in ordinary uses: confined, with a fitting grant, each does what it does without; else it is told.

use crate::house::{House, command_of, granted};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command as Plain, Stdio};
use std::time::Duration;
use toolsd::world::Programs;
use toolsd::world::run::{GitAccess, ProgramCommand, ProgramGrant, ProgramOutput};

/// Lines of a shell that are always right on a Debian: they read the workspace and write `out`.
const LINES: &[&str] = &[
    "cp -p a.txt out/b && stat -c '%a %Y' out/b",
    "cp -a tree out/tree && find out | sort",
    "cp --preserve=all a.txt out/b",
    "install -m 640 a.txt out/b && stat -c %a out/b",
    "install -d -m 750 out/deep/er && stat -c %a out/deep/er",
    "cp a.txt out/b && mv out/b out/c && ls out",
    "cd out && mkdir -p x/y && rmdir -p x/y; ls",
    "mkdir out/x && cp a.txt out/b && mv out/b out/x/b && cat out/x/b",
    "cp -r tree out/t && rm -r out/t && ls -A out",
    "cp a.txt out/b && ln out/b out/c && ln -s b out/d && readlink out/d && cat out/c",
    "touch -d 2020-01-02T03:04:05Z out/b && stat -c %Y out/b",
    "touch out/b && chmod 600 out/b && stat -c %a out/b && chmod -R u+x out && stat -c %a out/b",
    "cp a.txt out/b && truncate -s 3 out/b && cat out/b",
    "tar -cf out/t.tar tree && tar -tf out/t.tar && tar -xf out/t.tar -C out && cat out/tree/leaf",
    "tar -czf out/t.tgz tree && tar -xzpf out/t.tgz -C out && ls -R out/tree",
    "gzip -c a.txt > out/a.gz && gunzip out/a.gz && cat out/a",
    "cp a.txt out/b && sed -i s/one/eins/ out/b && cat out/b",
    "cp a.txt out/b && sed -i.bak s/one/eins/ out/b && ls out",
    "cp a.txt out/b && perl -i -pe s/one/eins/ out/b && cat out/b",
    "perl -MPOSIX -MFile::Temp=tempfile -e '(my $h, my $f) = tempfile(); print $h \"x\"; close $h; print -s $f'",
    "sed -n 2p a.txt; awk '{ print NR, $1 }' a.txt; grep -n two a.txt; tr a-z A-Z < a.txt; cut -c1-2 a.txt",
    "sort -r a.txt | uniq -c; wc -l a.txt; head -1 a.txt; tail -1 a.txt; tac a.txt; rev < a.txt",
    "sort -S 16k a.txt a.txt a.txt -o out/sorted && cat out/sorted",
    "diff a.txt tree/leaf; cmp a.txt tree/leaf; comm a.txt a.txt; join a.txt a.txt; paste a.txt a.txt",
    "md5sum a.txt; sha256sum a.txt; base64 a.txt; od -c a.txt; cksum a.txt",
    "find . -maxdepth 2 -name leaf -exec cat {} +; find tree | xargs ls -d",
    "seq 3 | while read n; do expr $n + 1; done; printf '%s\\n' a b; basename a/b; dirname a/b",
    "date -u -d @0; uname -s; id -u; nproc > /dev/null; pwd; test -r a.txt && echo there",
    "dd if=a.txt of=out/b bs=1 count=3 2>/dev/null; split -b 4 a.txt out/part; ls out; tee out/c < a.txt",
    "f=$(mktemp) && echo mine > $f && cat $f && rm $f; d=$(mktemp -d) && rmdir $d",
    "timeout 20 sleep 0.01; nice -n 5 echo nice; nohup echo still 2>/dev/null; setsid -w echo apart",
    "yes | head -2; true; false; echo to stderr >&2; exit 7",
    "cat <<END\nhere\nEND\ncat < /dev/null; echo gone > /dev/null; head -c 4 /dev/zero | od -c; head -c 2 /dev/urandom | wc -c",
    "echo out > /dev/stdout; echo err > /dev/stderr",
    "(sleep 0.01; echo later) & wait; trap 'echo end' EXIT; kill -s USR1 $$ 2>/dev/null; true",
    "no-such-program",
    "cat no-such-file",
    "sh ./script.sh one two",
    "realpath --relative-to=. tree/leaf; stat -c '%F %s' a.txt; du -b a.txt; ls -l a.txt | cut -c1-10",
];

/// The same for `bash`.
const OF_BASH: &[&str] = &[
    "diff <(sort a.txt) <(sort -r a.txt); echo ${BASH_VERSION:+set}; a=(1 2 3); echo ${#a[@]}; [[ a =~ a ]] && echo like",
    "set -m; sleep 0.01 & wait; echo done; cat <<< here; exec 3> out/b; echo x >&3; cat out/b",
    "set -o pipefail; false | true; echo $?; coproc cat; echo hi >&${COPROC[1]}; read -r said <&${COPROC[0]}; echo $said",
];

/// Programs that not every Debian has, each with a line; what is not here is passed over.
const MORE: &[(&str, &str)] = &[
    ("make", "make -s -f rules.mk all && cat out/made; make -s -j2 -f rules.mk more; make -s -f rules.mk wrong"),
    (
        "python3",
        "python3 -c 'print(1)'; python3 script.py; python3 -c 'import subprocess as s; s.run([\"echo\", \"x\"], start_new_session=True, check=True)'",
    ),
    (
        "python3",
        "python3 -c 'import shutil, os; shutil.copytree(\"tree\", \"out/t\"); shutil.copy2(\"a.txt\", \"out/b\"); print(sorted(os.listdir(\"out\")))'",
    ),
    (
        "python3",
        "python3 -c 'import tempfile, sqlite3; f = tempfile.mkdtemp(); c = sqlite3.connect(\"out/d\"); c.execute(\"create table t (a)\"); c.commit(); print(len(f) > 3)'",
    ),
    ("xz", "xz -c a.txt > out/a.xz && xz -dc out/a.xz"),
    ("node", "node -e 'require(\"fs\").cpSync(\"tree\", \"out/t\", { recursive: true }); console.log(1)'"),
    ("npm", "export HOME=$(mktemp -d); npm run -s greet; npm pkg get name; npm prefix | wc -l"),
    (
        "node",
        "node -e 'require(\"child_process\").execSync(\"echo hi\", { stdio: \"inherit\" })'; node node_modules/.bin/tool",
    ),
    ("java", "java -version 2>/dev/null; java A.java"),
    ("javac", "javac -d out A.java && ls out && java -cp out A"),
    ("mvn", "HOME=$(mktemp -d) mvn -q --version"),
    ("jq", "jq -c .name package.json; jq -n '[1, 2] | add'"),
    ("unzip", "unzip -p a.zip; unzip -q -d out a.zip && ls out"),
    ("rsync", "rsync -r tree out/ && cat out/tree/leaf"),
    ("cmake", "cmake --version | head -1; cmake -E cat a.txt"),
    ("go", "go version"),
    ("ssh", "ssh -V"),
    ("gpg", "gpg --version | head -1; HOME=$(mktemp -d) gpg --batch --list-keys 2>/dev/null"),
    ("curl", "curl --version | head -1; curl -sS file://$PWD/a.txt"),
    ("sqlite3", "sqlite3 out/d 'create table t (a); insert into t values (3); select a from t'"),
    ("xargs", "printf 'a\\nb\\n' | xargs -P 4 -n 1 echo | sort"),
    ("file", "file -b a.txt"),
    ("bc", "echo 2 ^ 10 | bc"),
    ("openssl", "openssl version; openssl dgst -sha256 a.txt"),
    ("pytest", "pytest -p no:cacheprovider -q --version"),
    ("black", "black --check -q script.py; echo $?"),
    ("ruff", "ruff check --no-cache -q script.py; echo $?"),
    ("tsc", "tsc --version"),
    ("rustfmt", "rustfmt --version"),
    (
        "/usr/bin/python3",
        "/usr/bin/python3 -m venv --without-pip out/v && ls out/v; /usr/bin/python3 -m json.tool package.json",
    ),
    ("gcc", "echo 'int main(){return 3;}' > out/m.c && gcc -o out/m out/m.c && ls out"),
];

/// An archive of the file `z.txt`, which holds `one` and a line's end.
const ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0\x9f\xa8\x17\xf8\x04\0\0\0\x04\0\0\0\x05\0\0\0z.txtone\nPK\x01\x02\
    \x14\x03\x14\0\0\0\0\0\0\0!\0\x9f\xa8\x17\xf8\x04\0\0\0\x04\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0\xa4\x01\
    \0\0\0\0z.txtPK\x05\x06\0\0\0\0\x01\0\x01\x003\0\0\0'\0\0\0\0\0";

fn fill(house: &House) {
    let at = |name: &str| house.workspace().join(name);
    let _nothing_yet = fs::remove_dir_all(at("out"));
    fs::create_dir_all(at("out")).unwrap();
    fs::create_dir_all(at("tree/twig")).unwrap();
    fs::write(at("a.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(at("tree/leaf"), "one\n").unwrap();
    std::fs::File::options()
        .write(true)
        .open(at("a.txt"))
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000))
        .unwrap();
    fs::write(at("script.sh"), "echo $0 $# $1\n").unwrap();
    fs::write(
        at("package.json"),
        r#"{ "name": "x", "version": "1.0.0", "scripts": { "greet": "echo hi", "tool": "tool" } }"#,
    )
    .unwrap();
    fs::write(at("A.java"), "class A { public static void main(String[] a) { System.out.println(1); } }\n").unwrap();
    fs::write(at("a.zip"), ZIP).unwrap();
    fs::create_dir_all(at("node_modules/.bin")).unwrap();
    fs::create_dir_all(at("node_modules/tool")).unwrap();
    let _is_there = std::os::unix::fs::symlink("../tool/tool.js", at("node_modules/.bin/tool"));
    for (name, text) in [
        ("node_modules/tool/tool.js", "#!/usr/bin/env node\nconsole.log(1);\n"),
        ("tool.sh", "#!/bin/sh\necho x\n"),
        ("tree/twig/own", "#!/bin/sh\necho own\n"),
    ] {
        crate::house::put_program(&at(name), text);
    }
    fs::write(
        at("script.py"),
        "import json, os, sys, tempfile\nprint(json.dumps({'a': len(sys.argv)}))\nopen('out/py', 'w').write('x')\n",
    )
    .unwrap();
    fs::write(
        at("rules.mk"),
        "all: out/made\nout/made: a.txt\n\tcp a.txt out/made\nmore:\n\t@echo $(shell echo shell)\nwrong:\n\t@exit 3\nown:\n\t./tool.sh\n",
    )
    .unwrap();
}

/// What a line said, and what it left in `out`: names, modes and bytes.
type Effects = (i64, String, String, Vec<(String, u32, Vec<u8>)>);

fn left(folder: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let known = fs::symlink_metadata(entry.path()).unwrap();
        let name = entry.file_name().into_string().unwrap();
        // Archives and databases hold times.
        let bytes = if known.is_file() && !name.contains(".t") && !name.contains(".gz") && name != "d" && name != "m" {
            fs::read(entry.path()).unwrap()
        } else {
            Vec::new()
        };
        found.push((name, known.mode(), bytes));
        if known.is_dir() {
            found.extend(left(&entry.path()));
        }
    }
    found.sort();
    found
}

fn plain(house: &House, program: &str, line: &str) -> Effects {
    fill(house);
    let output =
        Plain::new(program).args(["-c", line]).current_dir(house.workspace()).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().or(output.status.signal().map(|signal| 128 + signal)).map_or(-1, i64::from);
    (code, text(&output.stdout), text(&output.stderr), left(&house.workspace().join("out")))
}

fn run(house: &House, program: &str, line: &str) -> ProgramOutput {
    try_run(house, program, line).unwrap()
}

fn try_run(house: &House, program: &str, line: &str) -> toolsd::diagnostic::Result<ProgramOutput> {
    try_run_with(house, ProgramGrant { program: program.to_owned(), ..ProgramGrant::default() }, line)
}

fn try_run_with(house: &House, grant: ProgramGrant, line: &str) -> toolsd::diagnostic::Result<ProgramOutput> {
    let time = Duration::from_secs(120);
    let command = ProgramCommand { time, ..command_of(&grant.program, &["-c", line]) };
    granted(house, &["out"], GitAccess::None, grant).run(&command)
}

fn confined(house: &House, program: &str, line: &str) -> Effects {
    fill(house);
    let ran = run(house, program, line);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (ran.code, text(&ran.output), text(&ran.errors), left(&house.workspace().join("out")))
}

/// Whether a program is installed, and as one of the system: what a user installed needs grants of its own.
fn is_there(name: &str) -> bool {
    let found = Plain::new("which").arg(name).output().unwrap();
    let real = fs::canonicalize(String::from_utf8_lossy(&found.stdout).trim());
    let is_systems = real.is_ok_and(|real| real.starts_with("/usr"));
    if !is_systems {
        eprintln!("skipped: `{name}` is not installed in `/usr`");
    }
    is_systems
}

#[test]
fn ordinary_programs_do_what_they_do() {
    let house = House::new();
    let more = MORE.iter().filter(|(name, _)| is_there(name)).map(|(_, line)| ("sh", *line));
    let lines = LINES.iter().map(|line| ("sh", *line)).chain(OF_BASH.iter().map(|line| ("bash", *line))).chain(more);
    let mut differ = Vec::new();
    for (program, line) in crate::support::sample(lines.collect(), 25) {
        let (plain, confined) = (plain(&house, program, line), confined(&house, program, line));
        if plain != confined {
            differ.push(format!("{line}\n  plain:    {plain:?}\n  confined: {confined:?}"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// Lines that start programs of the workspace, and what `start` of the grant names for them.
const STARTED: &[(&str, &str, &[&str], &str)] = &[
    ("sh", "tree/twig/own", &["tree/twig"], "own"),
    ("sh", "./tool.sh && tree/twig/own", &["tool.sh", "tree"], "x\nown"),
    ("make", "make -s -f rules.mk own", &["tool.sh"], "x"),
    ("node", "node_modules/.bin/tool", &["node_modules"], "1"),
    ("npm", "HOME=$(mktemp -d) npm run -s tool", &["node_modules"], "1"),
    // It may write there, and the script may not.
    (
        "gcc",
        "echo 'int main(){return 0;}' > made/m.c && gcc -o made/m made/m.c && made/m && echo ran",
        &["made"],
        "ran",
    ),
];

//= docs/spec.md#programs
//= type=test
//# What a program may start in turn MUST NOT lie where the pack itself could write, nor hold such a place.
#[test]
fn programs_start_those_that_their_grant_names() {
    let house = House::new();
    fill(&house);
    fs::create_dir_all(house.workspace().join("made")).unwrap();
    let texts = |list: &[&str]| list.iter().map(|at| (*at).to_owned()).collect::<Vec<_>>();
    let grant = |start: &[&str]| ProgramGrant {
        program: "sh".to_owned(),
        start: texts(start),
        write: Some(texts(&["made"])),
        ..ProgramGrant::default()
    };
    for (_, line, start, said) in STARTED.iter().filter(|(program, ..)| is_there(program)) {
        let ran = try_run_with(&house, grant(start), line).unwrap();
        let errors = String::from_utf8_lossy(&ran.errors);
        assert_eq!((ran.code, String::from_utf8_lossy(&ran.output).trim()), (0, *said), "{line}: {errors}");
        let ran = try_run_with(&house, grant(&["nothing"]), line).unwrap();
        assert_ne!(ran.code, 0, "{line} is started by everybody");
    }
    // The pack itself may write `out`.
    for start in ["out", ".", "out/deep", "**"] {
        let fault = try_run_with(&house, grant(&[start]), "true").unwrap_err();
        assert!(fault.message.contains("and the pack may write `out`"), "{start}: {fault}");
    }
}

//= docs/spec.md#programs
//= type=test
//# A program that failed because it was confined MUST be told of with what it may touch, and the grant that says so.
#[test]
fn a_refusal_is_told_once_with_what_is_granted() {
    let house = House::new();
    fill(&house);
    for line in [
        "echo x > elsewhere",
        "cat /etc/shadow",
        "cp /usr/bin/true out/t; out/t",
        "no-such-program",
        "mktemp -p /tmp x.XXX",
        "exit 1",
    ] {
        let ran = run(&house, "sh", line);
        let told: Vec<&String> = ran.notes.iter().filter(|note| note.contains("ran confined")).collect();
        assert_eq!(told.len(), 1, "{line}: {:?} {}", ran.notes, String::from_utf8_lossy(&ran.errors));
        for part in ["read `.`", "wrote `out`", "had no network", "run = [{ program = \"sh\""] {
            assert!(told[0].contains(part), "{line}: {}", told[0]);
        }
        let mut once = ran.notes.clone();
        once.dedup();
        assert_eq!(once.len(), ran.notes.len(), "{:?}", ran.notes);
    }
    assert_eq!(run(&house, "sh", "cat a.txt").notes, [""; 0]);
}

//= docs/spec.md#programs
//= type=test
//# A program that prints more than its caller takes MUST be ended then, unless it changes a repository.
#[test]
fn a_program_that_prints_without_end_is_ended_when_it_printed_too_much() {
    let house = House::new();
    for line in ["yes", "yes >&2", "yes & yes"] {
        let fault = try_run(&house, "sh", line).unwrap_err();
        assert!(fault.message.contains("printed more than 1024 kB and was ended"), "{line}: {fault}");
    }
}

//= docs/spec.md#programs
//= type=test
//# A program that failed because it was confined MUST be told of with what it may touch, and the grant that says so.
#[test]
fn a_call_that_is_over_tells_what_it_waited_for() {
    let house = House::new();
    house.write(
        "workspace/.toolsd/tools.d/slow.toml",
        "[pack]\ntitle = \"Slow\"\ngrants = { read = [\".\"], run = [\"sleep\"] }\nlimits = { time_ms = 700 }\n\n[[tool]]\n\
         name = \"wait\"\ndescription = \"Waits for a program for a while, and says nothing.\"\neffect = \"runs\"\n\n[[tool]]\n\
         name = \"hurry\"\ndescription = \"Waits for a program for a moment, and says nothing.\"\neffect = \"runs\"\n",
    );
    house.write(
        "workspace/.toolsd/tools.d/slow.rhai",
        "fn wait(args) { run(\"sleep\", [\"9\"]) }\nfn hurry(args) { run(\"sleep\", [\"9\"], #{ timeout_s: 0.1 }) }\n",
    );
    let told = |tool| {
        let (_, out, told) = house.run(&["call", tool, "--dir", ".toolsd"]);
        out + told.as_str()
    };
    let waited = told("wait");
    assert!(waited.contains("700 ms: `sleep` was still running, confined and without the network"), "{waited}");
    let hurried = told("hurry");
    assert!(
        hurried.contains("ran for 0.1") && hurried.contains("ran confined") && hurried.contains("had no network"),
        "{hurried}"
    );
}

#[test]
fn bytes_that_are_no_text_are_given_where_they_are_asked_for() {
    let house = House::new();
    house.write(
        "workspace/.toolsd/tools.d/say.toml",
        "[pack]\ntitle = \"Say\"\ngrants = { read = [\".\"], run = [\"printf\"] }\n\n[[tool]]\nname = \"say\"\n\
         description = \"Says what a program prints, and its bytes.\"\neffect = \"runs\"\n\
         input_json = '{\"type\":\"object\",\"properties\":{\"o\":{\"type\":\"object\",\"description\":\"Options\"}}}'\n",
    );
    house.write(
        "workspace/.toolsd/tools.d/say.rhai",
        "fn say(args) { let ran = run(\"printf\", [\"ok\\\\nGr\\\\374n\\\\n\"], args.o); \
         #{ text: ran.text, notes: ran.notes, same: ran.bytes == () || to_base64(ran.bytes) == \"b2sKR3L8bgo=\" } }",
    );
    let said = |options: &str| {
        let (_, out, told) = house.run(&["call", "say", "--dir", ".toolsd", "--format", "json", options]);
        out + told.as_str()
    };
    for options in ["{\"o\":{}}", "{\"o\":{\"check\":false}}"] {
        let told = said(options);
        assert!(
            told.contains("no UTF-8, first in line 2: `Gr\u{fffd}n`") && told.contains("`any_bytes: true`"),
            "{told}"
        );
    }
    let told = said("{\"o\":{\"any_bytes\":true}}");
    assert!(
        told.contains("Gr\u{fffd}n") && told.contains("\"same\":true") && told.contains("`bytes` has it as it is"),
        "{told}"
    );
}

//= docs/spec.md#robustness
//= type=test
//# The folders that the host makes for itself MUST be the user's alone, whatever the umask is.
#[test]
fn programs_and_git_work_with_any_umask() {
    for umask in ["000", "002", "007", "020", "022", "027", "077"] {
        let house = House::new();
        house.write(
            "layer/tools.d/both.toml",
            "[pack]\ntitle = \"Both\"\nversion = \"1.0.0\"\ngrants = { read = [\".\"], write = [\"out\"], run = [\"sh\"], git = \"write\" }\n\
             [[tool]]\nname = \"both\"\ndescription = \"Runs a program, commits, and takes a lock.\"\neffect = \"runs\"\n",
        );
        house.write(
            "layer/tools.d/both.rhai",
            "fn both(args) {\n    let said = run(\"sh\", [\"-c\", \"echo ran\"]).line;\n    \
             git(\"branch\", #{ name: `b${now_ms()}` });\n    with_lock(\"one\", |left| said)\n}\n",
        );
        house.write("workspace/out/kept", "");
        let git = |words: &[&str]| {
            let done = Plain::new("git").args(words).current_dir(house.workspace()).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        };
        git(&["init", "-q"]);
        git(&["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "a"]);
        // A later call, with another umask too, finds what the first one made.
        for (number, umask) in [umask, umask, "022"].iter().enumerate() {
            let plain = house.command(&["call", "both", "--dir", "../layer"]);
            let mut command = Plain::new("sh");
            command.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")]).arg(plain.get_program());
            command.args(plain.get_args()).current_dir(house.workspace());
            command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let done = command.output().unwrap();
            let told = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "ran", "{umask}, {number}: {told}");
        }
    }
}

//= docs/spec.md#programs
//= type=test
//# A program MUST be let read and start what belongs to the installation that it was found in.
#[test]
fn a_program_has_its_own_installation() {
    // As `pyenv`, `nvm` and `npm` lay them out: a link in one `bin` leads to another one.
    let house = House::new();
    let at = |name: &str| house.parent().join(name);
    house.write("tools/node/lib/helper.sh", "echo helped\n");
    house.write("tools/node/secret-of-others", "");
    fs::create_dir_all(at("tools/node/bin")).unwrap();
    fs::create_dir_all(at("home/.local/bin")).unwrap();
    fs::create_dir_all(at("home/.local/share")).unwrap();
    house.write("home/.local/share/keyring", "the secret\n");
    let own = at("tools/node");
    let line = format!(
        "#!/bin/sh\n. {0}/lib/helper.sh\n{0}/bin/other\ncat {1}\n",
        own.display(),
        at("home/.local/share/keyring").display()
    );
    crate::house::put_program(&at("tools/node/bin/tool"), &line);
    crate::house::put_program(&at("tools/node/bin/other"), "#!/bin/sh\necho started\n");
    let link = at("home/.local/bin/tool");
    std::os::unix::fs::symlink(at("tools/node/bin/tool"), &link).unwrap();
    let grant = ProgramGrant { program: link.to_str().unwrap().to_owned(), ..ProgramGrant::default() };
    let command = ProgramCommand { program: grant.program.clone(), ..crate::house::command_of("sh", &[]) };
    let ran = granted(&house, &["out"], GitAccess::None, grant).run(&command).unwrap();
    let said = String::from_utf8_lossy(&ran.output).into_owned();
    assert!(said.contains("helped") && said.contains("started") && !said.contains("the secret"), "{said} {ran:?}");
}
