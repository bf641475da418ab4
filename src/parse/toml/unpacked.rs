//! The tree of a definition inside the binary, out of the bytes that the build made of it.

use super::step::{self, Step};
use super::{Entry, Item, Node};
use crate::source::Source;
use crate::value::Json;
use std::sync::Arc;

/// The tree in `bytes`, with its places in `source`; nothing if there is none in them.
pub fn unpacked(source: &Arc<Source>, bytes: &[u8]) -> Option<Node> {
    Unpacking { source, rest: bytes }.node()
}

struct Unpacking<'a> {
    source: &'a Arc<Source>,
    rest: &'a [u8],
}

impl<'a> Unpacking<'a> {
    fn step(&mut self) -> Option<Step<'a>> {
        let (step, rest) = postcard::take_from_bytes(self.rest).ok()?;
        self.rest = rest;
        Some(step)
    }

    fn node(&mut self) -> Option<Node> {
        let Step { start, end, item } = self.step()?;
        let item = match item {
            step::Item::Boolean(flag) => Item::Scalar(Json::Bool(flag)),
            step::Item::Integer(number) => Item::Scalar(Json::from(number)),
            step::Item::Float(number) => Item::Scalar(Json::from(number)),
            step::Item::Text(text) => Item::Scalar(Json::from(text)),
            step::Item::List(items) => Item::List((0..items).map(|_| self.node()).collect::<Option<_>>()?),
            step::Item::Table(entries) => Item::Table((0..entries).map(|_| self.entry()).collect::<Option<_>>()?),
            step::Item::Key(_) => return None,
        };
        Some(Node { item, at: self.source.place(start as usize..end as usize) })
    }

    fn entry(&mut self) -> Option<Entry> {
        let Step { start, end, item: step::Item::Key(key) } = self.step()? else { return None };
        let at = self.source.place(start as usize..end as usize);
        Some(Entry { key: key.to_owned(), at, node: self.node()? })
    }
}
