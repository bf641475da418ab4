//! The pages of the authoring guide, which are in the binary, so that they can be read and searched where it is installed.

/// The index, then the pages by their number.
const TEXTS: [&str; 15] = [
    include_str!("../../docs/guide/README.md"),
    include_str!("../../docs/guide/1-first-tool.md"),
    include_str!("../../docs/guide/2-resources-and-prompts.md"),
    include_str!("../../docs/guide/3-graph.md"),
    include_str!("../../docs/guide/4-asking-and-writing.md"),
    include_str!("../../docs/guide/5-testing.md"),
    include_str!("../../docs/guide/6-prompts-for-a-team.md"),
    include_str!("../../docs/guide/7-a-whole-pack.md"),
    include_str!("../../docs/guide/8-calls-that-take-long.md"),
    include_str!("../../docs/guide/9-talking-to-the-client.md"),
    include_str!("../../docs/guide/10-editors.md"),
    include_str!("../../docs/guide/11-a-catalogue-for-fifty.md"),
    include_str!("../../docs/guide/12-one-script-many-calls.md"),
    include_str!("../../docs/guide/13-programs-and-secrets.md"),
    include_str!("../../docs/guide/14-recipes.md"),
];

/// A page of the guide.
pub struct GuidePage {
    /// `guide` for the index, `guide/13` for a page.
    pub name: String,
    /// Its title, and what it is about.
    pub line: String,
    /// Its text, as Markdown.
    pub text: &'static str,
}

/// The index and all pages.
pub fn guide_pages() -> Vec<GuidePage> {
    let page = |(number, text): (usize, &'static str)| match number {
        0 => GuidePage { name: "guide".to_owned(), line: "The authoring guide: all its pages".to_owned(), text },
        _ => GuidePage { name: format!("guide/{number}"), line: line_of_index(number).unwrap_or_default(), text },
    };
    TEXTS.into_iter().enumerate().map(page).collect()
}

/// What the index says of a page: `1. [Title](file.md): what it is about`.
fn line_of_index(number: usize) -> Option<String> {
    let start = format!("{number}. [");
    let line = TEXTS[0].lines().find_map(|line| line.strip_prefix(start.as_str()))?;
    let (title, rest) = line.split_once("](")?;
    Some(format!("{title}: {}", rest.split_once("): ")?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_of_the_index_in_its_order() {
        let entries = TEXTS[0].lines().filter(|line| line.contains("](") && line.starts_with(char::is_numeric)).count();
        assert_eq!(entries + 1, TEXTS.len());
        for (number, page) in guide_pages().iter().enumerate().skip(1) {
            let title = page.line.split_once(": ").unwrap().0;
            assert!(page.text.starts_with(&format!("# {number}. {title}\n")), "{} has the title {title}", page.name);
        }
    }
}
