//! `run`: a granted program.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::primitive_api::program_outcome::{ANY_BYTES, ended, let_through, no_text};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, optional, required};
use crate::value::{Bytes, Kind, Value};
use crate::world::run::{ProgramCommand, Confinement, RequiredGrant};
use std::time::Duration;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "run",
    family: Family::Run,
    summary: "Runs a program that the pack was granted, without a shell: each argument is passed unchanged. Returns `#{ code, text, line, errors, notes, bytes? }`: `line` is the first line of `text`, and `notes` are remarks of toolsd, for example about a folder that it could not write. Staged writes are written to disk first; the program is terminated with the call. It is confined to the grants of the pack, and may read and start what belongs to the installation that it was found in. Fails if the exit code is not 0, unless `check` is `false`, or if the output is not UTF-8, unless `lossy_utf8` is `true`. Grants of `run` that work: `{ program = \"make\", read = [\".\"], write = [\"out\"] }`; `{ program = \"cargo\", read = [\".\", \"~/.rustup\", \"~/.cargo\"], write = [\"target\", \"Cargo.lock\", \"~/.cargo/registry\"], execute = [\"~/.rustup\", \"target\"], network = true }`; `{ program = \"npm\", read = [\".\"], write = [\"node_modules\", \"out\", \"~/.npm\"], execute = [\"node_modules\"], network = true }`; for `tsc` and `prettier` of the project `{ program = \"npx\", read = [\".\"], write = [\"out\"], execute = [\"node_modules\"] }`; `{ program = \"ruff\", read = [\".\"], write = [\".ruff_cache\"] }`; `{ program = \"python3\", read = [\".\"] }`.",
    params: &[
        required("program", &[Kind::Text], "The program, as the `run` grant names it."),
        optional("args", &[Kind::Text, Kind::List], "Its arguments."),
        option("cwd", &[Kind::Text], "The working directory (default: the root of the workspace, whatever the program may read there)."),
        option("input", &[Kind::Text, Kind::Bytes], "Its standard input."),
        option(
            "env",
            &[Kind::Map],
            "Environment variables to set in addition to `PATH`, `HOME` and the language: those that `env` of its grant names.",
        ),
        option(
            "timeout_ms",
            &[Kind::Integer],
            "Timeout in milliseconds (at most 86,400,000); the program never outlives the time limit of the call.",
        ),
        option("output_kb", &[Kind::Integer], "Maximum size of the output in kB (default: 4096, at most 65536)."),
        option("check", &[Kind::Bool], "Whether an exit code other than 0 is an error (default: `true`)."),
        option(
            "lossy_utf8",
            &[Kind::Bool],
            "Whether output that is not UTF-8 is allowed: `text` then has `\u{fffd}` for it, and `bytes` is the unchanged output.",
        ),
    ],
    returns: Kind::Map,
    effect: Effect::Runs,
    examples: &[Example::fails(r##"run("date")"##, "there is no program `date` in a world of memory")],
    run,
};

/// Default limit of a program's output, in kB.
const DEFAULT_OUTPUT_KB: i64 = 4_096;
/// Maximum limit of a program's output, in kB.
const MAX_OUTPUT_KB: usize = 65_536;
/// Maximum timeout: one day.
const MAX_TIMEOUT_MS: i64 = 86_400_000;

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let env = args.map("env")?.into_iter().map(|(name, value)| match value {
        Value::Text(text) => Ok((name.to_string(), text.to_string())),
        other => Err(Diagnostic::new(
            Code::ARGUMENTS,
            format!("the variable `{name}` is a text, got {}", other.kind().name()),
        )),
    });
    let wrong = |message: String, help: &str| Diagnostic::new(Code::ARGUMENTS, message).help(help);
    let most = args.integer_or("output_kb").unwrap_or(DEFAULT_OUTPUT_KB);
    let most = usize::try_from(most).ok().filter(|most| *most <= MAX_OUTPUT_KB);
    let most = most.ok_or_else(|| wrong("`output_kb` is out of its range".to_owned(), "use 0 to 65536"))?;
    let timeout_ms = args.integer_or("timeout_ms").unwrap_or(MAX_TIMEOUT_MS);
    let timeout = u64::try_from(timeout_ms).ok().filter(|_| timeout_ms <= MAX_TIMEOUT_MS);
    let timeout = timeout.ok_or_else(|| wrong(format!("`timeout_ms` is {timeout_ms}"), "use 0 to 86400000"))?;
    let command = ProgramCommand {
        program: args.text("program").to_owned(),
        arguments: args.texts("args")?,
        folder: args.text_or("cwd").unwrap_or(".").to_owned(),
        input: args.bytes("input").to_vec(),
        env: env.collect::<Result<_>>()?,
        time: Duration::from_millis(timeout),
        most: most << 10,
        needs: RequiredGrant::Program,
        confinement: Confinement::default(),
        stop: guard::check,
    };
    let mut ran = context.host.wait_for_program(&mut || context.host.world().run(&command))?;
    let mut notes = std::mem::take(&mut ran.notes);
    let checks = args.value("check").is_null() || args.flag("check");
    let mut bytes = None;
    if args.flag("lossy_utf8") {
        notes.extend(let_through(&mut ran, &mut bytes));
    } else if let Some(error) = no_text(&command, &ran).filter(|_| ran.code == 0 || !checks) {
        return with_notes(Err(error.author_help(ANY_BYTES)), notes);
    }
    let mut ended = ended(&command, ran, Code("run"), checks);
    if let (Ok(Value::Map(fields)), Some(bytes)) = (&mut ended, bytes) {
        fields.insert("bytes".into(), Bytes::value(bytes));
    }
    with_notes(ended, notes)
}

/// Adds the remarks of toolsd about a program that ran to the program's own output.
fn with_notes(ended: Result<Value>, notes: Vec<String>) -> Result<Value> {
    match ended {
        Ok(Value::Map(mut map)) => {
            map.insert("notes".into(), Value::list(notes.into_iter().map(Value::from)));
            Ok(Value::Map(map))
        }
        Err(mut error) if !notes.is_empty() => {
            error.message = format!("{}; {}", error.message, notes.join("; "));
            Err(error)
        }
        ended => ended,
    }
}
