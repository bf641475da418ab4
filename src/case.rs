//! Runs cases and examples in worlds of memory, and tells how the result differs from what was expected.

mod compare;
