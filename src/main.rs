//! The program: parses the command line, runs one command, exits with its code.
fn main() {}
