//! The walk through two schemas at once: where it is, which way round acceptance is held, what was found.

use super::super::change::{Change, Verdict};
use super::super::wording::text_change;
use super::normal::{bare, follow, refers, refers_to_definitions};
use super::relation::Relation;
use crate::value::Json;
use std::cell::{Cell, RefCell};

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The arguments of a call.
    Arguments,
    /// The settings of a pack in a project.
    Settings,
    /// The result of a call.
    Result,
}

impl Role {
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Arguments => "argument",
            Self::Settings => "setting",
            Self::Result => "field",
        }
    }

    /// What a change means for a caller.
    fn consequence(self, verdict: Verdict) -> &'static str {
        match (self, verdict) {
            (Self::Arguments, Verdict::Breaking) => "a call that was accepted may be refused",
            (Self::Arguments, _) => "calls that were accepted still are",
            (Self::Settings, Verdict::Breaking) => "a setting that was accepted may be refused",
            (Self::Settings, _) => "settings that were accepted still are",
            (Self::Result, Verdict::Breaking) => "a client that listed the old schema may refuse results",
            (Self::Result, _) => "results still fit the old schema",
        }
    }
}

/// A part of a schema, in words.
#[derive(Clone, Debug)]
pub(super) struct Part {
    owner: String,
    path: String,
}

impl Part {
    pub(super) fn whole(owner: &str) -> Self {
        Self { owner: owner.to_owned(), path: String::new() }
    }

    pub(super) fn property(&self, name: &str) -> Self {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Self { path, owner: self.owner.clone() }
    }

    pub(super) fn items(&self) -> Self {
        Self { path: format!("{}[]", self.path), owner: self.owner.clone() }
    }

    /// One of several alternatives.
    pub(super) fn alternative(&self, name: &str) -> Self {
        Self { path: self.path.clone(), owner: format!("{}, {name}", self.owner) }
    }

    fn words(&self, role: Role) -> String {
        match (self.path.is_empty(), role) {
            (false, role) => format!("{}, {} `{}`", self.owner, role.noun(), self.path),
            (true, Role::Result) => format!("{}, result", self.owner),
            (true, Role::Arguments) => format!("{}, arguments", self.owner),
            (true, Role::Settings) => format!("{}, settings", self.owner),
        }
    }
}

/// Maximum number of pairs of schemas that one comparison looks at.
const MAX_PAIRS: usize = 20_000;
/// Maximum depth of nested pairs.
const MAX_DEPTH: usize = 48;

