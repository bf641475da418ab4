//! What a script says, as plain data: definitions, calls, reads of arguments. Rules need no rhai.

mod walk;

use super::Program;
use crate::primitive::Effect;
use crate::primitives;
use crate::source::{Place, Source};
use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

/// One script, surveyed by itself: before anything is merged, so that every place is in this file.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The script.
    pub source: Arc<Source>,
    /// Its named functions, in the order they are written.
    pub functions: Vec<Definition>,
    /// Every call in it, but for operators.
    pub calls: Vec<Call>,
    /// Every property read of a parameter: `args.x`, `args["x"]`, `args?.x`.
    pub reads: Vec<Read>,
    /// Every assignment to a parameter, or to a part of one: the caller does not see it.
    pub assignments: Vec<Assignment>,
    /// Every closure that names the variable whose method it is passed to: rhai refuses it when it runs.
    pub captures: Vec<Capture>,
    /// Every `Fn(…)`.
    pub pointers: Vec<Pointer>,
}

/// A named function.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// Its body, braces included.
    pub body: Place,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The name that is called.
    pub name: String,
    /// The number of arguments; the receiver of a method counts.
    pub arguments: usize,
    /// Whether it is written as a method.
    pub method: bool,
    /// The variable at the head of a method's receiver: `a` in `a.b.push(1)`.
    pub receiver: Option<String>,
    /// The arguments that are literal texts: which one (the receiver is 0) and what it says.
    pub texts: Vec<(usize, String)>,
    /// The keys of the arguments that are literal maps: which argument, and one of its keys.
    pub keys: Vec<(usize, String)>,
    /// Where the name stands.
    pub at: Place,
    /// The named function around it: an index of [`Survey::functions`]. A call in a closure is in the function
    /// around the closure.
    pub function: Option<usize>,
}

/// A property read of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The parameter.
    pub variable: String,
    /// The property.
    pub property: String,
    /// Where the property stands.
    pub at: Place,
    /// The function around it.
    pub function: usize,
}

/// An assignment to a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The parameter.
    pub parameter: String,
    /// Whether all of it is assigned, not a part: that is harmless.
    pub whole: bool,
    /// Where.
    pub at: Place,
    /// The function around it.
    pub function: usize,
}

/// A closure that names the variable whose method it is passed to.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// The variable.
    pub variable: String,
    /// The method.
    pub method: String,
    /// Where the method stands.
    pub at: Place,
}

/// `Fn("name")`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pointer {
    /// The name, if it is a literal text.
    pub name: Option<String>,
    /// Where.
    pub at: Place,
    /// The function around it.
    pub function: Option<usize>,
}

/// What a function does at most, and the calls that lead there.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectChain {
    /// The effect.
    pub effect: Effect,
    /// The calls, outermost first; the last one is of the primitive that has the effect. Empty if it is pure.
    pub calls: Vec<(String, Place)>,
}

impl Survey {
    /// The place of the first call, pointer or read in `function` that satisfies a test on calls.
    pub fn calls_in(&self, function: usize) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |call| call.function == Some(function))
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<(usize, &Definition)> {
        self.functions.iter().enumerate().find(|(_, definition)| definition.name == name)
    }
}

impl Program {
    /// The surveys of its scripts, sorted by path.
    pub fn surveys(&self) -> &[Survey] {
        self.inner().surveys.get_or_init(|| self.inner().scripts.iter().map(walk::survey).collect())
    }

    /// The survey of one script.
    pub fn survey(&self, script: &str) -> Option<&Survey> {
        self.surveys().iter().find(|survey| survey.source.path == script)
    }

    /// What a function does at most, over all it calls: by name, in its script and the library, by `Fn("name")`, and
    /// by the name given to a primitive.
    pub fn effect(&self, script: &str, function: &str) -> EffectChain {
        let mut strongest = EffectChain { effect: Effect::Pure, calls: Vec::new() };
        self.walk(script, function, |name, calls| {
            let effect = primitives::find(name).map_or(Effect::Pure, |primitive| primitive.effect);
            if effect > strongest.effect {
                strongest = EffectChain { effect, calls: calls() };
            }
            ControlFlow::Continue(())
        });
        strongest
    }

