//! Confinement on macOS: the profile that `sandbox-exec` gets. It has not been run on that system so far.

use crate::world::path;
use crate::world::run::{ChildProcesses, Confinement};
use std::fmt::Write;

/// The program that confines others there: deprecated since 2016, and what build tools and agents still use.
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "named there only"))]
pub(super) const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// What every program reads: programs, libraries and settings of the system.
const SYSTEM: [&str; 9] = [
    "/usr",
    "/bin",
    "/sbin",
    "/System",
    "/Library/Apple",
    "/Library/Developer/CommandLineTools",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
    "/private/etc/localtime",
];

/// Names below what a program may write that it may not: these rules can take something out.
const PROTECTED: &str = r"/(\.git|\.toolsd|toolsd\.toml)(/|$)";

/// The profile. In it, later rules override earlier ones.
pub(super) fn profile(program: &str, temporary: Option<&str>, confinement: &Confinement) -> String {
    let mut text = String::from("(version 1)\n(deny default)\n");
    let mut rule = |line: String| {
        let _a_text_takes_all = writeln!(text, "{line}");
    };
    rule("(allow sysctl-read)".to_owned());
    rule("(allow file-read-metadata)".to_owned());
    rule("(allow signal (target self))".to_owned());
    rule(format!("(allow file-read* (literal \"/\") {} (literal {}))", below(&SYSTEM), quoted(program)));
    rule("(allow file-read* (literal \"/dev/random\") (literal \"/dev/urandom\") (literal \"/dev/zero\"))".to_owned());
    rule("(allow file-read* file-write-data (literal \"/dev/null\"))".to_owned());
    let listed = below(&confinement.list);
    rule(format!("(allow file-read-data (require-all (vnode-type DIRECTORY) (require-any {listed})))"));
    rule(format!("(allow file-read* {} {})", below(&confinement.read), below(&confinement.start)));
    rule(format!("(allow file-read* file-write* {})", below(&confinement.write)));
    rule(format!("(deny file-write* (regex #\"{PROTECTED}\"))"));
    // A folder below a protected name that is granted by itself: git's own.
    let own = confinement.write.iter().filter(|at| at.split('/').any(is_protected)).collect::<Vec<_>>();
    rule(format!("(allow file-write* {})", below(&own)));
    if let Some(folder) = temporary {
        rule(format!("(allow file-read* file-write* {})", below(&[folder])));
    }
    match confinement.processes {
        ChildProcesses::None => rule(format!("(allow process-exec (literal {}))", quoted(program))),
        ChildProcesses::Any => {
            let started = below(&confinement.start);
            rule(format!("(allow process-exec (literal {}) {} {started})", quoted(program), below(&SYSTEM)));
            rule("(allow process-fork)".to_owned());
            rule("(allow signal (target same-sandbox))".to_owned());
        }
    }
    if confinement.network {
        rule("(allow network-outbound (remote ip))".to_owned());
        rule("(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))".to_owned());
        rule("(allow file-read* (literal \"/private/etc/hosts\") (literal \"/private/etc/resolv.conf\") (subpath \"/private/etc/ssl\"))".to_owned());
    }
    text
}

fn is_protected(name: &str) -> bool {
    [".git", ".toolsd", "toolsd.toml"].contains(&name)
}

/// One filter for each path: itself, and all below it. Without a path none that could match.
fn below<T: AsRef<str>>(paths: &[T]) -> String {
    let filters = paths.iter().map(|at| format!("(subpath {})", quoted(&path::clean(at.as_ref()))));
    let filters: Vec<String> = filters.collect();
    if filters.is_empty() { "(literal \"/dev/null/none\")".to_owned() } else { filters.join(" ") }
}

/// A text of the profile's language.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
