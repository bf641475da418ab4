//! Prompts in the files of other systems: dotprompt, and commands of Claude Code. Texts in, texts and findings out.

mod command_file;
mod definition_text;
mod dotprompt;
mod foreign_file;
mod picoschema;
mod plain_prompt;
mod tags;

pub use command_file::{export_command, import_command};
pub use definition_text::{PromptFolder, definition_text, replace_prompt};
pub use dotprompt::{Partials, export_dotprompt, import_dotprompt, import_partial};
pub use foreign_file::{EXPORT, ForeignFile, IMPORT};
pub use plain_prompt::{PlainArgument, PlainMessage, PlainPrompt, PromptTexts};
