//! Maps: what builds them. What reads them as a whole is a primitive.

use super::{Outcome, compared, same, spend};
use crate::guard::ITEM;
use rhai::{Dynamic, FuncRegistration, INT, Map, Module, NativeCallContext};

/// A pure verb: it works on constants.
fn pure(name: &str) -> FuncRegistration {
    FuncRegistration::new(name).with_purity(true).with_volatility(false)
}

pub(super) fn register(module: &mut Module) {
    pure("len").set_into_module(module, |map: &mut Map| map.len() as INT);
    pure("is_empty").set_into_module(module, |map: &mut Map| map.is_empty());
    pure("contains").set_into_module(module, |map: &mut Map, key: &str| map.contains_key(key));
    pure("==")
        .set_into_module(module, |context: NativeCallContext, a: &mut Map, b: Map| compared(&context, equal(a, &b)));
    pure("!=")
        .set_into_module(module, |context: NativeCallContext, a: &mut Map, b: Map| compared(&context, !equal(a, &b)));
    pure("+").set_into_module(module, |context: NativeCallContext, a: &mut Map, b: Map| -> Outcome<Map> {
        spend(&context, (a.len() + b.len()) * ITEM)?;
        let mut both = a.clone();
        both.extend(b);
        Ok(both)
    });
    FuncRegistration::new("+=").set_into_module(
        module,
        |context: NativeCallContext, map: &mut Map, more: Map| -> Outcome<()> {
            spend(&context, more.len() * ITEM)?;
            map.extend(more);
            Ok(())
        },
    );
    FuncRegistration::new("clear").set_into_module(module, |map: &mut Map| map.clear());
    FuncRegistration::new("remove")
        .set_into_module(module, |map: &mut Map, key: &str| map.remove(key).unwrap_or(Dynamic::UNIT));
}

fn equal(a: &Map, b: &Map) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((name, a), (other, b))| name == other && same(a, b))
}
