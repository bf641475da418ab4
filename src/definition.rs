//! The contents of a pack's TOML files, lowered: every required key is present, and every part has its location.
//!
//! Each kind of table has one file: its type, its keys, and its reader. `file` combines them.

mod body;
mod case;
mod code_mode;
pub mod code;
mod discover;
mod discovery;
mod editor_schema;
mod fields;
mod file;
mod fixture;
mod grammar;
mod icon;
mod item;
mod layer;
mod lifecycle;
mod limits;
mod located;
mod operation;
mod owner;
mod pack;
mod prompt;
mod question;
mod reader;
mod resource;
mod schema;
mod tool;
mod workspace;

pub use body::{Body, Completion};
pub use case::{Case, CaseAction, CaseStep, CompletedItem, Expectation};
pub use code_mode::{CodeModeDefinition, RUN_SCRIPT, RUN_WRITING_SCRIPT};
pub use discover::{CALL_TOOL, DiscoverDefinition, FIND_TOOLS};
pub use discovery::{ALWAYS_LOAD, Discovery, MAX_RESULT_SIZE, SEARCH_HINT};
pub use fields::Configurable;
pub use file::{Definitions, read_definitions};
pub use fixture::{CaseSetup, Fixture, apply_fixtures};
pub use grammar::{Grammar, GrammarKey, ValueShape, without_brackets};
pub use item::{Item, ItemBody, ItemKind, NamedFunction, NamedTemplate, TemplateText};
pub use layer::{LayerDefinition, LayerSource, WantedRevision, check_url};
pub use lifecycle::Lifecycle;
pub use limits::LimitsOverride;
pub use located::Located;
pub use operation::{Dispatch, Operation};
pub use owner::Owner;
pub use pack::{Grants, GraphDefinition, PackDefinition, ProgramGrant, Refresh, SkillsDefinition};
pub use prompt::{MessagePart, Prompt, PromptArgument, PromptMessage, PromptTool, describe_prompt};
pub use question::DeclaredQuestion;
pub use reader::Validation;
pub use resource::{Resource, uri_variables};
pub use schema::{Checker, NO_NAMES, ObjectSchema, Schema, SchemaRole, lint_schema, schema_object, shorten};
pub use tool::{EffectiveHints, TaskPolicy, TaskSupport, Tool, ToolHints};
pub use workspace::{HttpOverride, SETTINGS_FILE, ServerDefinition, WorkspaceDefinition, read_workspace};

use editor_schema::editor_schema;
use file::FILE;
use workspace::WORKSPACE;

use crate::value::Json;

/// Every table of definitions and of `toolsd.toml`, in the order they are documented.
pub fn all_grammars() -> Vec<&'static Grammar> {
    let mut found: Vec<&'static Grammar> = Vec::new();
    for root in [&FILE, &WORKSPACE] {
        collect(root, &mut found);
    }
    found
}

/// The JSON Schema of the definition files of packs, for editors.
pub fn pack_schema() -> Json {
    editor_schema(&FILE)
}

/// The JSON Schema of `toolsd.toml`, for editors.
pub fn workspace_schema() -> Json {
    editor_schema(&WORKSPACE)
}

fn collect(grammar: &'static Grammar, found: &mut Vec<&'static Grammar>) {
    if found.iter().any(|known| std::ptr::eq(*known, grammar)) {
        return;
    }
    found.push(grammar);
    for key in grammar.keys {
        if let ValueShape::Table(inner)
        | ValueShape::Tables(inner)
        | ValueShape::NamedTables(inner)
        | ValueShape::WordOrTable(_, inner)
        | ValueShape::TextsOrTables(inner) = key.shape
        {
            collect(inner, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_explained_once() {
        for grammar in all_grammars() {
            let mut names: Vec<&str> = grammar.keys.iter().map(|key| key.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), grammar.keys.len(), "{} has a key twice", grammar.name);
            for key in grammar.keys {
                assert!(key.doc.ends_with('.'), "{} {}: {}", grammar.name, key.name, key.doc);
            }
        }
    }
}
