//! Outline.
