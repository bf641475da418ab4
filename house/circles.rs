use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{Item, UseTree};

#[derive(Default)]
struct Module { file: String, items: BTreeMap<String, Bind>, globs: Vec<Vec<String>>, parent: Option<usize>, name: String }
#[derive(Clone, Debug)]
enum Bind { Item, Module(usize), Use(Vec<String>) }

struct Crate { modules: Vec<Module>, syntax: Vec<(usize, Vec<Item>)> }

fn is_test(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|a| a.path().is_ident("cfg") && quote::ToTokens::to_token_stream(&a.meta).to_string().replace(' ', "").contains("cfg(test"))
}

impl Crate {
    fn read(&mut self, root: &Path, file: &Path, folder: &Path, parent: Option<usize>, name: &str) -> usize {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{file:?} {e}"));
        let syntax = syn::parse_file(&text).unwrap();
        let label = file.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        self.module(root, label, folder, parent, name, syntax.items)
    }
    fn module(&mut self, root: &Path, file: String, folder: &Path, parent: Option<usize>, name: &str, items: Vec<Item>) -> usize {
        let at = self.modules.len();
        self.modules.push(Module { file: file.clone(), parent, name: name.into(), ..Default::default() });
        let mut keep = Vec::new();
        for item in items {
            match &item {
                Item::Mod(m) => {
                    if is_test(&m.attrs) { continue }
                    let name = m.ident.to_string();
                    let child = if let Some((_, inner)) = &m.content {
                        self.module(root, file.clone(), &folder.join(&name), Some(at), &name, inner.clone())
                    } else {
                        let mut path = folder.join(format!("{name}.rs"));
                        for a in &m.attrs { if a.path().is_ident("path") { if let syn::Meta::NameValue(v) = &a.meta { let s = quote::ToTokens::to_token_stream(&v.value).to_string(); path = folder.join(s.trim_matches('"')); } } }
                        if !path.exists() { path = folder.join(&name).join("mod.rs"); }
                        if !path.exists() { eprintln!("no {path:?}"); continue }
                        self.read(root, &path, &folder.join(&name), Some(at), &name)
                    };
                    self.modules[at].items.insert(name, Bind::Module(child));
                    continue;
                }
                Item::Use(u) => { if !is_test(&u.attrs) { self.tree(at, &u.tree, &mut vec![]); } }
                Item::Fn(i) => { if is_test(&i.attrs) { continue } self.put(at, &i.sig.ident) }
                Item::Struct(i) => self.put(at, &i.ident),
                Item::Enum(i) => self.put(at, &i.ident),
                Item::Trait(i) => self.put(at, &i.ident),
                Item::Type(i) => self.put(at, &i.ident),
                Item::Const(i) => { if is_test(&i.attrs) { continue } self.put(at, &i.ident) }
                Item::Static(i) => self.put(at, &i.ident),
                Item::Union(i) => self.put(at, &i.ident),
                Item::Macro(i) => if let Some(n) = &i.ident { self.put(at, n) },
                Item::Impl(i) => if is_test(&i.attrs) { continue },
                _ => {}
            }
            keep.push(item);
        }
        self.syntax.push((at, keep));
        at
    }
    fn put(&mut self, at: usize, ident: &syn::Ident) { self.modules[at].items.insert(ident.to_string(), Bind::Item); }
    fn tree(&mut self, at: usize, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(p) => { before.push(p.ident.to_string()); self.tree(at, &p.tree, before); before.pop(); }
            UseTree::Name(n) => {
                let mut path = before.clone();
                let name = if n.ident == "self" { before.last().unwrap().clone() } else { path.push(n.ident.to_string()); n.ident.to_string() };
                self.modules[at].items.entry(name).or_insert(Bind::Use(path));
            }
            UseTree::Rename(n) => { let mut path = before.clone(); if n.ident != "self" { path.push(n.ident.to_string()); } self.modules[at].items.insert(n.rename.to_string(), Bind::Use(path)); }
            UseTree::Glob(_) => self.modules[at].globs.push(before.clone()),
            UseTree::Group(g) => for t in &g.items { self.tree(at, t, before) },
        }
    }
    /// file of the item, or None if a module or foreign
    fn resolve(&self, at: usize, path: &[String], depth: usize) -> Option<Target> {
        if depth > 20 || path.is_empty() { return None }
        let mut here = at; let mut rest = path; let mut first = true;
        loop {
            let Some(seg) = rest.first() else { return Some(Target::Module(here)) };
            match seg.as_str() {
                "crate" if first => { here = 0; rest = &rest[1..]; first = false; continue }
                "self" => { rest = &rest[1..]; first = false; continue }
                "super" => { here = self.modules[here].parent?; rest = &rest[1..]; first = false; continue }
                _ => {}
            }
            let found = self.lookup(here, seg, depth)?;
            match found {
                Target::Module(m) => { here = m; rest = &rest[1..]; first = false; }
                other => return Some(other),
            }
        }
    }
    fn lookup(&self, at: usize, name: &str, depth: usize) -> Option<Target> {
        let module = &self.modules[at];
        match module.items.get(name) {
            Some(Bind::Item) => return Some(Target::Item(at, name.to_string())),
            Some(Bind::Module(m)) => return Some(Target::Module(*m)),
            Some(Bind::Use(p)) => { if p.len()==1 && p[0]==name { return None } return self.resolve(at, p, depth + 1) }
            None => {}
        }
        for glob in &module.globs {
            if let Some(Target::Module(m)) = self.resolve(at, glob, depth + 1) && m != at {
                if let Some(t) = self.lookup(m, name, depth + 1) { return Some(t) }
            }
        }
        None
    }
}
#[derive(Clone, Debug)]
enum Target { Module(usize), Item(usize, String) }

