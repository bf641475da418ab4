//! A value of YAML once more beside the events of its text, which have each scalar as it is written.

use super::schema::{finite, resolved};
use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::value::{Map, Text, Value};
use granit_parser::{Event, Parser, ScalarStyle, StrInput};
use std::collections::{HashMap, HashSet};

/// Makes each plain scalar of a value what the core schema says. `text` is what the value was read from.
pub(super) fn resolve(value: &mut Value, text: &str) -> Result<()> {
    let mut walk = Walk { parser: Parser::new_from_str(text), anchors: HashMap::new() };
    loop {
        match walk.next()? {
            Some(Event::StreamStart | Event::DocumentStart(..)) => {}
            Some(event) => return walk.node(event, Some(value)),
            None => return Ok(()),
        }
    }
}

struct Walk<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// What aliases stand for.
    anchors: HashMap<usize, Value>,
}

impl<'a> Walk<'a> {
    fn next(&mut self) -> Result<Option<Event<'a>>> {
        loop {
            guard::spend(ITEM)?;
            match self.parser.next_event() {
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok((event, _))) => return Ok(Some(event)),
                Some(Err(_)) | None => return Ok(None),
            }
        }
    }

    /// One node and all that is in it; without a value it is passed over.
    fn node(&mut self, event: Event<'a>, mut value: Option<&mut Value>) -> Result<()> {
        let anchor = match event {
            Event::Scalar(written, style, anchor, tag) => {
                if let Some(value) = value.as_deref_mut() {
                    let read = std::mem::replace(value, Value::Null);
                    *value = match style == ScalarStyle::Plain && tag.is_none() {
                        true => resolved(read, &written),
                        false => finite(read, &written),
                    };
                }
                anchor
            }
            Event::Alias(anchor) => {
                if let (Some(value), Some(known)) = (value, self.anchors.get(&anchor)) {
                    *value = known.clone();
                }
                return Ok(());
            }
            Event::SequenceStart(_, anchor, _) => {
                self.list(value.as_deref_mut())?;
                anchor
            }
            Event::MappingStart(_, anchor, _) => {
                self.map(value.as_deref_mut())?;
                anchor
            }
            _ => return Ok(()),
        };
        if let (Some(value), true) = (value, anchor != 0) {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(())
    }

    fn list(&mut self, value: Option<&mut Value>) -> Result<()> {
        let mut items = match value {
            Some(Value::List(items)) => items.iter_mut(),
            _ => [].iter_mut(),
        };
        while let Some(event) = self.next()?.filter(|event| !matches!(event, Event::SequenceEnd)) {
            self.node(event, items.next())?;
        }
        Ok(())
    }

    fn map(&mut self, value: Option<&mut Value>) -> Result<()> {
        let mut none = Map::new();
        let map = match value {
            Some(Value::Map(map)) => map,
            _ => &mut none,
        };
        let (mut own, mut merged): (HashSet<Text>, Vec<usize>) = (HashSet::new(), Vec::new());
        while let Some(event) = self.next()?.filter(|event| !matches!(event, Event::MappingEnd)) {
            let key = match event {
                Event::Scalar(key, ..) => Some(key.into_owned()),
                Event::Alias(anchor) => self.anchors.get(&anchor).and_then(Value::as_text).map(str::to_owned),
                event => {
                    self.node(event, None)?;
                    None
                }
            };
            let Some(event) = self.next()? else { return Ok(()) };
            match key {
                Some(key) if key == "<<" && !map.contains_key("<<") => self.merge(event, &mut merged)?,
                Some(key) => {
                    self.node(event, map.get_mut(key.as_str()))?;
                    own.insert(key.into());
                }
                None => self.node(event, None)?,
            }
        }
        // The first map that is merged wins, and a key of one's own before it.
        for anchor in merged {
            let Some(Value::Map(source)) = self.anchors.get(&anchor) else { continue };
            for (key, known) in source {
                guard::spend(ITEM)?;
                if own.insert(key.clone())
                    && let Some(value) = map.get_mut(key)
                {
                    *value = known.clone();
                }
            }
        }
        Ok(())
    }

    /// What is merged into a map: an alias, or a list of them. A map that is written there stays as it was read.
    fn merge(&mut self, event: Event<'a>, merged: &mut Vec<usize>) -> Result<()> {
        match event {
            Event::Alias(anchor) => merged.push(anchor),
            Event::SequenceStart(..) => {
                while let Some(event) = self.next()?.filter(|event| !matches!(event, Event::SequenceEnd)) {
                    self.merge(event, merged)?;
                }
            }
            event => self.node(event, None)?,
        }
        Ok(())
    }
}
