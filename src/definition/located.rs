//! A value of a definition and the place where it was written.

use crate::source::Place;

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where.
    pub at: Place,
}
