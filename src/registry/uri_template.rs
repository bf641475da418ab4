//! URI templates of resources (RFC 6570: levels 1 and 2, and `{?query}`): matching, filling, which one is meant.
//!
//! Two deviations make matching the inverse of filling: `{+rest}` encodes `%`, `?` and `#` too, and a match
//! decodes percent triplets segment by segment. One `/` at the end of a path is ignored.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::pattern::Pattern;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::cmp::Reverse;
use std::sync::{Arc, OnceLock};

/// All but the unreserved characters of RFC 3986.
const SIMPLE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The same, but reserved characters are allowed, except for those that end a path.
const RESERVED: &AsciiSet = &SIMPLE
    .remove(b':')
    .remove(b'/')
    .remove(b'[')
    .remove(b']')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// Maximum length of a template in bytes, so that its regular expression stays small.
const MAX_TEMPLATE_BYTES: usize = 2_048;
/// Maximum length of a URI in bytes: it is matched before there is a call that could be stopped.
pub const MAX_URI_BYTES: usize = 8_192;
/// Maximum number of variables in the path of a template.
const MAX_VARIABLES: usize = 32;

/// A URI template, ready to match.
#[derive(Clone, Debug)]
pub struct UriTemplate {
    text: String,
    parts: Vec<UriPart>,
    query: Vec<String>,
    /// Made when a URI first begins as the template does: a start would pay for all of them, a read needs one.
    /// None if it cannot be made, which the bounds above rule out.
    regex: OnceLock<Option<Arc<Pattern>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum UriPart {
    Literal(String),
    /// `{name}`: within one segment.
    Simple(String),
    /// `{+name}`: over segments.
    Rest(String),
    /// `{#name}`: after a `#`.
    Fragment(String),
}

/// The variables of a matched URI, decoded, in the order of the template.
pub type UriVariables = Vec<(String, String)>;

impl UriTemplate {
    /// Reads a template, or a URI without variables.
    pub fn parse(text: &str) -> Result<Self> {
        let (mut parts, mut query) = (Vec::new(), Vec::new());
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            push_literal(&rest[..open], &mut parts);
            let close = rest[open..].find('}').ok_or_else(|| template_error(text, "a `{` is not closed"))? + open;
            parse_expression(text, &rest[open + 1..close], &mut parts, &mut query)?;
            rest = &rest[close + 1..];
            if !query.is_empty() && !rest.is_empty() {
                return Err(template_error(text, "nothing may follow `{?…}`"));
            }
        }
        if rest.contains('}') {
            return Err(template_error(text, "a `}` was not opened"));
        }
        push_literal(rest, &mut parts);
        if let Some(UriPart::Literal(last)) = parts.last_mut() {
            *last = without_slash(last).to_owned();
        }
        if text.len() > MAX_TEMPLATE_BYTES || parts.iter().filter_map(UriPart::name).count() > MAX_VARIABLES {
            return Err(template_error(
                text,
                &format!("at most {MAX_VARIABLES} variables and {MAX_TEMPLATE_BYTES} bytes"),
            ));
        }
        let template = Self { text: text.to_owned(), parts, query, regex: OnceLock::new() };
        let mut names: Vec<&str> = template.variables().collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(template_error(text, &format!("`{}` appears twice", pair[0]))),
            None => Ok(template),
        }
    }

    /// The template as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of its variables, those of the query last.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(UriPart::name).chain(self.query.iter().map(String::as_str))
    }

    /// Returns the names of its query variables, which are optional.
    pub fn query(&self) -> &[String] {
        &self.query
    }

    /// Returns the variables of a URI, if it matches this template.
    ///
    /// A query is matched only if the template has one. Fails for names in it that the template does not have, with the
    /// nearest known name.
    pub fn matches(&self, uri: &str) -> Option<Result<UriVariables>> {
        let (path, query) = match uri.split_once('?') {
            Some((path, query)) if !self.query.is_empty() => (path, Some(query)),
            _ => (uri, None),
        };
        let path = without_slash(path);
        if let Some(UriPart::Literal(head)) = self.parts.first()
            && !path.starts_with(head.as_str())
        {
            return None;
        }
        if path.len() > MAX_URI_BYTES {
            let message = format!("the URI has {} bytes; at most {MAX_URI_BYTES}", path.len());
            return Some(Err(Diagnostic::new(Code::ARGUMENTS, message)));
        }
        let regex = self.regex.get_or_init(|| Pattern::compile_cached(&to_pattern(&self.parts)).ok()).as_ref()?;
        let found = match regex.first(path) {
            Ok(found) => found?,
            Err(diagnostic) => return Some(Err(diagnostic)),
        };
        let mut variables = UriVariables::new();
        for (index, name) in self.parts.iter().filter_map(UriPart::name).enumerate() {
            variables.push((name.to_owned(), percent_decode(&path[found.group(index + 1)?])?));
        }
        match query.map(|query| self.read_query(query, &mut variables)) {
            Some(Err(diagnostic)) => Some(Err(diagnostic)),
            _ => Some(Ok(variables)),
        }
    }

    fn read_query(&self, query: &str, variables: &mut UriVariables) -> Result<()> {
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let diagnostic = |message: String| Diagnostic::new(Code::ARGUMENTS, message);
            if !self.query.iter().any(|known| known == name) {
                let diagnostic = diagnostic(format!("`{name}` is not a variable of `{}`", self.text));
                let known = self.query.iter().map(String::as_str);
                return Err(match crate::diagnostic::did_you_mean(name, known) {
                    Some(help) => diagnostic.help(help),
                    None => diagnostic,
                });
            }
            if variables.iter().any(|(known, _)| known == name) {
                return Err(diagnostic(format!("`{name}` is given twice")));
            }
            let value = percent_decode(&value.replace('+', " "))
                .ok_or_else(|| diagnostic(format!("the percent triplets of `{name}` are not valid UTF-8")))?;
            variables.push((name.to_owned(), value));
        }
        Ok(())
    }

    /// The URI with these variables; those of the query may be missing, others then stay empty.
    pub fn expand<'a>(&self, value_of: impl Fn(&str) -> Option<&'a str>) -> String {
        let mut uri = String::new();
        for part in &self.parts {
            let value = part.name().and_then(&value_of).unwrap_or_default();
            match part {
                UriPart::Literal(text) => uri.push_str(text),
                UriPart::Simple(_) => uri.extend(utf8_percent_encode(value, SIMPLE)),
                UriPart::Rest(_) => uri.extend(utf8_percent_encode(value, RESERVED)),
                UriPart::Fragment(_) => {
                    uri.push('#');
                    uri.extend(utf8_percent_encode(value, RESERVED));
                }
            }
        }
        let mut joint = '?';
        for name in &self.query {
            if let Some(value) = value_of(name) {
                uri.push(joint);
                uri.push_str(name);
                uri.push('=');
                uri.extend(utf8_percent_encode(value, SIMPLE));
                joint = '&';
            }
        }
        uri
    }

    /// Sorts the more specific template first: fewer variables over segments, more literal text, fewer variables.
    pub fn rank(&self) -> impl Ord + use<> {
        let rest = self.parts.iter().filter(|part| matches!(part, UriPart::Rest(_) | UriPart::Fragment(_))).count();
        let variables = self.parts.iter().filter(|part| part.name().is_some()).count();
        let literal: usize =
            self.parts.iter().map(|part| if let UriPart::Literal(text) = part { text.len() } else { 0 }).sum();
        (rest, Reverse(literal), variables, self.text.clone())
    }
}

