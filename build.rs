//! Has the binary built again when a pack is added or removed: their files are inside it.

#[allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]
fn main() {
    for folder in ["tools.d", "prompts", "templates"] {
        println!("cargo:rerun-if-changed={folder}");
    }
}