    /// The calls that lead from a function to the first of these primitives, outermost first; nothing if it reaches
    /// none of them.
    pub fn reaches(&self, script: &str, function: &str, primitives: &[&str]) -> Option<Vec<(String, Place)>> {
        let mut found = None;
        self.walk(script, function, |name, calls| {
            if !primitives.contains(&name) {
                return ControlFlow::Continue(());
            }
            found = Some(calls());
            ControlFlow::Break(())
        });
        found
    }

    /// The functions that a function may call, itself among them: the path of the script of each, and its name.
    pub fn called_from(&self, script: &str, function: &str) -> Vec<(&str, &str)> {
        let visited = self.walk(script, function, |_, _| ControlFlow::Continue(()));
        let named = |node: Node| {
            let survey = self.surveys().get(node.script)?;
            Some((survey.source.path.as_str(), survey.functions.get(node.function)?.name.as_str()))
        };
        visited.into_iter().filter_map(named).collect()
    }

    /// Visits what a function calls that is no function of the pack, the nearest first, each with a way to tell the
    /// calls that lead there, outermost first. Gives the functions that were visited.
    fn walk(
        &self,
        script: &str,
        function: &str,
        mut visit: impl FnMut(&str, &dyn Fn() -> Vec<(String, Place)>) -> ControlFlow<()>,
    ) -> Vec<Node> {
        let mut came_from: HashMap<Node, Option<(Node, String, Place)>> = HashMap::new();
        let mut queue: VecDeque<Node> = self.nodes_named(script, function).collect();
        for node in &queue {
            came_from.insert(*node, None);
        }
        while let Some(node) = queue.pop_front() {
            let survey = &self.surveys()[node.script];
            for (name, at, is_call) in survey.named_in(node.function) {
                let targets: Vec<Node> = self.nodes_named(&survey.source.path, name).collect();
                let calls = || chain(&came_from, node, (name, at));
                if is_call && targets.is_empty() && visit(name, &calls).is_break() {
                    return came_from.into_keys().collect();
                }
                for target in targets {
                    came_from.entry(target).or_insert_with(|| {
                        queue.push_back(target);
                        Some((node, name.to_owned(), at.clone()))
                    });
                }
            }
        }
        came_from.into_keys().collect()
    }

    /// The functions that a name stands for in a script: its own, else those of the library.
    fn nodes_named<'a>(&'a self, script: &'a str, name: &'a str) -> impl Iterator<Item = Node> + 'a {
        let nodes_of = move |(at, survey): (usize, &'a Survey)| {
            let functions = survey.functions.iter().enumerate().filter(move |(_, known)| known.name == name);
            functions.map(move |(function, _)| Node { script: at, function })
        };
        let all = || self.surveys().iter().enumerate();
        let own: Vec<Node> = all().filter(|(_, survey)| survey.source.path == script).flat_map(nodes_of).collect();
        let shared = all().filter(|(at, _)| self.inner().scripts[*at].shared).flat_map(nodes_of);
        let shared: Vec<Node> = if own.is_empty() { shared.collect() } else { Vec::new() };
        own.into_iter().chain(shared)
    }
}

/// A function of a script, by their indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    script: usize,
    function: usize,
}

impl Survey {
    /// The names in a function that may stand for functions: called, pointed to, or given as a text.
    fn named_in(&self, function: usize) -> impl Iterator<Item = (&str, &Place, bool)> {
        let calls = self.calls_in(function).flat_map(|call| {
            let texts = call.texts.iter().map(|(_, text)| (text.as_str(), &call.at, false));
            std::iter::once((call.name.as_str(), &call.at, true)).chain(texts)
        });
        let pointers = self.pointers.iter().filter(move |pointer| pointer.function == Some(function));
        calls.chain(pointers.filter_map(|pointer| Some((pointer.name.as_deref()?, &pointer.at, true))))
    }
}

fn chain(
    came_from: &HashMap<Node, Option<(Node, String, Place)>>,
    mut node: Node,
    last: (&str, &Place),
) -> Vec<(String, Place)> {
    let mut calls = vec![(last.0.to_owned(), last.1.clone())];
    while let Some(Some((caller, name, at))) = came_from.get(&node) {
        calls.push((name.clone(), at.clone()));
        node = *caller;
    }
    calls.reverse();
    calls
}
