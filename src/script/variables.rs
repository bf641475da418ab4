//! What is done when a script names a variable: a captured one may be held, a caught fault of rhai's becomes ours.

use super::{HandleBox, Script, cells, current, of_caught};
use crate::value::{Fault, Value};
use rhai::{ASTNode, Dynamic, Engine, EvalContext, Expr, ImmutableString, Map, Stmt};

/// What the scripts of a pack have that must be watched when they run.
#[derive(Default)]
struct Watched {
    /// Whether a closure captures a variable.
    captures: bool,
    /// The names of the variables that faults are caught in.
    caught: Vec<ImmutableString>,
}

/// Adds what the scripts need to the engine. Packs that neither capture nor catch pay nothing.
pub(super) fn watch(engine: &mut Engine, scripts: &[Script]) {
    let mut watched = Watched::default();
    for script in scripts {
        script.ast.walk(&mut |path: &[ASTNode<'_>]| {
            match path.last() {
                Some(ASTNode::Stmt(Stmt::Share(_))) => watched.captures = true,
                Some(ASTNode::Stmt(Stmt::TryCatch(parts, _))) => match &parts.expr {
                    Expr::Variable(name, ..) if !watched.caught.contains(&name.1) => {
                        watched.caught.push(name.1.clone());
                    }
                    _ => {}
                },
                _ => {}
            }
            true
        });
    }
    let Watched { captures, caught } = watched;
    if !captures && caught.is_empty() {
        return;
    }
    #[allow(deprecated, reason = "rhai calls its hooks unstable, not gone")]
    engine.on_var(move |name, _, mut context| {
        if caught.iter().any(|known| known == name) {
            adopt(name, &mut context);
        }
        if captures && cells::chosen() {
            hold(name, &context);
        }
        Ok(None)
    });
}

/// Whether a statement of the top level makes a closure that captures a variable.
pub(super) fn captures_at_the_top(script: &Script) -> bool {
    let mut captures = false;
    for statement in script.ast.statements() {
        statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
            captures |= matches!(path.last(), Some(ASTNode::Stmt(Stmt::Share(_))));
            !captures
        });
    }
    captures
}

#[cold]
fn hold(name: &str, context: &EvalContext<'_, '_, '_, '_, '_, '_>) {
    if let (Some(value), Ok(running)) = (context.scope().get(name), current())
        && value.is_shared()
    {
        running.cells.hold(value);
    }
}

//= docs/spec.md#scripts
//# A fault that a script catches MUST have its kind, its code and its message, whatever raised it.
/// rhai gives a fault of its own to `catch` as a map in its words: it is replaced before the script sees it.
fn adopt(name: &str, context: &mut EvalContext<'_, '_, '_, '_, '_, '_>) {
    let Some(value) = context.scope_mut().get_mut(name) else { return };
    if value.is_shared() {
        return;
    }
    let (Some(map), Ok(running)) = (value.read_lock::<Map>(), current()) else { return };
    let Some(fault) = of_caught(&map) else { return };
    let source = map.get("source").and_then(|source| source.clone().into_immutable_string().ok());
    drop(map);
    let fault = running.program.diagnose(fault, source.as_deref());
    if let Value::Handle(handle) = Fault::value(fault) {
        *value = Dynamic::from(HandleBox(handle));
    }
}