impl UriPart {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Literal(_) => None,
            Self::Simple(name) | Self::Rest(name) | Self::Fragment(name) => Some(name),
        }
    }
}

fn template_error(template: &str, why: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code("uri-template"), format!("`{template}` is not a URI template: {why}"))
        .help("use `{name}`, `{+rest}`, and `{?a,b}` at the end")
}

fn push_literal(text: &str, parts: &mut Vec<UriPart>) {
    if !text.is_empty() {
        parts.push(UriPart::Literal(text.to_owned()));
    }
}

fn parse_expression(template: &str, inner: &str, parts: &mut Vec<UriPart>, query: &mut Vec<String>) -> Result<()> {
    let name_of = |name: &str| {
        let sound = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if sound {
            Ok(name.to_owned())
        } else {
            Err(template_error(template, &format!("`{name}` is not a variable name")))
        }
    };
    if let Some(names) = inner.strip_prefix('?') {
        for name in names.split(',') {
            query.push(name_of(name)?);
        }
        return Ok(());
    }
    parts.push(match (inner.strip_prefix('+'), inner.strip_prefix('#')) {
        (Some(name), _) => UriPart::Rest(name_of(name)?),
        (_, Some(name)) => UriPart::Fragment(name_of(name)?),
        _ => UriPart::Simple(name_of(inner)?),
    });
    Ok(())
}

