//! The values that scripts, templates and primitives exchange: small values directly, large objects as handles.

mod model;
mod objects;

pub use model::{
    Callable, Frozen, Function, Handle, Json, Kind, Map, Object, Text, Value, no_field, order_keys, with_article,
};
pub use objects::{Bytes, CaughtError, Record};
