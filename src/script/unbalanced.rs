//! The likely cause of a syntax error: a bracket or a `;` that is missing, or a `}` too many. Judged by lines and their
//! indentation, since what rhai reports is where it noticed.

use rhai::ParseErrorType;

/// The help for a map without its sign, which is taken for a block.
const MAP: &str = "a map begins with `#{`: write `#{ key: value }`";

/// Returns the help for a syntax error at an offset of a script, if its cause is likely to be before it.
pub(super) fn describe_unbalanced(text: &str, at: usize, kind: &ParseErrorType) -> Option<String> {
    let before = text.get(..at)?;
    let blocks = BlockScan::of(before);
    match kind {
        ParseErrorType::WrongFnDefinition => Some(blocks.describe_open()),
        ParseErrorType::MissingToken(token, _) if token == "}" => Some(blocks.describe_open()),
        ParseErrorType::MissingToken(token, _) if token == ";" => {
            let rest = text[at..].trim_start();
            let is_next = rest.starts_with("fn ") || rest.starts_with("private ") || rest.starts_with("///");
            let is_open = blocks.likely_open.is_some() || before.matches('{').count() > before.matches('}').count();
            // A last expression needs no `;`, so it is the block around it that does not end.
            if is_open && (is_next || rest.is_empty() || text.len() - at <= 1) {
                return Some(blocks.describe_open());
            }
            if rest.starts_with(':') {
                return Some(MAP.to_owned());
            }
            let mut before_comments = before.trim_end();
            while let Some((code, _)) =
                before_comments.rsplit_once('\n').filter(|(_, last)| last.trim_start().starts_with("//"))
            {
                before_comments = code.trim_end();
            }
            let line = before_comments.lines().count();
            let is_same = !before[before.trim_end().len()..].contains('\n');
            Some(if is_same {
                "end the statement before it with `;`, or is an operator or a `,` missing here?".to_owned()
            } else {
                format!("write `;` at the end of line {line}")
            })
        }
        ParseErrorType::MissingToken(token, what) if token == "," => {
            let end = closing_bracket(what);
            Some(format!("a `,` or the closing {end} is missing before here"))
        }
        ParseErrorType::VariableUndefined(_) if before.trim_end().ends_with('{') => {
            let is_key = text[at..].trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
            is_key.trim_start().starts_with(':').then(|| MAP.to_owned())
        }
        ParseErrorType::VariableUndefined(_) => blocks.early_end.filter(|_| is_indented(before)).map(|line| {
            format!("the function has ended before here, with the `}}` of line {line}: is that one too many?")
        }),
        _ => None,
    }
}

/// What ends the list that rhai describes.
fn closing_bracket(what: &str) -> &'static str {
    if what.contains("map") {
        "`}`"
    } else if what.contains("array") {
        "`]`"
    } else {
        "`)`"
    }
}

fn is_indented(before: &str) -> bool {
    before.rsplit('\n').next().is_some_and(|line| line.starts_with([' ', '\t']))
}

/// The blocks of a function, from its first line.
struct BlockScan {
    /// The line of the innermost block that does not end where its indentation says.
    likely_open: Option<usize>,
    /// The line of the `}` that ended the function, if it has ended.
    early_end: Option<usize>,
}

impl BlockScan {
    /// Looks at the lines from the last function that begins before the end of a text.
    fn of(before: &str) -> Self {
        let lines: Vec<&str> = before.split('\n').collect();
        let starts = |line: &&str| line.starts_with("fn ") || line.starts_with("private fn ");
        let last = lines.len() - 1;
        let first = lines[..last].iter().rposition(starts).unwrap_or(0);
        let mut open: Vec<(usize, usize)> = Vec::new();
        let (mut mismatched, mut early_end) = (None, None);
        for (index, line) in lines.iter().enumerate().skip(first) {
            let code = line.split("//").next().unwrap_or_default().trim_end();
            let indentation = code.len() - code.trim_start().len();
            if code.trim_start().starts_with('}') {
                let opener = open.pop();
                let differs = opener.is_some_and(|(_, outer)| outer != indentation);
                mismatched = mismatched.or(opener.filter(|_| differs).map(|(line, _)| line));
                if open.is_empty() && early_end.is_none() {
                    early_end = Some(index + 1);
                }
            }
            if code.ends_with('{') {
                open.push((index + 1, indentation));
            }
        }
        Self { likely_open: mismatched.or(open.last().map(|(line, _)| *line)), early_end }
    }

    fn describe_open(&self) -> String {
        match self.likely_open {
            Some(line) => format!("a `}}` is missing before here: the `{{` of line {line} does not seem to be closed"),
            None => "a `}` is missing before here".to_owned(),
        }
    }
}