fn to_pattern(parts: &[UriPart]) -> String {
    let mut pattern = String::from("^");
    for part in parts {
        match part {
            UriPart::Literal(text) => pattern.push_str(&regex_syntax::escape(text)),
            UriPart::Simple(_) => pattern.push_str("([^/?#]+)"),
            UriPart::Rest(_) => pattern.push_str("([^?#]+)"),
            UriPart::Fragment(_) => pattern.push_str("#([^?#]*)"),
        }
    }
    pattern + "$"
}

fn without_slash(path: &str) -> &str {
    match path.strip_suffix('/') {
        Some(shorter) if !shorter.ends_with('/') => shorter,
        _ => path,
    }
}

fn percent_decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matched(template: &str, uri: &str) -> Option<UriVariables> {
        UriTemplate::parse(template).unwrap().matches(uri).map(Result::unwrap)
    }

    fn pairs(of: &[(&str, &str)]) -> Option<UriVariables> {
        Some(of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn variables_are_matched_within_and_over_segments() {
        assert_eq!(matched("x:///a/{b}", "x:///a/1%202/"), pairs(&[("b", "1 2")]));
        assert_eq!(matched("x:///a/{b}", "x:///a/1/2"), None);
        assert_eq!(matched("x:///a/{+b}", "x:///a/src/main.rs:4"), pairs(&[("b", "src/main.rs:4")]));
        assert_eq!(matched("x:///a/", "x:///a"), pairs(&[]));
        assert_eq!(matched("x:///", "x:///"), pairs(&[]));
    }

    #[test]
    fn a_query_may_be_left_out_and_comes_in_any_order() {
        let template = "x:///r{?spec,limit}";
        assert_eq!(matched(template, "x:///r"), pairs(&[]));
        assert_eq!(matched(template, "x:///r?limit=2&spec=a"), pairs(&[("limit", "2"), ("spec", "a")]));
        let diagnostic = UriTemplate::parse(template).unwrap().matches("x:///r?limt=2").unwrap().unwrap_err();
        assert_eq!(diagnostic.to_string(), "`limt` is not a variable of `x:///r{?spec,limit}` (did you mean `limit`?)");
    }

    #[test]
    fn the_more_specific_template_comes_first() {
        let mut templates =
            ["x:///{+a}", "x:///{a}/{b}", "x:///a/{b}", "x:///a/b"].map(|text| UriTemplate::parse(text).unwrap());
        templates.sort_by_key(UriTemplate::rank);
        assert_eq!(
            templates.each_ref().map(UriTemplate::text),
            ["x:///a/b", "x:///a/{b}", "x:///{a}/{b}", "x:///{+a}"]
        );
    }

    #[test]
    fn what_is_no_template_says_why() {
        for text in ["x{", "x}", "{}", "{?a}/b", "{a}{a}", "{a b}", "{/a}"] {
            let diagnostic = UriTemplate::parse(text).unwrap_err();
            assert!(diagnostic.message.contains("is not a URI template"), "{text}: {diagnostic}");
        }
    }

    #[test]
    fn the_largest_template_matches_and_a_larger_one_is_refused() {
        let text: String = (0..MAX_VARIABLES).map(|index| format!("/{{+v{index}}}")).collect();
        let text = format!("{text}/{}", "é".repeat((MAX_TEMPLATE_BYTES - text.len() - 1) / 2));
        let template = UriTemplate::parse(&text).unwrap();
        let uri = template.expand(|_| Some("1"));
        assert_eq!(template.matches(&uri).unwrap().unwrap().len(), MAX_VARIABLES);
        assert!(UriTemplate::parse(&format!("{text}/{{more}}")).is_err());
        assert!(UriTemplate::parse(&format!("{text}éé")).is_err());
    }

    proptest! {
        #[test]
        fn filling_is_the_inverse_of_matching(one in "\\PC{1,8}", rest in "[^/]\\PC{0,8}[^/]", query in proptest::option::of("\\PC{0,8}")) {
            let template = UriTemplate::parse("x:///a/{one}/b/{+rest}{?query}").unwrap();
            let value_of = |name: &str| match name { "one" => Some(one.as_str()), "rest" => Some(rest.as_str()), _ => query.as_deref() };
            let uri = template.expand(value_of);
            let variables = template.matches(&uri).unwrap().unwrap();
            for (name, value) in &variables {
                prop_assert_eq!(Some(value.as_str()), value_of(name));
            }
            let again = template.expand(|name| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str()));
            prop_assert_eq!(again, uri);
        }

        #[test]
        fn nothing_panics(template in "\\PC{0,20}", uri in "\\PC{0,40}") {
            if let Ok(template) = UriTemplate::parse(&template) {
                let _ = template.matches(&uri);
            }
        }
    }
}
