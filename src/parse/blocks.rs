//! Blocks.
