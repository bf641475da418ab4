//! Puts the packs into the binary: their files as they are, and the trees of their definitions, so that a start need not
//! parse them.

use std::error::Error;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, fs};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[path = "src/parse/toml/packed.rs"]
mod packed;

use packed::{PackedItem, PackedStep};

/// What a pack is made of, and where.
const FOLDERS: [&str; 3] = ["tools.d", "prompts", "templates"];

type Outcome<T> = Result<T, Box<dyn Error>>;

#[allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]
fn main() -> Outcome<()> {
    let (root, out) = (PathBuf::from(env::var("CARGO_MANIFEST_DIR")?), PathBuf::from(env::var("OUT_DIR")?));
    let mut table = String::from("[\n");
    for folder in FOLDERS {
        println!("cargo:rerun-if-changed={folder}");
        for path in files(&root.join(folder))? {
            let name = path.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
            table.push_str(&entry(&name, &path, &out).map_err(|fault| format!("{name}: {fault}"))?);
        }
    }
    table.push_str("]\n");
    fs::write(out.join("packs.rs"), table)?;
    Ok(())
}

/// The files of a folder and of those in it, sorted; hidden ones are none of a pack.
fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path())?);
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// A file as `registry::embedded` declares it.
fn entry(name: &str, path: &Path, out: &Path) -> Outcome<String> {
    let Ok(text) = String::from_utf8(fs::read(path)?) else {
        return Ok(format!("Embedded {{ path: {name:?}, content: Content::Bytes(include_bytes!({path:?})) }},\n"));
    };
    let mut entry = format!("Embedded {{ path: {name:?}, content: Content::Text(include_str!({path:?}), ");
    if name.ends_with(".toml") {
        let file = out.join(format!("{}.tree", name.replace('/', ".")));
        let mut tree = Vec::new();
        table(DeTable::parse(&text)?.get_ref(), 0..0, &mut Vec::new(), &mut tree)?;
        fs::write(&file, tree)?;
        writeln!(entry, "include_bytes!({file:?})) }},")?;
    } else {
        entry.push_str("&[]) },\n");
    }
    Ok(entry)
}

/// Whether what stands there is run by tests only: examples, cases and fixtures are left out.
fn is_test(way: &[&str]) -> bool {
    matches!(
        way,
        ["case" | "fixture"] | ["tool" | "resource" | "prompt", "example"] | ["tool", "operations", _, "example"]
    )
}

fn table<'a>(of: &'a DeTable<'_>, at: Range<usize>, way: &mut Vec<&'a str>, tree: &mut Vec<u8>) -> Outcome<()> {
    let first = tree.len();
    let mut entries = 0;
    for (key, node) in of {
        way.push(key.get_ref());
        if !is_test(way) {
            entries += 1;
            put(key.span(), PackedItem::Key(key.get_ref()), tree)?;
            value(node, way, tree)?;
        }
        way.pop();
    }
    let rest = tree.split_off(first);
    put(at, PackedItem::Table(entries), tree)?;
    tree.extend(rest);
    Ok(())
}

fn value<'a>(of: &'a Spanned<DeValue<'_>>, way: &mut Vec<&'a str>, tree: &mut Vec<u8>) -> Outcome<()> {
    let at = of.span();
    match of.get_ref() {
        DeValue::String(text) => put(at, PackedItem::Text(text), tree),
        DeValue::Boolean(flag) => put(at, PackedItem::Boolean(*flag), tree),
        DeValue::Integer(number) => {
            put(at, PackedItem::Integer(i64::from_str_radix(number.as_str(), number.radix())?), tree)
        }
        DeValue::Float(number) => put(at, PackedItem::Float(number.as_str().parse()?), tree),
        DeValue::Datetime(date) => Err(format!("a bare date: {date}").into()),
        DeValue::Array(items) => {
            put(at, PackedItem::List(u32::try_from(items.len())?), tree)?;
            items.iter().try_for_each(|item| value(item, way, tree))
        }
        DeValue::Table(of) => table(of, at, way, tree),
    }
}

fn put(at: Range<usize>, item: PackedItem<'_>, tree: &mut Vec<u8>) -> Outcome<()> {
    let step = PackedStep { start: u32::try_from(at.start)?, end: u32::try_from(at.end)?, item };
    tree.extend(postcard::to_allocvec(&step)?);
    Ok(())
}
