//! The grants of a pack, compiled to globs: `~` and variables are filled in, and a relative grant holds once for each
//! root.
//! Also the names of files and variables that no grant covers.

use super::effects::{FilePolicy, World};
use super::glob::Globs;
use super::path;
use super::run::{GitAccess, ProgramGrant};
use super::variable_grant::VariableGrant;
use super::walk::EntryKind;
use crate::diagnostic::{Code, Diagnostic, Result};
use unicode_normalization::UnicodeNormalization;

/// What may be touched. Globs begin at the root; `~`, `$VAR` and `${VAR}` are filled in; one without wildcards
/// covers what it names and everything below: `.` is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantedAccess {
    /// Files that may be read.
    pub read: Vec<String>,
    /// Files that may be written.
    pub write: Vec<String>,
    /// Variables of the environment.
    pub env: Vec<VariableGrant>,
    /// Whether the declared effect lets a call read at all.
    pub may_read: bool,
    /// Programs that may be run.
    pub run: Vec<ProgramGrant>,
    /// How far git goes.
    pub git: GitAccess,
    /// Whether the declared effect lets a call write at all.
    pub may_write: bool,
    /// Whether the declared effect lets a call run programs.
    pub may_run: bool,
}

/// Grants in their compiled form.
pub(super) struct CompiledGrants {
    pub(super) allowed: GrantedAccess,
    pub(super) read: Globs,
    pub(super) write: Globs,
    pub(super) home: Option<String>,
    /// The folders in the home folder that grants to read name as a whole, as they are written there: `~/…`.
    pub(super) at_home: Vec<String>,
    /// The further roots that the user granted.
    pub(super) roots: Vec<String>,
}

impl CompiledGrants {
    /// Compiles grants for `world`. A grant that is not a valid glob is an error; one that names an unset variable
    /// grants nothing.
    pub(super) fn new(world: &dyn World, allowed: GrantedAccess) -> Result<Self> {
        let roots = world.granted_roots();
        let read = compile(world, &allowed.read, &roots)?;
        let write = compile(world, &allowed.write, &roots)?;
        let home = home(world);
        let is_folder =
            |grant: &&String| path::is_clean_at_home(grant) && !grant.contains(['*', '?', '[', '{', '\\', '$']);
        let at_home = allowed.read.iter().filter(is_folder).filter(|_| home.is_some()).cloned().collect();
        Ok(Self { allowed, read, write, home, at_home, roots })
    }

    fn check_linked(may: bool, asked: &str) -> Result<()> {
        if may {
            return Ok(());
        }
        // Its name, and whether it is there at all, is for those to know who may read it.
        let message = format!("`{asked}` leads to a location that the pack may not read");
        Err(Diagnostic::new(Code::WORLD, message).author_help("a grant to read must cover what a link leads to, too"))
    }
}

//= docs/spec.md#roots
//# A grant MUST be checked on the file that was opened, whatever name or symlink led to it.
impl FilePolicy for CompiledGrants {
    fn may_read(&self, asked: &str, name: &str) -> Result<()> {
        Self::check_linked(self.read.matches(name) && system_folder(name).is_none(), asked)
    }

    fn may_look(&self, asked: &str, name: &str, entry: EntryKind) -> Result<()> {
        let may = self.read.matches(name) || (entry == EntryKind::Folder && self.read.may_match_below(name));
        Self::check_linked(may && system_folder(name).is_none(), asked)
    }

    fn protected(&self) -> &[&str] {
        &PROTECTED
    }
}

/// The help text for granting a pack one more thing by a key of `grants`. It repeats what is granted: who copies it
/// must not lose any of that.
pub fn describe_missing_grant(granted: &GrantedAccess, key: &str, value: &str) -> String {
    let quoted = |names: &[String]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>();
    let lists = [
        ("read", quoted(&granted.read)),
        ("write", quoted(&granted.write)),
        ("env", granted.env.iter().map(VariableGrant::spell).collect()),
        ("run", granted.run.iter().map(|grant| format!("{:?}", grant.program)).collect()),
    ];
    let list = |(name, mut words): (&str, Vec<String>)| {
        words.extend((name == key).then(|| format!("{value:?}")));
        (!words.is_empty()).then(|| format!("{name} = [{}]", words.join(", ")))
    };
    let git = if key == "git" { Some(value) } else { granted.git.word() };
    let git = git.map(|word| format!("git = {word:?}"));
    let keys: Vec<String> = lists.into_iter().filter_map(list).chain(git).collect();
    // A grant of a program may have more keys than a line of help can show.
    let is_short =
        |grant: &ProgramGrant| *grant == ProgramGrant { program: grant.program.clone(), ..Default::default() };
    let more = if granted.run.iter().all(is_short) { "" } else { ", with the keys that `run` has there now" };
    format!("allow it in `[pack]` by `grants = {{ {} }}`{more}", keys.join(", "))
}

