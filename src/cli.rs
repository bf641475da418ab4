//! The command line: one file per command, one entry point.

mod add;
mod answers;
mod call;
mod check;
mod command_line;
mod completions;
mod context;
mod cost;
mod cost_report;
mod diff;
mod docs;
mod doctor;
mod eject;
mod fetch;
mod hot_reload;
mod list;
mod lock;
mod man;
mod misplaced;
mod new;
mod old_cases;
mod options;
mod outdated;
mod preview;
mod project;
mod prompt;
mod read;
mod remove;
mod schema;
mod script;
mod secrets;
mod serve;
mod terminal;
mod test;
mod trust;
mod trust_layers;
mod update;

use crate::diagnostic::printable;
use crate::world::disk::end_programs;
use crate::world::redact_bytes;
use clap::{CommandFactory, Parser};
use command_line::{CliCommand, CommandLine};
use context::{CommandContext, environment_variable};
use misplaced::workspace_above;
use options::{CommandResult, Exit, LogFormat};
use std::fmt::{self, Debug};
use std::io::{self, Write};
use terminal::{Terminal, check_output};
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

/// The log filter if `TOOLSD_LOG` is not set.
const DEFAULT_FILTER: &str = "warn,toolsd=info";

/// Runs the command that the arguments of the process name. Returns the exit code: 0 success, 1 errors, 2 usage.
pub fn run() -> u8 {
    let line = CommandLine::parse();
    let terminal = open_terminal();
    start_log(line.options.log_format, terminal.colours_errors());
    let ended = execute(line, terminal);
    //= docs/spec.md#command-line
    //# A command whose answer cannot be written to the end MUST exit with 1 and report that.
    let ended = ended.and_then(|exit| {
        check_output().map(|()| exit).or_else(|diagnostic| {
            terminal.diagnostic(&diagnostic);
            Ok(Exit::Errors)
        })
    });
    // A call that was answered at its limit may leave behind a git process that still has to remove its lock.
    end_programs();
    match ended {
        Ok(exit) => exit.into(),
        //= docs/spec.md#command-line
        //# Usage errors MUST be printed to standard error with exit code 2.
        Err(diagnostic) => {
            open_terminal().diagnostic(&diagnostic);
            Exit::Usage.into()
        }
    }
}

fn execute(line: CommandLine, terminal: Terminal) -> CommandResult {
    match line.command {
        CliCommand::Docs(docs) if line.options.packs.is_empty() => docs.run(&line.options, &terminal),
        mut command => {
            if let CliCommand::Serve(serve) = &mut command {
                // Before anything is opened.
                serve.find_secrets()?;
            }
            CommandContext::open(line.options, terminal).and_then(|context| run_command(command, context))
        }
    }
}

/// Opens the terminal of the process, without color if the environment disables it.
fn open_terminal() -> Terminal {
    let is_dumb = environment_variable("TERM").is_some_and(|terminal| terminal == "dumb");
    Terminal::new(is_dumb || environment_variable("NO_COLOR").is_some_and(|value| !value.is_empty()))
}

fn run_command(command: CliCommand, context: CommandContext) -> CommandResult {
    use CliCommand as C;
    if matches!(command, C::List(_) | C::Check(_) | C::Call(_) | C::Read(_) | C::Test(_) | C::Trust(_) | C::Doctor)
        && let Some(warning) = workspace_above(&context)
    {
        context.terminal.diagnostic(&warning);
    }
    match command {
        CliCommand::Completions(completions) => completions.run(CommandLine::command(), &context.terminal),
        CliCommand::Man(man) => man.run(CommandLine::command(), &context.terminal),
        CliCommand::Serve(serve) => {
            let context = CommandContext { is_locked: serve.locked, overrides: serve.overrides(), ..context };
            serve.run(context)
        }
        CliCommand::Check(check) => check.run(&context),
        CliCommand::Test(test) => test.run(&context),
        CliCommand::Call(call) => call.run(&context),
        CliCommand::Script(script) => script.run(&context),
        CliCommand::Read(read) => read.run(&context),
        CliCommand::Prompt(prompt) => prompt.run(&context),
        CliCommand::List(list) => list.run(&context),
        CliCommand::Cost(cost) => cost.run(&context),
        CliCommand::Docs(docs) => {
            context.check_named_packs()?;
            docs.run(&context.options, &context.terminal)
        }
        CliCommand::Schema(schema) => schema.run(&context.terminal),
        CliCommand::New(new) => new.run(&context),
        CliCommand::Eject(eject) => eject.run(&context),
        CliCommand::Trust(trust) => trust.run(&context),
        CliCommand::Add(add) => add.run(&context),
        CliCommand::Remove(remove) => remove.run(&context),
        CliCommand::Fetch(fetch) => fetch.run(&context),
        CliCommand::Outdated(outdated) => outdated.run(&context),
        CliCommand::Update(update) => update.run(&context),
        CliCommand::Preview(preview) => preview.run(&context),
        CliCommand::Diff(diff) => diff.run(&context),
        CliCommand::Lock(lock) => lock.run(&context),
        CliCommand::Doctor => doctor::run(&context),
    }
}

/// Starts logging to standard error: `TOOLSD_LOG` is the filter, `--log-format` the format. An invalid filter is
/// logged, and the default is used.
fn start_log(format: LogFormat, colour: bool) {
    let wanted = environment_variable("TOOLSD_LOG").filter(|wanted| !wanted.is_empty());
    let filter = wanted.as_deref().map(EnvFilter::try_new);
    let refused = matches!(filter, Some(Err(_)));
    let filter = filter.and_then(Result::ok).unwrap_or_else(|| EnvFilter::new(DEFAULT_FILTER));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| RedactedLog).with_ansi(colour);
    let begun = match format {
        LogFormat::Text => lines.with_target(false).fmt_fields(debug_fn(write_field).delimited(" ")).try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    if refused && begun.is_ok() {
        tracing::warn!("`TOOLSD_LOG` is not a filter such as `warn,toolsd=debug`; using `{DEFAULT_FILTER}`");
    }
}

/// Standard error, for log lines: each arrives in one piece.
struct RedactedLog;

impl Write for RedactedLog {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut redacted = line.to_vec();
        redact_bytes(&mut redacted);
        io::stderr().write_all(&redacted).map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Writes a field of a log line. Log lines contain file names and texts of scripts, which must not begin a new line.
fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    let text = format!("{value:?}");
    let shown = printable(&message_of_protocol_error(&text).unwrap_or(text));
    match field.name() {
        "message" => writer.write_str(&shown),
        name => write!(writer, "{name}={shown}"),
    }
}

/// The message in the debug text of an error of the protocol. rmcp logs each with all its fields, the data included.
fn message_of_protocol_error(text: &str) -> Option<String> {
    let rest = text.strip_prefix("ErrorData { ")?.split_once("message: \"")?.1;
    let mut message = String::new();
    let mut letters = rest.chars();
    loop {
        match letters.next()? {
            '"' => return Some(message),
            '\\' => match letters.next()? {
                quoted @ ('"' | '\'' | '\\') => message.push(quoted),
                other => message.extend(['\\', other]),
            },
            letter => message.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::message_of_protocol_error;

    #[test]
    fn errors_of_the_protocol_are_logged_by_their_messages() {
        let logged = r#"ErrorData { code: ErrorCode(-32602), message: "unknown tool `a \"b\"` it's", data: None }"#;
        assert_eq!(message_of_protocol_error(logged).as_deref(), Some("unknown tool `a \"b\"` it's"));
        assert_eq!(message_of_protocol_error("\"other\""), None);
    }
}
