//! The programs that a program needs to be loaded: the loader that an ELF file names, the interpreter of a script.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The type of the program header that names the loader: `PT_INTERP` (System V ABI, chapter 5).
const NAMES_LOADER: u32 = 3;
/// Further interpreters are not looked for: the kernel goes no deeper.
const DEEPEST: usize = 4;

/// The files that are executed with a program before it runs, itself first: each an absolute path.
pub(super) fn chain(program: &str) -> Vec<String> {
    let mut chain = vec![program.to_owned()];
    while let Some(next) = chain.last().and_then(|last| interpreter(last))
        && chain.len() < DEEPEST
        && !chain.contains(&next)
    {
        chain.push(next);
    }
    chain
}

fn interpreter(program: &str) -> Option<String> {
    let file = File::open(program).ok()?;
    let mut head = vec![0; 4096];
    let length = file.read_at(&mut head, 0).ok()?;
    head.truncate(length);
    let named = match head.strip_prefix(b"#!") {
        Some(line) => {
            let line = line.split(|byte| *byte == b'\n').next()?;
            String::from_utf8(line.to_vec()).ok()?.split_whitespace().next()?.to_owned()
        }
        None => loader(&file, &head)?,
    };
    named.starts_with('/').then_some(named)
}

/// What a 64-bit ELF file of this machine's byte order names as its loader.
fn loader(file: &File, head: &[u8]) -> Option<String> {
    head.starts_with(b"\x7fELF\x02").then_some(())?;
    let half = |bytes: &[u8], at: usize| Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let word = |bytes: &[u8], at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let long = |bytes: &[u8], at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (table, size, count) = (long(head, 32)?, half(head, 54)?, half(head, 56)?);
    let mut entry = [0; 56];
    for number in 0..u64::from(count) {
        file.read_exact_at(&mut entry, table.checked_add(number * u64::from(size))?).ok()?;
        if word(&entry, 0)? == NAMES_LOADER {
            let mut name = vec![0; usize::try_from(long(&entry, 32)?).ok().filter(|length| *length <= 4096)?];
            file.read_exact_at(&mut name, long(&entry, 8)?).ok()?;
            return String::from_utf8(name).ok().map(|name| name.trim_end_matches('\0').to_owned());
        }
    }
    None
}
