//! Log lines on standard error: `TOOLSD_LOG` says which, `--log-format` says how.

use super::options::LogFormat;
use super::session::variable;
use crate::diagnostic::printable;
use std::fmt::{self, Debug};
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

/// What is logged if `TOOLSD_LOG` says nothing.
const USUAL: &str = "warn,toolsd=info";

/// Begins to log. A filter that cannot be read falls back to the usual one, and says so.
pub fn begin(format: LogFormat, colour: bool) {
    let wanted = variable("TOOLSD_LOG").filter(|wanted| !wanted.is_empty());
    let filter = wanted.as_deref().map(EnvFilter::try_new);
    let refused = matches!(filter, Some(Err(_)));
    let filter = filter.and_then(Result::ok).unwrap_or_else(|| EnvFilter::new(USUAL));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour);
    let begun = match format {
        LogFormat::Text => lines.with_target(false).fmt_fields(debug_fn(field).delimited(" ")).try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    if refused && begun.is_ok() {
        tracing::warn!("`TOOLSD_LOG` is no filter such as `warn,toolsd=debug`; using `{USUAL}`");
    }
}

/// What is logged names files, and repeats what scripts say: none of it begins a line of its own.
fn field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    let shown = printable(&format!("{value:?}"));
    match field.name() {
        "message" => writer.write_str(&shown),
        name => write!(writer, "{name}={shown}"),
    }
}
