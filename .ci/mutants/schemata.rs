//! Writes the scratch tree: the sources as they are, with many mutations beside each other, each behind its switch.

use crate::sites::{Mutation, Piece};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A mutation of the sample: its number is that of its switch.
pub struct Mutant {
    /// The switch; 0 is no mutant.
    pub number: usize,
    /// The file, from the root of the tree.
    pub file: PathBuf,
    /// What changes there.
    pub mutation: Mutation,
}

/// Where a mutant stands in a written file: several times if it lies inside of another.
pub struct Written {
    /// Which one.
    pub number: usize,
    /// Bytes of the written file.
    pub place: Range<usize>,
}

/// What the scratch tree gets beside its sources. `on` is asked often: after the first time it is one comparison.
const SWITCH: &str = r#"
#[allow(missing_docs, clippy::all)]
pub mod mutant_switch {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    static CHOSEN: OnceLock<(usize, Option<std::path::PathBuf>)> = OnceLock::new();
    static REACHED: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];

    #[inline]
    pub fn on(number: usize) -> bool {
        let (chosen, folder) = CHOSEN.get_or_init(|| {
            let chosen = std::env::var("MUTANT").ok().and_then(|number| number.parse().ok()).unwrap_or(0);
            (chosen, std::env::var_os("MUTANTS_REACHED").map(Into::into))
        });
        if let Some(folder) = folder
            && !REACHED[number].swap(true, Ordering::Relaxed)
        {
            drop(std::fs::write(folder.join(number.to_string()), ""));
        }
        *chosen == number
    }
}
"#;

/// The text of a file with these mutants in it, and where they stand. No two of them have the same place.
pub fn render(source: &str, mutants: &[&Mutant]) -> (String, Vec<Written>) {
    let mut sorted = mutants.to_vec();
    sorted.sort_by_key(|mutant| (mutant.mutation.place.start, usize::MAX - mutant.mutation.place.end));
    let mut page = Page { source, out: String::new(), written: Vec::new() };
    page.write(0..source.len(), &sorted);
    (page.out, page.written)
}

struct Page<'a> {
    source: &'a str,
    out: String,
    written: Vec<Written>,
}

impl Page<'_> {
    fn write(&mut self, range: Range<usize>, mutants: &[&Mutant]) {
        let mut at = range.start;
        for mutant in mutants {
            let place = &mutant.mutation.place;
            if place.start < at || place.end > range.end {
                continue;
            }
            self.out.push_str(self.source.get(at..place.start).unwrap_or_default());
            let from = self.out.len();
            for piece in &mutant.mutation.pieces {
                match piece {
                    Piece::Text(text) => {
                        self.out.push_str(&text.replace('@', &format!("crate::mutant_switch::on({})", mutant.number)));
                    }
                    Piece::Original(inner) => {
                        let within: Vec<&Mutant> = mutants
                            .iter()
                            .copied()
                            .filter(|other| lies_in(&other.mutation.place, inner, place))
                            .collect();
                        self.write(inner.clone(), &within);
                    }
                }
            }
            self.written.push(Written { number: mutant.number, place: from..self.out.len() });
            at = place.end;
        }
        self.out.push_str(self.source.get(at..range.end).unwrap_or_default());
    }
}

fn lies_in(place: &Range<usize>, inner: &Range<usize>, of: &Range<usize>) -> bool {
    place != of && place.start >= inner.start && place.end <= inner.end
}

/// A copy of the tree in another folder: what the tests need, never the original.
pub struct ScratchTree {
    /// The tree that is tested.
    pub root: PathBuf,
    /// Its copy.
    pub folder: PathBuf,
}

impl ScratchTree {
    /// Makes the copy equal to the tree. A file that is equal already keeps its time, so cargo builds little anew.
    pub fn refresh(&self, changed: &dyn Fn(&Path) -> Option<String>) -> io::Result<()> {
        let mut kept = std::collections::HashSet::new();
        let walk = ignore::WalkBuilder::new(&self.root)
            .hidden(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        for entry in walk {
            let entry = entry.map_err(io::Error::other)?;
            let Ok(path) = entry.path().strip_prefix(&self.root) else { continue };
            let target = self.folder.join(path);
            kept.insert(target.clone());
            if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                fs::create_dir_all(&target)?;
            } else if entry.file_type().is_some_and(|kind| kind.is_file()) {
                let mut bytes = changed(path).map_or_else(|| fs::read(entry.path()), |text| Ok(text.into_bytes()))?;
                if path == Path::new("src/lib.rs") {
                    bytes.extend(SWITCH.bytes());
                }
                if fs::read(&target).ok().as_ref() != Some(&bytes) {
                    fs::write(&target, bytes)?;
                    fs::set_permissions(&target, fs::metadata(entry.path())?.permissions())?;
                }
            }
        }
        remove_others(&self.folder, &kept)
    }
}

fn remove_others(folder: &Path, kept: &std::collections::HashSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            remove_others(&path, kept)?;
            if !kept.contains(&path) {
                drop(fs::remove_dir(&path));
            }
        } else if !kept.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
