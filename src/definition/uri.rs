//! The names in a URI template: RFC 6570, levels 1 and 2, `{?query,more}` and `{&more}`.

/// The variables of a template in the order they stand, or what is wrong with it.
pub fn variables(template: &str) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = template;
    while let Some(start) = rest.find(['{', '}']) {
        if rest.as_bytes()[start] == b'}' {
            return Err(format!("a brace is closed in `{template}` that was not opened"));
        }
        let after = &rest[start + 1..];
        let end = after.find(['{', '}']).filter(|end| after.as_bytes()[*end] == b'}');
        let Some(end) = end else { return Err(format!("a brace is not closed in `{template}`")) };
        let expression = &after[..end];
        let list = expression.strip_prefix(['+', '#', '?', '&']).unwrap_or(expression);
        for name in list.split(',') {
            let legal = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !legal {
                return Err(format!("`{{{expression}}}` is no expression of `{template}`"));
            }
            if names.iter().any(|known| known == name) {
                return Err(format!("the variable `{name}` stands twice in `{template}`"));
            }
            names.push(name.to_owned());
        }
        rest = &after[end + 1..];
    }
    if names.is_empty() { Err(format!("`{template}` has no variables: it is a `uri`")) } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn expressions_of_each_form() {
        let names = variables("a:///{spec}/x/{+rest}{?offset,limit}");
        assert_eq!(names, Ok(["spec", "rest", "offset", "limit"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for wrong in ["a://{x", "a://x}", "a://{x}{x}", "a://{}", "a://{x-y}", "a://{{x}}"] {
            assert!(variables(wrong).is_err(), "{wrong}");
        }
    }
}
