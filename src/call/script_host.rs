//! The host of a script that comes with a call: it reaches tools and nothing else.

use super::tool_caller::ToolCaller;
use crate::diagnostic::{Code, Diagnostic};
use crate::primitive_api::{Host, Notice, ToolAccess};
use crate::world::World;
use crate::world::memory::MemoryWorld;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The maximum size of the lines that a script prints, in bytes.
const MAX_PRINTED_BYTES: usize = 4 << 10;

static WORLD: LazyLock<Arc<dyn World>> = LazyLock::new(|| Arc::new(MemoryWorld::new()));

//= docs/spec.md#code-mode
//# A script that comes with a call MUST reach the tools that are served and computations on values, and
//# nothing else.
/// The host of a script, or of a branch of it.
pub(super) struct ScriptHost {
    caller: ToolCaller,
    printed: Mutex<String>,
}

impl ScriptHost {
    pub(super) fn new(caller: ToolCaller) -> Self {
        Self { caller, printed: Mutex::default() }
    }

    /// The lines that the script printed so far.
    pub(super) fn take_printed(&self) -> String {
        std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Host for ScriptHost {
    fn tools(&self) -> Option<&dyn ToolAccess> {
        Some(&self.caller)
    }

    /// Keeps what is printed, for an answer without a value.
    fn notify(&self, notice: Notice) {
        if let Notice::Log { data, .. } = notice {
            let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
            let line = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
            if printed.len() + line.len() < MAX_PRINTED_BYTES {
                printed.push_str(&line);
                printed.push('\n');
            } else if !printed.ends_with("…\n") {
                printed.push_str("…\n");
            }
        }
    }

    fn world(&self) -> &Arc<dyn World> {
        &WORLD
    }

    fn unreachable(&self, what: &str) -> Box<Diagnostic> {
        Diagnostic::new(Code::SCRIPT, format!("a script cannot reach {what}")).help("call a tool that does")
    }
}