//= docs/spec.md#scripts
//# A declared effect MUST be enforced at run time.
/// The refusal of an effect that the definition does not declare.
pub(super) fn undeclared(path: &str, done: &str, effect: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("`{path}` may not be {done}: the definition does not declare it"))
        .author_help(format!("declare `effect = \"{effect}\"`"))
}

/// The system folder (processes, devices, kernel) that contains a path, if any. `/dev/shm`, memory that programs share
/// by name, does not count.
pub(super) fn system_folder(at: &str) -> Option<&'static str> {
    let found = ["/dev", "/proc", "/sys"].into_iter().find(|system| path::is_below(at, system));
    found.filter(|_| !path::is_below(at, "/dev/shm"))
}

/// A name that no real grant lists: whatever covers it covers everything in a folder.
pub(super) const ALL_BELOW: &str = "\u{1}/\u{1}";

/// An absolute path below `root`, relative to it; any other path unchanged.
pub(super) fn below_root(root: &str, path: String) -> String {
    match path.strip_prefix(root) {
        Some("") => ".".to_owned(),
        Some(rest) if rest.starts_with('/') && path::is_absolute(&path) => rest[1..].to_owned(),
        _ => path,
    }
}

/// Checks a grant as written: that it is a glob, and is not in a folder that no grant covers.
pub fn check_grant(grant: &str) -> Result<()> {
    check_place(grant, &path::clean(grant))?;
    Globs::new(&[grant], ".").map(drop)
}

//= docs/spec.md#roots
//# A grant MUST NOT cover `/proc`, `/sys` or `/dev`.
fn check_place(grant: &str, clean: &str) -> Result<()> {
    let Some(system) = system_folder(clean) else { return Ok(()) };
    let message = format!("the grant `{grant}` is in `{system}`, which no grant covers");
    Err(Diagnostic::new(Code::WORLD, message).author_help("grant folders with files of people"))
}

/// The globs of grants. One without wildcards also covers everything below. A relative one applies to each root.
//= docs/spec.md#roots
//# A relative grant MUST apply only below the root of the pack and the roots that the user granted, and MUST
//# be listed with these.
pub(super) fn compile(world: &dyn World, grants: &[String], roots: &[String]) -> Result<Globs> {
    let mut globs = Vec::new();
    for grant in grants {
        let Some(filled) = fill(world, grant, globset::escape) else { continue };
        let clean = below_root(world.root(), path::clean(&filled));
        check_place(grant, &clean)?;
        let is_glob = grant.replace("${", "").contains(['*', '?', '[', '{', '\\']);
        let mut everywhere = vec![clean];
        if path::is_below(&everywhere[0], ".") {
            let elsewhere = |root: &String| path::join(&globset::escape(root), &everywhere[0]);
            everywhere.extend(roots.iter().map(elsewhere).collect::<Vec<_>>());
        }
        for glob in everywhere {
            globs.extend((!is_glob).then(|| format!("{glob}/**")));
            globs.push(glob);
        }
    }
    Globs::new(&globs, ".")
}

/// Returns the absolute files and folders that cover a grant exactly, per root. If a glob is narrower, fails with the
/// innermost folder that contains all its matches, spelled as a grant would be.
pub(super) fn folders(world: &dyn World, grant: &str, roots: &[String]) -> std::result::Result<Vec<String>, String> {
    let is_glob = |part: &str| part.contains(['*', '?', '[', '{', '\\']);
    let whole = match grant {
        "**" => ".",
        _ => grant.strip_suffix("/**").unwrap_or(grant),
    };
    // The braces of a variable do not belong to a glob.
    if is_glob(&whole.replace("${", "$")) {
        let plain: Vec<&str> = grant.split('/').take_while(|part| !is_glob(&part.replace("${", "$"))).collect();
        return Err(if plain.is_empty() { ".".to_owned() } else { plain.join("/") });
    }
    let Some(filled) = fill(world, whole, str::to_owned) else { return Ok(Vec::new()) };
    let clean = below_root(world.root(), path::clean(&filled));
    if !path::is_below(&clean, ".") {
        return Ok(vec![clean]);
    }
    let roots = std::iter::once(world.root()).chain(roots.iter().map(String::as_str));
    Ok(roots.map(|root| path::join(root, &clean)).collect())
}

/// The home folder. One that is the root of the disk, as in some containers, is not a home.
fn home(world: &dyn World) -> Option<String> {
    world.env("HOME").filter(|home| path::clean(home) != "/")
}

