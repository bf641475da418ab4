//! Stub.
mod compare;
