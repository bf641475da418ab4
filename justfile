# Everything that a change must pass: `just`. One part of it: `just test`, `just lint`, `just check`.
default: lint test check

# Formatting and clippy, warnings denied.
lint:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings

# All tests; `just test NAME` for some.
test *names:
    cargo test {{names}}

# After an edit: formatting, lints of the library, unit tests, examples of the packs.
quick:
    cargo fmt --check
    cargo clippy --lib --bins --quiet -- -D warnings
    cargo run -q -- check
    cargo run -q -- test --dir . & cases=$!; cargo test --quiet --lib && wait $cases

# The packs on real projects: `TOOLSD_SYSTEMS=DIR just corpora`.
corpora:
    cargo test --test packs -- --ignored

# The packs: their definitions, then their examples and cases.
check:
    cargo run -q -- check
    cargo run -q -- test --dir .

# Rewrites the generated pages below docs/.
bless:
    TOOLSD_BLESS=1 cargo test --test house generated::

# The official conformance suite over HTTP, all legs; `just conformance LEG` for one.
conformance *legs:
    .ci/conformance {{legs}}

# Real clients on standard streams; `just clients install` installs them first.
clients *words:
    .ci/clients {{words}}

# What editors make of definitions: completion, descriptions and errors by the language servers of TOML.
editors:
    cargo build -q
    TOOLSD="${CARGO_TARGET_DIR:-target}/debug/toolsd" .ci/editors

# Speed, against opponents, in the release profile.
bench *names:
    benches/run {{names}}

# Fuzzes a target for so many seconds; `fuzz/run --list` names the targets.
fuzz target seconds="60":
    fuzz/run {{target}} {{seconds}}

# What takes too long for every change: `just long fuzz`, `just long soak`.
long *parts:
    .ci/long {{parts}}

# Small changes in a room of src, and which of them no test notices: `just mutants graph --seed 7 --count 20`.
mutants *words:
    cargo run -q --example mutants -- {{words}}

# A program that a pack reproduces, beside the pack, on projects of seeds: `just originals elspais --seed 7 --count 20`.
originals *words:
    cargo build -q
    cargo run -q --example originals -- {{words}}

# The packages of a release, each installed and driven: `TOOLSD_TARGETS="x86_64-unknown-linux-musl" just ship`.
ship:
    .ci/ship
