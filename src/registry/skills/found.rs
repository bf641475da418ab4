//! Skills that a script found in the workspace: their files are walked, and hashed only if they changed.

use super::{Origin, Rejected, SKILL_FILE, Skill, SkillFile, advice, digest, encoded, read};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Source;
use crate::world::recorded::YOUNG_MS;
use crate::world::{Stat, WalkOptions, World, path};
use std::collections::HashMap;
use std::sync::Mutex;

/// The hashes of files, for as long as the files are as they were.
#[derive(Default)]
pub struct Digests(Mutex<HashMap<String, (Stat, String)>>);

impl Digests {
    /// The digest of a file and its size in bytes.
    fn of(&self, world: &dyn World, path: &str, stat: Option<Stat>) -> Result<(String, u64)> {
        let known = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(path).cloned();
        if let (Some((before, digest)), Some(now)) = (&known, stat)
            && *before == now
        {
            return Ok((digest.clone(), now.size));
        }
        let at_ms = world.now_ms();
        let bytes = world.read(path)?;
        let digest = digest(&bytes);
        // A young stamp may stand for two states.
        if let Some(stat) = stat.filter(|stat| stat.modified_ns <= i128::from(at_ms - YOUNG_MS) * 1_000_000) {
            let mut known = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            known.insert(path.to_owned(), (stat, digest.clone()));
        }
        Ok((digest, bytes.len() as u64))
    }
}

/// The skill in a folder of a world, and what should be better about it. Its URIs begin with `skill://` and `at`, or
/// its name if that is not given. Links within it are left out.
pub fn found_skill(
    world: &dyn World,
    dir: &str,
    at: Option<&str>,
    digests: &Digests,
) -> std::result::Result<(Skill, Vec<Diagnostic>), Rejected> {
    let dir = path::clean(dir);
    let file = path::join(&dir, SKILL_FILE);
    let nowhere = Source::new(&file, "").place(0..0);
    let left_out = |why: &str| advice(format!("`{file}` is left out: {why}"), &nowhere, "a SKILL.md is a text");
    let bytes = world.read(&file).map_err(|fault| left_out(&fault.message))?;
    let text = String::from_utf8(bytes).map_err(|_| left_out("it is no UTF-8"))?;
    let source = Source::new(&file, &text);
    let origin = Origin { path: &file, text: &text, at: &source.place(0..0), is_found: true };
    let base = |name: &str| at.map_or_else(|| name.to_owned(), |at| at.trim_matches('/').to_owned());
    read(&origin, base, |base| manifest(world, &dir, base, digests))
}

fn manifest(world: &dyn World, dir: &str, base: &str, digests: &Digests) -> Result<Vec<SkillFile>> {
    let walk = WalkOptions { from: dir.to_owned(), hidden: true, ignore: false, follow: false, depth: None };
    let files = world.walk(&walk)?.files;
    let stats = world.stat_all(&files.iter().map(String::as_str).collect::<Vec<_>>());
    let below = if dir == "." { String::new() } else { format!("{dir}/") };
    let mut manifest = Vec::with_capacity(files.len());
    for (path, stat) in files.into_iter().zip(stats) {
        let (digest, size) = digests.of(world, &path, stat?)?;
        let uri = format!("{base}/{}", encoded(path.strip_prefix(&below).unwrap_or(&path)));
        manifest.push(SkillFile { uri, path, digest, size });
    }
    Ok(manifest)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::world::memory::MemoryWorld;

    const BREW: &str = "---\nname: brew\ndescription: Brews.\n---\nBoil.\n";

    fn uris(skill: &Skill) -> Vec<&str> {
        skill.files.iter().map(|file| file.uri.as_str()).collect()
    }

    #[test]
    fn a_skill_is_hashed_again_only_where_it_changed() {
        let world = MemoryWorld::with([("~/a/tea pot/SKILL.md", BREW), ("~/a/tea pot/more/x.txt", "hello")]).unwrap();
        world.advance_ms(YOUNG_MS + 1);
        let digests = Digests::default();
        let found = || found_skill(&world, "~/a/tea pot/", Some("set/brew"), &digests).unwrap().0;
        let first = found();
        assert_eq!(uris(&first), ["skill://set/brew/SKILL.md", "skill://set/brew/more/x.txt"]);
        assert_eq!(first, found());
        world.write("~/a/tea pot/more/x.txt", b"hullo").unwrap();
        let second = found();
        assert_eq!(first.files[0], second.files[0]);
        assert_ne!(first.files[1].digest, second.files[1].digest);
        world.write("~/a/tea pot/more/x.txt", b"hallo").unwrap();
        assert_ne!(second.files[1].digest, found().files[1].digest);
    }

    #[test]
    fn what_the_extension_does_not_take_is_left_out() {
        let long = format!("---\nname: brew\ndescription: {}\n---\n", "x".repeat(1_025));
        let texts = [("a/SKILL.md", BREW), ("b/SKILL.md", "x"), ("c/SKILL.md", long.as_str())];
        let world = MemoryWorld::with(texts).unwrap();
        let told = |dir: &str, at: Option<&str>| {
            found_skill(&world, dir, at, &Digests::default()).map(|(skill, _)| skill.uri).map_err(|why| why.message)
        };
        assert_eq!(told("a", None).unwrap(), "skill://brew/SKILL.md");
        assert_eq!(
            told("a", Some("x/pot")).unwrap_err(),
            "`a/SKILL.md` is left out: its path `x/pot` does not end in its name `brew`"
        );
        assert_eq!(told("b", None).unwrap_err(), "`b/SKILL.md` is left out: `` is no name of a skill");
        assert_eq!(told("c", None).unwrap_err(), "`c/SKILL.md` is left out: its `description` has 1025 characters");
        assert_eq!(told("d", None).unwrap_err(), "`d/SKILL.md` is left out: there is no file `d/SKILL.md`");
    }
}
