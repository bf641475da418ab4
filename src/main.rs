//! The program: parses the command line, runs one command, and exits with its code.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(toolsd::cli::run())
}
