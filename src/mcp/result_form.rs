//! The form in which the results of a tool are sent.

use super::revision::Revision;
use crate::value::Json;

/// How the results of a tool are sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ResultForm {
    /// Whether its output schema is wrapped where the protocol requires objects. In that case results are wrapped even
    /// if they are objects.
    pub(crate) wrapped: bool,
    /// Whether only the beginning of data is repeated as text.
    pub(crate) short_text: bool,
    /// Whether notices may stand next to the keys of the data.
    pub(crate) takes_notices: bool,
    /// Whether the tool has an output schema, so that each result must have data.
    pub(crate) is_described: bool,
}

/// The number of lines that a short text has.
const MAX_SHORT_TEXT_LINES: usize = 50;

impl ResultForm {
    /// Data as text; of long data the first lines where a short text is wanted and the data go along.
    pub(crate) fn text_of(self, data: &Json, revision: Revision) -> String {
        if !self.short_text || !revision.has_structured() {
            return data.to_string();
        }
        let text = format!("{data:#}");
        let lines = text.lines().count();
        match text.match_indices('\n').nth(MAX_SHORT_TEXT_LINES - 1) {
            Some((end, _)) if lines > MAX_SHORT_TEXT_LINES => {
                let more = lines - MAX_SHORT_TEXT_LINES;
                format!("{}\n… ({more} more lines: `structuredContent` has all of it)", &text[..end])
            }
            _ => data.to_string(),
        }
    }
}
