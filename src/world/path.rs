//! Paths as texts with `/`: taken apart, joined, cleaned; nothing here looks at a disk.

/// The path without `.`, doubled `/` and `..` where it can be resolved by name; the empty path is `.`.
///
/// `..` above the start of a relative path stays; above `/` it falls away.
pub fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let absolute = is_absolute(path);
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." && !(parts.len() == 1 && last == "~") => {
                    parts.pop();
                }
                _ if absolute => {}
                _ => parts.push(".."),
            },
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// Whether a cheap check shows that it is relative, never leads up, and [`clean`] would leave it as it is.
pub fn is_clean_below(path: &str) -> bool {
    path == "." || (!path.starts_with('~') && path.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

/// Whether a cheap check shows that it is absolute and that [`clean`] would leave it as it is.
pub fn is_clean_absolute(path: &str) -> bool {
    path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

/// Whether a cheap check shows that it is in the home folder and that [`clean`] would leave it as it is.
pub fn is_clean_at_home(path: &str) -> bool {
    path.strip_prefix("~/").is_some_and(|rest| rest != "." && is_clean_below(rest))
}

/// Whether it begins at `/`.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
}

/// `path` as seen from `base`; an absolute `path` stays what it is. The result is clean.
pub fn join(base: &str, path: &str) -> String {
    if is_absolute(path) || path == "~" || path.starts_with("~/") {
        return clean(path);
    }
    // The empty path is `.`: before a `/` it would be the root.
    let base = if base.is_empty() { "." } else { base };
    clean(&format!("{base}/{path}"))
}

/// The last part; of a path that has none (`/`, the empty path) the empty text.
pub fn name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// What is before the last part: `.` for a bare name, `/` for what is directly below it.
pub fn folder(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    match path.rfind('/') {
        Some(at) => match path[..at].trim_end_matches('/') {
            "" => "/",
            folder => folder,
        },
        None => ".",
    }
}

/// The name without its last extension; a leading dot begins no extension.
pub fn stem(path: &str) -> &str {
    let name = name(path);
    &name[..name.len() - dotted(name)]
}

/// The last extension without its dot, or the empty text.
pub fn extension(path: &str) -> &str {
    let name = name(path);
    let dotted = dotted(name);
    if dotted == 0 { "" } else { &name[name.len() - dotted + 1..] }
}

/// The length of the last extension with its dot.
fn dotted(name: &str) -> usize {
    match name.rfind('.') {
        Some(at) if at > 0 && name != ".." => name.len() - at,
        _ => 0,
    }
}

/// `path` as it is reached from the folder `base`. `None` if only one of them is absolute.
pub fn relative(path: &str, base: &str) -> Option<String> {
    if is_absolute(path) != is_absolute(base) {
        return None;
    }
    let (path, base) = (clean(path), clean(base));
    let parts = |path: &'_ str| -> Vec<String> {
        path.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
    };
    let (path, base) = (parts(&path), parts(&base));
    let common = path.iter().zip(&base).take_while(|(a, b)| a == b).count();
    if base[common..].iter().any(|part| part == "..") {
        return None;
    }
    let mut way: Vec<&str> = base[common..].iter().map(|_| "..").collect();
    way.extend(path[common..].iter().map(String::as_str));
    Some(if way.is_empty() { ".".to_owned() } else { way.join("/") })
}

/// Whether `path` is `folder` or below it, by name; both clean. `.` contains every relative path.
pub fn is_below(path: &str, folder: &str) -> bool {
    match folder {
        "." => !is_absolute(path) && path != ".." && !path.starts_with("../") && path != "~" && !path.starts_with("~/"),
        "/" => is_absolute(path),
        _ => path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned() {
        for (path, expected) in [
            ("", "."),
            (".", "."),
            ("./a//b/.", "a/b"),
            ("a/../b", "b"),
            ("a/..", "."),
            ("../a", "../a"),
            ("a/../../b", "../b"),
            ("/..", "/"),
            ("/a/../../b/", "/b"),
            ("/a/b", "/a/b"),
            ("/a/~", "/a/~"),
            ("~/a", "~/a"),
            ("~/.", "~"),
            ("~/", "~"),
            ("~/..", "~/.."),
            ("~/a/../b", "~/b"),
        ] {
            assert_eq!(clean(path), expected, "{path}");
            assert_eq!(is_clean_below(path), path == expected && is_below(path, "."), "{path}");
            assert_eq!(is_clean_absolute(path), path == expected && path.len() > 1 && is_absolute(path), "{path}");
            let is_at_home = path.starts_with("~/") && !path.contains("..");
            assert_eq!(is_clean_at_home(path), path == expected && is_at_home, "{path}");
        }
    }

    #[test]
    fn paths_are_taken_apart() {
        assert_eq!((name("a/b.c"), folder("a/b.c"), stem("a/b.c"), extension("a/b.c")), ("b.c", "a", "b", "c"));
        assert_eq!((name(".x"), folder(".x"), stem(".x"), extension(".x")), (".x", ".", ".x", ""));
        assert_eq!((name("/a"), folder("/a"), stem("a.tar.gz"), extension("a.")), ("a", "/", "a.tar", ""));
        assert_eq!((name(".."), stem(".."), extension(".."), folder("a//b")), ("..", "..", "", "a"));
    }

    #[test]
    fn paths_are_related() {
        assert_eq!(relative("a/b/c", "a/x").as_deref(), Some("../b/c"));
        assert_eq!(relative("a", "a").as_deref(), Some("."));
        assert_eq!(relative("a", ".").as_deref(), Some("a"));
        assert_eq!(relative("a", "..").as_deref(), None);
        assert_eq!(relative("/a/b", "/").as_deref(), Some("a/b"));
        assert_eq!(relative("/a", "b"), None);
        assert!(is_below("a/b", "a") && is_below("a", ".") && !is_below("ab", "a") && !is_below("../a", "."));
    }

    #[test]
    fn an_absolute_path_is_not_moved_by_a_join() {
        assert_eq!(join("a", "/b"), "/b");
        assert_eq!(join("a", "~/b"), "~/b");
        assert_eq!(join("a/b", "../c"), "a/c");
        assert_eq!(join(".", "c"), "c");
        assert_eq!((join("", "c"), join("", ""), join("", "../c")), ("c".into(), ".".into(), "../c".into()));
    }
}
