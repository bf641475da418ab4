//! Which file names what of which other file: paths are resolved to the file that defines the item, through
//! `super::`, `self::`, imports, renames, globs and re-exports.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, UseTree};

/// The files that a file names, and the items of each by which it does.
pub type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// What a name in a module stands for.
enum Binding {
    Item,
    Module(usize),
    Import(Vec<String>),
}

/// The target of a path. Items of other crates have none here.
enum Target {
    Module(usize),
    Item { module: usize, name: String },
}

#[derive(Default)]
struct Module {
    file: String,
    parent: Option<usize>,
    names: BTreeMap<String, Binding>,
    globs: Vec<Vec<String>>,
    paths: Vec<Vec<String>>,
}

/// A crate as its sources define it: without what is compiled for tests only.
struct Crate<'a> {
    sources: &'a BTreeMap<String, String>,
    modules: Vec<Module>,
}

/// Which files of a crate name which others. `sources` are its texts by their paths below `src`, with `lib.rs` among
/// them. A file that only re-exports an item (`pub use`) does not count as named: the one that defines it does.
pub fn imports(sources: &BTreeMap<String, String>) -> Imports {
    let mut all = Crate { sources, modules: Vec::new() };
    all.read_file("lib.rs", "", None);
    let mut found = Imports::new();
    for (at, module) in all.modules.iter().enumerate() {
        for path in &module.paths {
            let Some(Target::Item { module: defining, name }) = all.resolve(at, path, 0) else { continue };
            let other = &all.modules[defining].file;
            if *other != module.file {
                found.entry(module.file.clone()).or_default().entry(other.clone()).or_default().insert(name);
            }
        }
    }
    found
}

impl Crate<'_> {
    /// Reads the module in `file`, whose children are in `folder`.
    fn read_file(&mut self, file: &str, folder: &str, parent: Option<usize>) -> usize {
        let text = self.sources.get(file).unwrap_or_else(|| panic!("src/{file} is declared and not there"));
        let syntax = syn::parse_file(text).unwrap_or_else(|error| panic!("src/{file}: {error}"));
        self.read_items(file, folder, parent, &syntax.items)
    }

    fn read_items(&mut self, file: &str, folder: &str, parent: Option<usize>, items: &[Item]) -> usize {
        let at = self.modules.len();
        self.modules.push(Module { file: file.to_owned(), parent, ..Module::default() });
        let mut paths = Paths::default();
        for item in items.iter().filter(|item| !only_for_tests(item)) {
            match item {
                Item::Mod(module) => {
                    let name = module.ident.to_string();
                    let inside = format!("{folder}{name}/");
                    let child = match &module.content {
                        Some((_, inner)) => self.read_items(file, &inside, Some(at), inner),
                        None => self.read_file(&format!("{folder}{name}.rs"), &inside, Some(at)),
                    };
                    self.modules[at].names.insert(name, Binding::Module(child));
                }
                Item::Use(import) => {
                    let passed_on = !matches!(import.vis, syn::Visibility::Inherited);
                    self.read_import(at, &import.tree, &mut Vec::new(), passed_on);
                }
                _ => {
                    if let Some(name) = name_of(item) {
                        self.modules[at].names.insert(name, Binding::Item);
                    }
                    paths.visit_item(item);
                }
            }
        }
        self.modules[at].paths.append(&mut paths.0);
        at
    }

    /// Notes what an import binds. One that is not passed on counts as named: a trait is used without being said.
    fn read_import(&mut self, at: usize, tree: &UseTree, before: &mut Vec<String>, passed_on: bool) {
        let (bound, path) = match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.read_import(at, &path.tree, before, passed_on);
                before.pop();
                return;
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.read_import(at, tree, before, passed_on);
                }
                return;
            }
            UseTree::Glob(_) => {
                self.modules[at].globs.push(before.clone());
                return;
            }
            UseTree::Name(name) => (&name.ident, &name.ident),
            UseTree::Rename(rename) => (&rename.rename, &rename.ident),
        };
        let mut full = before.clone();
        let bound = match path.to_string().as_str() {
            "self" if bound == path => before.last().cloned().unwrap_or_default(),
            "self" => bound.to_string(),
            last => {
                full.push(last.to_owned());
                bound.to_string()
            }
        };
        if !passed_on {
            self.modules[at].paths.push(full.clone());
        }
        self.modules[at].names.entry(bound).or_insert(Binding::Import(full));
    }

    /// Resolves `path`, written in the module `at`.
    fn resolve(&self, at: usize, path: &[String], depth: usize) -> Option<Target> {
        // Imports that name each other are not valid Rust; a bound keeps this from following them forever.
        if depth > 32 {
            return None;
        }
        let mut here = at;
        for (index, segment) in path.iter().enumerate() {
            here = match segment.as_str() {
                "crate" if index == 0 => 0,
                "self" => here,
                "super" => self.modules[here].parent?,
                name => match self.look_up(here, name, depth)? {
                    Target::Module(module) => module,
                    item @ Target::Item { .. } => return Some(item),
                },
            };
        }
        Some(Target::Module(here))
    }

    fn look_up(&self, at: usize, name: &str, depth: usize) -> Option<Target> {
        let module = &self.modules[at];
        match module.names.get(name) {
            Some(Binding::Item) => Some(Target::Item { module: at, name: name.to_owned() }),
            Some(Binding::Module(child)) => Some(Target::Module(*child)),
            // `use serde;` binds the name of a crate to itself.
            Some(Binding::Import(path)) if *path == [name] => None,
            Some(Binding::Import(path)) => self.resolve(at, path, depth + 1),
            None => module.globs.iter().find_map(|glob| match self.resolve(at, glob, depth + 1)? {
                Target::Module(other) if other != at => self.look_up(other, name, depth + 1),
                _ => None,
            }),
        }
    }
}

fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

fn only_for_tests(item: &Item) -> bool {
    let attributes = match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().starts_with("test"),
        _ => false,
    })
}

/// Every path in an item, those inside of macros too.
#[derive(Default)]
struct Paths(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.read_tokens(call.tokens.clone());
    }

    /// Attributes name what derives and tools know, nothing of this crate.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

impl Paths {
    /// The words between `::`, of tokens that are not syntax yet.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.0.push(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.0.push(std::mem::take(&mut path));
                    self.read_tokens(group.stream());
                    colons = 0;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.0.push(std::mem::take(&mut path));
                    colons = 0;
                }
            }
        }
        self.0.push(path);
    }
}
