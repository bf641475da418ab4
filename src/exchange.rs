//! Prompts in the files of other systems: dotprompt, and commands of Claude Code. Texts in, texts and findings out.

mod command_file;
mod definition_text;
mod dotprompt;
mod foreign_file;
mod picoschema;
mod plain_prompt;

pub(crate) use command_file::{export_command, import_command};
pub(crate) use definition_text::{definition_text, partial_path, replace_prompt};
pub(crate) use dotprompt::{Partials, export_dotprompt, import_dotprompt, import_partial};
pub(crate) use foreign_file::{ForeignFile, IMPORT};
pub(crate) use plain_prompt::{PlainPrompt, PromptExport, PromptTexts};
