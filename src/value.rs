//! What scripts, templates and primitives hand to each other: small values plain, big things as handles.

mod model;
mod objects;

pub use model::{Callable, Frozen, Function, Handle, Json, Kind, Map, Object, Text, Value, no_field, order_keys};
pub use objects::{Bytes, Fault, Record};