/// A comparison of two schemas.
pub(super) struct Comparison<'a> {
    pack: &'a str,
    pub(super) role: Role,
    pub(super) old_root: &'a Json,
    pub(super) new_root: &'a Json,
    /// Whether equal references mean equal schemas: in full, and without annotations.
    same_definitions: [bool; 2],
    open: RefCell<Vec<(&'a Json, &'a Json)>>,
    pairs: Cell<usize>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(pack: &'a str, role: Role, old_root: &'a Json, new_root: &'a Json) -> Self {
        let is_plain = [old_root, new_root].into_iter().all(refers_to_definitions);
        let equal = |change: fn(&Json) -> Json| {
            ["$defs", "definitions"].iter().all(|key| {
                let of = |root: &Json| root.get(*key).map(|defs| change(&serde_json::json!({ "$defs": defs })));
                of(old_root) == of(new_root)
            })
        };
        let same_definitions = [is_plain && equal(Json::clone), is_plain && equal(bare)];
        let (open, pairs) = (RefCell::default(), Cell::new(0));
        Self { pack, role, old_root, new_root, same_definitions, open, pairs }
    }

    /// Whether two schemas are equal, apart from annotations.
    pub(super) fn is_same(&self, old: &Json, new: &Json) -> bool {
        bare(old) == bare(new) && (!refers(old) || self.same_definitions[1] || self.old_root == self.new_root)
    }

    fn is_equal(&self, old: &Json, new: &Json) -> bool {
        old == new && (!refers(old) || self.same_definitions[0] || self.old_root == self.new_root)
    }

    /// The one that must accept less comes first: calls are made by the old schema, results by the new one.
    pub(super) fn narrow_and_wide<T>(&self, old: T, new: T) -> (T, T) {
        if self.role == Role::Result { (new, old) } else { (old, new) }
    }

    /// Whether the wide schema accepts all that the narrow one accepts, as far as the texts show it.
    pub(super) fn implies(&self, narrow: &'a Json, wide: &'a Json) -> bool {
        let (old, new) = self.narrow_and_wide(narrow, wide);
        let mut found = Vec::new();
        self.node(old, new, &Part::whole(""), &mut found);
        found.iter().all(|change| change.verdict < Verdict::Breaking)
    }

    /// Compares two schemas, and everything within them.
    pub(super) fn node(&self, old: &'a Json, new: &'a Json, part: &Part, found: &mut Vec<Change>) {
        if self.is_equal(old, new) {
            return;
        }
        let depth = self.open.borrow().len();
        if self.pairs.replace(self.pairs.get() + 1) > MAX_PAIRS || depth > MAX_DEPTH {
            self.report(Relation::Unknown, "the schema", "is too large to be compared", part, found);
            return;
        }
        let (Some(old_target), Some(new_target)) = (follow(old, self.old_root), follow(new, self.new_root)) else {
            self.report(Relation::Unknown, "a reference", "cannot be followed", part, found);
            return;
        };
        self.annotations([old, old_target], [new, new_target], part, found);
        let is_open = |(old, new): &(&Json, &Json)| std::ptr::eq(*old, old_target) && std::ptr::eq(*new, new_target);
        if self.open.borrow().iter().any(is_open) {
            return;
        }
        self.open.borrow_mut().push((old_target, new_target));
        self.keywords(old_target, new_target, part, found);
        self.open.borrow_mut().pop();
    }

    /// Texts of a schema: of the reference, or of what it leads to.
    fn annotations(&self, old: [&Json; 2], new: [&Json; 2], part: &Part, found: &mut Vec<Change>) {
        for (keyword, kind) in [
            ("description", "description-changed"),
            ("title", "title-changed"),
            ("examples", "examples-changed"),
            ("deprecated", "deprecation-changed"),
            ("enumNames", "title-changed"),
            ("$comment", "description-changed"),
        ] {
            let [old, new] = [old, new].map(|schemas| schemas.into_iter().find_map(|schema| schema.get(keyword)));
            found.extend(text_change(self.pack, &part.words(self.role), kind, keyword, old, new));
        }
    }

    /// The verdict of a relation of constraints.
    pub(super) fn verdict(&self, relation: Relation) -> Verdict {
        match (relation, self.role) {
            (Relation::Same, _) => Verdict::None,
            (Relation::Looser, Role::Result) | (Relation::Tighter, Role::Arguments | Role::Settings) => {
                Verdict::Breaking
            }
            (Relation::Looser | Relation::Tighter, _) => Verdict::Compatible,
            (Relation::Changed | Relation::Unknown, _) => Verdict::Breaking,
        }
    }

    /// Reports a change of a constraint.
    pub(super) fn report(
        &self,
        relation: Relation,
        subject: &str,
        happened: &str,
        part: &Part,
        found: &mut Vec<Change>,
    ) {
        let kind = match relation {
            Relation::Same => return,
            Relation::Looser => "constraint-loosened",
            Relation::Tighter => "constraint-tightened",
            Relation::Changed => "constraint-changed",
            Relation::Unknown => {
                let words = match self.role {
                    Role::Result => "cannot tell whether the old schema accepts all results",
                    _ => "cannot tell whether all that was accepted still is",
                };
                let message = format!("{subject} {happened}: {words}");
                return self.change("cannot-tell", Verdict::Breaking, message, part, found);
            }
        };
        self.judged(kind, self.verdict(relation), &format!("{subject} {happened}"), part, found);
    }

    /// Reports a change together with what it means.
    pub(super) fn judged(
        &self,
        kind: &'static str,
        verdict: Verdict,
        what: &str,
        part: &Part,
        found: &mut Vec<Change>,
    ) {
        self.change(kind, verdict, format!("{what}: {}", self.role.consequence(verdict)), part, found);
    }

    pub(super) fn change(
        &self,
        kind: &'static str,
        verdict: Verdict,
        message: String,
        part: &Part,
        found: &mut Vec<Change>,
    ) {
        found.push(Change::new(self.pack, part.words(self.role), kind, verdict, message));
    }
}