struct Paths(Vec<Vec<String>>);
impl<'a> Visit<'a> for Paths {
    fn visit_path(&mut self, p: &'a syn::Path) {
        self.0.push(p.segments.iter().map(|s| s.ident.to_string()).collect());
        syn::visit::visit_path(self, p);
    }
    fn visit_macro(&mut self, m: &'a syn::Macro) {
        self.visit_path(&m.path);
        tokens(m.tokens.clone(), &mut self.0);
    }
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}
}
fn tokens(stream: proc_macro2::TokenStream, out: &mut Vec<Vec<String>>) {
    use proc_macro2::TokenTree as T;
    let mut current: Vec<String> = vec![]; let mut colons = 0; let mut after_dot = false;
    for t in stream {
        match t {
            T::Ident(i) => {
                if colons == 2 && !current.is_empty() { current.push(i.to_string()); }
                else { if !current.is_empty() { out.push(std::mem::take(&mut current)); } if !after_dot { current = vec![i.to_string()]; } }
                colons = 0; after_dot = false;
            }
            T::Punct(p) if p.as_char() == ':' => colons += 1,
            T::Group(g) => { if !current.is_empty() { out.push(std::mem::take(&mut current)); } tokens(g.stream(), out); colons = 0; after_dot=false; }
            T::Punct(p) => { if !current.is_empty() { out.push(std::mem::take(&mut current)); } colons = 0; after_dot = p.as_char()=='.'; }
            _ => { if !current.is_empty() { out.push(std::mem::take(&mut current)); } colons = 0; after_dot=false; }
        }
    }
    if !current.is_empty() { out.push(current) }
}

fn main() {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or("/work/main/src".into()));
    let mut c = Crate { modules: vec![], syntax: vec![] };
    c.read(&root, &root.join("lib.rs"), &root, None, "crate");
    let mut edges: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (at, items) in &c.syntax {
        let mut v = Paths(vec![]);
        for item in items {
            if matches!(item, Item::Use(_)) { continue }
            v.visit_item(item);
        }
        // private uses also count as dependencies (traits!)
        for (name, b) in &c.modules[*at].items { if let Bind::Use(p) = b { let _ = name; v.0.push(p.clone()); } }
        let own = &c.modules[*at].file;
        for p in v.0 {
            if let Some(Target::Item(m, n)) = c.resolve(*at, &p, 0) {
                let other = &c.modules[m].file;
                if other != own { edges.entry(own.clone()).or_default().entry(other.clone()).or_default().insert(n); }
            }
        }
    }
    // re-exports: `pub use` in a file whose name is never used otherwise shall not count: drop edges that come only from pub use
    let nodes: BTreeSet<&String> = edges.iter().flat_map(|(a, b)| std::iter::once(a).chain(b.keys())).collect();
    let index: HashMap<&String, usize> = nodes.iter().enumerate().map(|(i, n)| (*n, i)).collect();
    let names: Vec<&String> = nodes.iter().copied().collect();
    let adj: Vec<Vec<usize>> = names.iter().map(|n| edges.get(*n).map(|m| m.keys().map(|k| index[k]).collect()).unwrap_or_default()).collect();
    let comps = tarjan(&adj);
    let mut total = 0;
    for comp in comps.iter().filter(|c| c.len() > 1) {
        total += comp.len();
        println!("circle of {}:", comp.len());
        let set: BTreeSet<usize> = comp.iter().copied().collect();
        for &i in comp { for &j in &adj[i] { if set.contains(&j) { println!("   {} -> {}  {:?}", names[i], names[j], edges[names[i]][names[j]]); } } }
    }
    println!("files in circles: {total} of {}", names.len());
    // rooms
    let mut rooms: BTreeMap<String,(usize,usize)> = BTreeMap::new();
    for n in &names { rooms.entry(n.split(['/','.']).next().unwrap().into()).or_default().1 += 1; }
    for comp in comps.iter().filter(|c| c.len() > 1) { for &i in comp { rooms.get_mut(names[i].split(['/','.']).next().unwrap()).unwrap().0 += 1; } }
    for (r,(a,b)) in rooms { if a>0 { println!("{r}: {a} of {b}"); } }
}
fn tarjan(adj: &[Vec<usize>]) -> Vec<Vec<usize>> {
    struct S<'a> { adj: &'a [Vec<usize>], idx: Vec<i64>, low: Vec<i64>, on: Vec<bool>, st: Vec<usize>, n: i64, out: Vec<Vec<usize>> }
    fn go(s: &mut S, v: usize) {
        s.idx[v] = s.n; s.low[v] = s.n; s.n += 1; s.st.push(v); s.on[v] = true;
        for &w in &s.adj[v] { if s.idx[w] < 0 { go(s, w); s.low[v] = s.low[v].min(s.low[w]); } else if s.on[w] { s.low[v] = s.low[v].min(s.idx[w]); } }
        if s.low[v] == s.idx[v] { let mut c = vec![]; loop { let w = s.st.pop().unwrap(); s.on[w] = false; c.push(w); if w == v { break } } s.out.push(c); }
    }
    let n = adj.len();
    let mut s = S { adj, idx: vec![-1; n], low: vec![0; n], on: vec![false; n], st: vec![], n: 0, out: vec![] };
    for v in 0..n { if s.idx[v] < 0 { go(&mut s, v) } }
    s.out
}
