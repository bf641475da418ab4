//! The contract of a call of a tool, a read or a prompt: its schemas in their final form, compiled, and its limits.

use super::settings::WorkspaceSettings;
use crate::definition::{
    Checker, Definitions, Located, ObjectSchema, PackDefinition, Prompt, Resource, Schema, SchemaRole, Tool,
    Validation, lint_schema, schema_object,
};
use crate::diagnostic::{Diagnostic, Result};
use crate::guard::Limits;
use rayon::prelude::*;
use serde_json::json;
use std::sync::Arc;

/// The contract of a call of a tool, a read or a prompt.
#[derive(Clone, Default)]
pub struct CallContract {
    /// The schema of its arguments, or variables: an object.
    pub schema: ObjectSchema,
    /// The schema of its result, as written; any root.
    pub output: Option<ObjectSchema>,
    /// Checks its arguments, or variables.
    pub arguments: Option<Arc<Checker>>,
    /// Checks its result.
    pub result: Option<Arc<Checker>>,
    /// The limits of a call.
    pub limits: Limits,
    /// The contract of each operation of a tool, in the order of its operations.
    pub operations: Vec<CallContract>,
}

/// Brings a schema into its final form, or says why that is impossible.
type SchemaForm = fn(&Schema, &[(Located<String>, Schema)]) -> Result<ObjectSchema>;

/// Compiles the contracts of a pack.
pub(super) struct ContractCompiler<'a> {
    pub(super) definitions: &'a Definitions,
    pub(super) pack: &'a PackDefinition,
    pub(super) settings: &'a WorkspaceSettings,
    /// Whether checkers are compiled now, or when they are first needed.
    pub(super) validation: Validation,
}

impl ContractCompiler<'_> {
    /// The contract of each item that clients ask for, in the order of [`Definitions::items`].
    pub(super) fn contracts(&self, diagnostics: &mut Vec<Diagnostic>) -> Vec<CallContract> {
        let Definitions { tools, resources, prompts, .. } = self.definitions;
        // Tools are independent of each other, so they are compiled in parallel.
        let tools = tools.par_iter().map(|tool| {
            let mut diagnostics = Vec::new();
            (self.tool(tool, &mut diagnostics), diagnostics)
        });
        let tools: Vec<(CallContract, Vec<Diagnostic>)> = tools.collect();
        let mut contracts = Vec::new();
        for (contract, found) in tools {
            contracts.push(contract);
            diagnostics.extend(found);
        }
        contracts.extend(resources.iter().map(|resource| self.resource(resource, diagnostics)));
        contracts.extend(prompts.iter().map(|prompt| self.prompt(prompt, diagnostics)));
        contracts
    }

    fn tool(&self, tool: &Tool, diagnostics: &mut Vec<Diagnostic>) -> CallContract {
        let (schema, arguments) = self.checker(&tool.input, Schema::publish, diagnostics);
        let (output, result) = match &tool.output {
            Some(schema) => {
                let (output, result) = self.checker(schema, Schema::resolve, diagnostics);
                (Some(output), result)
            }
            None => (None, None),
        };
        let limits = self.settings.limits(&[tool.limits, self.pack.limits], Limits::default());
        let operations = self.operations(tool, result.as_ref(), diagnostics);
        CallContract { schema, output, arguments, result, limits, operations }
    }

    /// The contract of each operation of a tool.
    fn operations(
        &self,
        tool: &Tool,
        result: Option<&Arc<Checker>>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<CallContract> {
        let operations = tool.dispatch.iter().flat_map(|dispatch| &dispatch.operations);
        let operations = operations.map(|operation| {
            let (schema, arguments) = self.checker(&operation.input, Schema::publish, diagnostics);
            let limits = [operation.limits, tool.limits, self.pack.limits];
            let limits = self.settings.limits(&limits, Limits::default());
            CallContract { schema, arguments, result: result.cloned(), limits, ..CallContract::default() }
        });
        operations.collect()
    }

    fn resource(&self, resource: &Resource, diagnostics: &mut Vec<Diagnostic>) -> CallContract {
        let (schema, arguments) = match &resource.variables {
            Some(variables) => self.checker(&variables.as_properties(), Schema::resolve, diagnostics),
            None => (Arc::default(), None),
        };
        CallContract { schema, arguments, limits: self.limits(), ..CallContract::default() }
    }

    fn prompt(&self, prompt: &Prompt, diagnostics: &mut Vec<Diagnostic>) -> CallContract {
        let places = prompt.name.at.clone();
        let mut properties = serde_json::Map::new();
        for argument in &prompt.arguments {
            let schema =
                argument.schema.as_ref().map_or_else(|| json!({ "type": "string" }), |schema| (*schema.json).clone());
            properties.insert(argument.name.value.clone(), schema);
        }
        let required: Vec<&str> = prompt
            .arguments
            .iter()
            .filter(|argument| argument.required)
            .map(|argument| argument.name.value.as_str())
            .collect();
        let json = json!({ "type": "object", "properties": properties, "required": required });
        let schema = Schema { json: json.into(), places: [(String::new(), places)].into_iter().collect() };
        let (schema, arguments) = self.checker(&schema, Schema::publish, diagnostics);
        CallContract { schema, arguments, limits: self.limits(), ..CallContract::default() }
    }

    fn limits(&self) -> Limits {
        self.settings.limits(&[self.pack.limits], Limits::default())
    }

    /// Returns the schema in its final form, and its checker; reports its errors.
    fn checker(
        &self,
        schema: &Schema,
        form: SchemaForm,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> (ObjectSchema, Option<Arc<Checker>>) {
        let compiled = |json: ObjectSchema| match self.validation {
            Validation::Skipped => Ok(Checker::lazy(json)),
            Validation::Full => Checker::new(json),
        };
        let made = form(schema, &self.definitions.defs).and_then(|json| Ok((compiled(Arc::clone(&json))?, json)));
        match made {
            Ok((checker, json)) => (json, Some(Arc::new(checker))),
            Err(diagnostic) => {
                let diagnostic = match schema.place("") {
                    Some(place) => diagnostic.at(place.clone()),
                    None => diagnostic,
                };
                let missing = schema.missing_references(&self.definitions.defs);
                if missing.is_empty() && lint_schema(schema, SchemaRole::Shared).is_empty() {
                    diagnostics.push(*diagnostic);
                }
                (schema_object((*schema.json).clone()).unwrap_or_default().into(), None)
            }
        }
    }
}