/// Fills in `~` and variables, with each value passed through `literal`. `None` if a variable is unset or empty.
fn fill(world: &dyn World, grant: &str, literal: fn(&str) -> String) -> Option<String> {
    let mut filled = String::new();
    let mut rest = grant;
    if let (Some(below), Some(home)) = (grant.strip_prefix('~'), home(world))
        && (below.is_empty() || below.starts_with('/'))
    {
        filled = literal(&home);
        rest = below;
    }
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, next) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some(braced) => braced,
            None => {
                let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
                after.split_at(end)
            }
        };
        // An empty one would leave the root of the disk.
        filled.push_str(&literal(&world.env(name).filter(|value| !value.is_empty())?));
        rest = next;
    }
    filled.push_str(rest);
    Some(filled)
}

/// History, what is trusted, and toolsd's settings: in any folder.
pub(super) const PROTECTED: [&str; 3] = [".git", ".toolsd", "toolsd.toml"];

/// The protected name that some file system takes `part` of a path for. Such a system ignores case, normalizes Unicode,
/// skips invisible characters, drops dots and spaces at the end, or has streams after a `:` or short names. May also
/// return one for a name that is different on this system, which does no harm.
pub fn protected_name(part: &str) -> Option<&'static str> {
    let stream = part.split(':').next().unwrap_or(part);
    let folded: String = stream
        .nfkc()
        .filter(|letter| !is_unseen(*letter))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    let folded = folded.trim_end_matches(['.', ' ']);
    let short = |name: &str| {
        let start: String = name.trim_start_matches('.').chars().take(4).collect();
        folded.split_once('~').is_some_and(|(stem, number)| {
            !stem.is_empty()
                && stem.starts_with(&start[..start.len().min(3)])
                && number.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    PROTECTED.into_iter().find(|name| folded == *name || short(name))
}

/// The first part of a path that is a protected name.
pub(super) fn protected_part(path: &str) -> Option<&str> {
    path.split('/').find(|part| protected_name(part).is_some())
}

/// Letters that a file system may leave out when it compares names, as HFS+ does.
fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Prefixes and whole names of variables that choose other programs, libraries or code, whatever the program. No grant
/// covers them. The author of a grant has to know which further ones a program reads (`CC`, `RUSTC_WRAPPER`).
const FORBIDDEN_VARIABLES: [&str; 31] = [
    "BASH_ENV",
    "CDPATH",
    "DYLD_*",
    "EDITOR",
    "ENV",
    "GCONV_PATH",
    "GIT_*",
    "GLIBC_TUNABLES",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LD_*",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCPATH",
    "LUA_*",
    "MAKEFLAGS",
    "MAKEFILES",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PAGER",
    "PATH",
    "PERL*",
    "PYTHON*",
    "RUBY*",
    "SHELL",
    "TMPDIR",
    "TOOLSD_*",
    "VISUAL",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];

/// Whether a variable is one that no grant covers.
pub fn is_forbidden_variable(name: &str) -> bool {
    let fits = |never: &&str| match never.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *never,
    };
    name.is_empty() || name.contains(['=', '\0']) || FORBIDDEN_VARIABLES.iter().any(fits)
}

/// Variables that hold secrets: what clients bring to be let in, and what their states are sealed with.
pub const SECRET_VARIABLES: [&str; 2] = ["TOOLSD_HTTP_TOKEN", "TOOLSD_STATE_KEY"];

#[cfg(test)]
mod tests {
    use super::*;

    //= docs/spec.md#writes
    //= type=test
    //# A grant to write MUST NOT cover `.git`, `.toolsd`, `toolsd.toml` or the folders of the user's packs,
    //# trust and state.
    #[test]
    fn a_name_is_protected_in_every_spelling() {
        let spelled = [
            ".git",
            ".GIT",
            ".Git.",
            ".git ",
            ".git. .",
            ".g\u{200c}it",
            ".gi\u{feff}t",
            ".ｇit",
            ".git::$INDEX_ALLOCATION",
            "GIT~1",
            "git~2",
            ".toolsd",
            ".TOOLSD",
            ".toolſd",
            ".tool\u{200d}sd",
            "TOOLSD~1",
            "toolsd.toml",
            "Toolsd.TOML",
            "toolsd.toml.",
            "toolsd.toml:stream",
            "too~1.tom",
        ];
        for name in spelled {
            assert!(protected_name(name).is_some(), "{name:?}");
        }
        for name in [
            ".gitignore",
            ".github",
            "git",
            "toolsd",
            "toolsd.tom",
            "my.git",
            "a.git",
            ".gitx",
            "tool~",
            "~1",
            "a~1",
            "git~",
        ] {
            assert!(protected_name(name).is_none(), "{name:?}");
        }
    }
}
