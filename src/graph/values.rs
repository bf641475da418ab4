//! Values of the whole graph that are computed when they are first read, and kept for the snapshot.

use super::{Edges, Graph, Nodes, plain};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::value::{Handle, Text, Value};
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

/// `derive_values([names], "function")`: values that one function computes together.
pub(super) struct Values {
    names: Arc<[Text]>,
    function: Text,
    made: OnceLock<Box<[Made]>>,
}

/// A value as it is kept. Nodes and edges are numbers: the snapshot does not hold itself.
enum Made {
    Plain(Value),
    Nodes(Arc<[u32]>),
    Edges(Arc<[u32]>),
}

thread_local! {
    /// Snapshots and functions whose values are being computed on this thread.
    static DOING: RefCell<Vec<(usize, Text)>> = const { RefCell::new(Vec::new()) };
}

struct Doing;

impl Drop for Doing {
    fn drop(&mut self) {
        DOING.with_borrow_mut(|doing| _ = doing.pop());
    }
}

impl Values {
    pub fn new(names: Arc<[Text]>, function: Text) -> Self {
        Self { names, function, made: OnceLock::new() }
    }

    /// The same, without what was computed: for another snapshot.
    pub fn renewed(&self) -> Self {
        Self::new(Arc::clone(&self.names), self.function.clone())
    }

    pub fn names(&self) -> &[Text] {
        &self.names
    }
}

impl Graph {
    /// A value that `derive_values` declared; `None` if none has this name.
    pub(super) fn derived_value(self: &Arc<Self>, name: &str) -> Option<Result<Value>> {
        let place = |values: &Values| values.names.iter().position(|known| **known == *name);
        let (values, place) = self.values.iter().find_map(|values| Some((values, place(values)?)))?;
        let made = match values.made.get() {
            Some(made) => made,
            None => match self.compute_values(values) {
                Ok(made) => values.made.get_or_init(|| made),
                Err(fault) => return Some(Err(fault)),
            },
        };
        Some(Ok(match &made[place] {
            Made::Plain(value) => value.clone(),
            Made::Nodes(ids) => Value::handle(Nodes::kept(Arc::clone(self), Arc::clone(ids))),
            Made::Edges(ids) => Value::handle(Edges::kept(self, Arc::clone(ids))),
        }))
    }

    fn compute_values(self: &Arc<Self>, values: &Values) -> Result<Box<[Made]>> {
        let own = (Arc::as_ptr(self) as usize, values.function.clone());
        if DOING.with_borrow(|doing| doing.contains(&own)) {
            let message = format!("the values that `{}` derives need each other", values.function);
            return Err(Diagnostic::new(Code::CYCLE, message).help("it must not read what it computes"));
        }
        DOING.with_borrow_mut(|doing| doing.push(own));
        let doing = Doing;
        let found = self.functions.call(&values.function, vec![Value::Handle(Arc::clone(self) as Handle)])?;
        drop(doing);
        let Value::Map(mut found) = found else {
            let message = format!("`{}` gives a map of values, got {}", values.function, found.kind().name());
            return Err(Diagnostic::new(Code::SCRIPT, message));
        };
        let mut take = |name: &Text| self.made(found.remove(name).unwrap_or(Value::Null));
        let made = values.names.iter().map(&mut take).collect::<Result<_>>()?;
        match found.keys().next() {
            None => Ok(made),
            Some(name) => {
                let message = format!("`{}` gives `{name}`, which `derive_values` does not name", values.function);
                let fault = Diagnostic::new(Code::SCRIPT, message);
                let help = did_you_mean(name, values.names.iter().map(|name| &**name));
                Err(help.map_or(fault.clone(), |help| fault.help(help)))
            }
        }
    }

    fn made(self: &Arc<Self>, value: Value) -> Result<Made> {
        if let Some(nodes) = value.as_object::<Nodes>().filter(|nodes| Arc::ptr_eq(nodes.graph(), self)) {
            return Ok(Made::Nodes(nodes.ids().into()));
        }
        if let Some(edges) = value.as_object::<Edges>().filter(|edges| Arc::ptr_eq(edges.graph(), self)) {
            return Ok(Made::Edges(edges.ids()));
        }
        plain(value).map(Made::Plain)
    }
}
