//! Log lines on standard error: `TOOLSD_LOG` says which, `--log-format` says how.

use super::options::LogFormat;
use super::session::variable;
use tracing_subscriber::EnvFilter;

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
        LogFormat::Text => lines.with_target(false).try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    if refused && begun.is_ok() {
        tracing::warn!("`TOOLSD_LOG` is no filter such as `warn,toolsd=debug`; using `{USUAL}`");
    }
}
