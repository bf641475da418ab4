//! A variable of the environment that a pack may read, and whether its value is secret.

/// A grant of a variable, or of all that begin alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableGrant {
    /// Its name; `*` at the end stands for any rest.
    pub name: String,
    /// Whether its value is secret; `None`: the name decides.
    pub secret: Option<bool>,
}

impl VariableGrant {
    /// Whether it covers the variable.
    pub fn covers(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => self.name == name,
        }
    }

    /// The grant as `grants.env` spells it.
    pub(super) fn spell(&self) -> String {
        match self.secret {
            Some(secret) => format!("{{ name = {:?}, secret = {secret} }}", self.name),
            None => format!("{:?}", self.name),
        }
    }
}

impl From<&str> for VariableGrant {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), secret: None }
    }
}

//= docs/spec.md#secrets
//# A variable MUST be secret as the grant with the longest name that marks it has it, and without a mark if
//# its name contains `TOKEN`, `SECRET`, `PASSWORD` or `KEY`.
/// Whether the value of a variable is secret under these grants.
pub fn is_secret_variable(grants: &[VariableGrant], name: &str) -> bool {
    let marks = grants.iter().filter(|grant| grant.covers(name)).filter_map(|grant| Some((grant, grant.secret?)));
    marks.max_by_key(|(grant, _)| grant.name.len()).map_or_else(|| is_secret_name(name), |(_, secret)| secret)
}

/// Whether a variable is secret by its name.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["TOKEN", "SECRET", "PASSWORD", "KEY"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_with_the_longest_name_decides_and_otherwise_the_name() {
        let marked = |name: &str, secret| VariableGrant { secret: Some(secret), ..name.into() };
        let grants = ["A_*".into(), marked("A_B*", true), marked("A_BC*", false), marked("A_KEY", false), "KEY".into()];
        for (name, is_secret) in [
            ("A_X", false),
            ("A_token", true),
            ("A_PASSWORDS", true),
            ("A_B", true),
            ("A_BCX", false),
            ("A_BC_SECRET", false),
            ("A_KEY", false),
            ("A_KEYS", true),
            ("KEY", true),
        ] {
            assert_eq!(is_secret_variable(&grants, name), is_secret, "{name}");
        }
        let spelled: Vec<String> = grants[..2].iter().map(VariableGrant::spell).collect();
        assert_eq!(spelled, ["\"A_*\"", "{ name = \"A_B*\", secret = true }"]);
    }
}
