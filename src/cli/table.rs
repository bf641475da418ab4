//! How a table lies on a screen: narrow columns as they are, long words shortened, the last column wrapped into what
//! is left.

use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, Table, presets};

/// The columns before the last are not wrapped as long as they leave this share of the width, in percent, to it.
const LEFT_TO_LAST: usize = 35;

/// The width where a terminal does not tell one.
const USUAL_WIDTH: u16 = 100;

/// A word longer than this share of the width, in percent, is shortened in its middle: a pipe gets it whole.
const LONGEST_WORD: usize = 25;

/// A word of so many characters is never shortened: names fit.
const NAME: usize = 32;

/// A table of these rows, at most `width` columns wide; without a width, as wide as the terminal.
pub fn layout(head: &[&str], rows: Vec<Vec<String>>, bold: bool, width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width.or(table.width()).filter(|width| *width > 0).unwrap_or(USUAL_WIDTH));
    let all = usize::from(table.width().unwrap_or(USUAL_WIDTH));
    let most = NAME.max(all * LONGEST_WORD / 100);
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|row| row.iter().map(|cell| shorten(cell, most)).collect()).collect();
    table.set_header(head.iter().map(|text| {
        let cell = Cell::new(text);
        if bold { cell.add_attribute(Attribute::Bold) } else { cell }
    }));
    let one_has_lines = rows.iter().flatten().any(|cell| cell.contains('\n'));
    table.add_rows(rows);
    let widths: Vec<usize> = table.column_max_content_widths().into_iter().map(usize::from).collect();
    let Some((last, narrow)) = widths.split_last() else { return table };
    // A blank stands on each side of a cell.
    let taken: usize = narrow.iter().map(|width| width + 2).sum();
    if taken * 100 <= all * (100 - LEFT_TO_LAST) {
        for column in table.column_iter_mut().take(narrow.len()) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    // Lines between the rows are needed only where a row may have several lines.
    if taken + last + 2 <= all && !one_has_lines {
        let style = table.style_mut();
        (style.row_separator.fill, style.row_separator.junction) = (None, None);
    }
    table
}

/// A cell of a single word, such as a path or a hash, in at most so many characters: its beginning and its end.
fn shorten(cell: &str, most: usize) -> String {
    let count = cell.chars().count();
    if count <= most || cell.contains(char::is_whitespace) {
        return cell.to_owned();
    }
    let end = most / 3;
    let begin: String = cell.chars().take(most - end - 1).collect();
    let rest: String = cell.chars().skip(count - end).collect();
    format!("{begin}…{rest}")
}

/// Moves the column with the longest cell behind all others, where it can be wrapped.
pub fn widest_last(head: &mut [&str], rows: &mut [Vec<String>]) {
    // What is one word is not wrapped but shortened.
    let width_of = |cell: &String| {
        let count = cell.chars().count();
        if cell.contains(char::is_whitespace) { count } else { count.min(NAME) }
    };
    let width = |column: usize| rows.iter().map(|row| width_of(&row[column])).max().unwrap_or(0);
    // Of equally wide columns the last one: then nothing moves without need.
    let Some(widest) = (0..head.len()).max_by_key(|column| width(*column)) else { return };
    head[widest..].rotate_left(1);
    rows.iter_mut().for_each(|row| row[widest..].rotate_left(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn the_widest_column_goes_last_and_the_others_keep_their_order() {
        let mut head = vec!["path", "level", "status"];
        let mut rows = vec![texts(&["a/long/path/of/it", "MUST", "done"]), texts(&["b", "MAY", "open"])];
        widest_last(&mut head, &mut rows);
        assert_eq!(head, ["level", "status", "path"]);
        assert_eq!(rows[0], ["MUST", "done", "a/long/path/of/it"]);
        widest_last(&mut [], &mut []);
    }

    #[test]
    fn only_the_last_column_is_wrapped() {
        let rows = vec![texts(&["get_the_long_name", "reads", "One two three four five six seven eight nine ten."])];
        let shown = layout(&["tool", "effect", "description"], rows, false, Some(50)).to_string();
        assert!(shown.contains("get_the_long_name") && shown.contains("reads"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 50), "{shown}");
        assert!(shown.lines().count() > 4, "{shown}");
    }

    #[test]
    fn rows_of_one_line_stand_close() {
        let rows = vec![texts(&["a", "b"]), texts(&["c", "d"])];
        assert_eq!(layout(&["one", "other"], rows, false, Some(60)).to_string().lines().count(), 6);
        let rows = vec![texts(&["a", "b"]), texts(&["c", "d\ne"])];
        assert_eq!(layout(&["one", "other"], rows, false, Some(60)).to_string().lines().count(), 8);
    }

    #[test]
    fn a_long_word_shows_its_beginning_and_its_end() {
        let rows = vec![texts(&["/specifications/spec/sections/readme/requirements/4b8137f352e7", "It MUST brew."])];
        let shown = layout(&["path", "text"], rows, false, Some(80)).to_string();
        assert!(shown.contains("/specifications/spec/…8137f352e7") && shown.contains("It MUST brew."), "{shown}");
    }

    #[test]
    fn a_terminal_without_a_width_has_the_usual_one() {
        let shown = layout(&["one"], vec![texts(&["some words"])], false, Some(0)).to_string();
        assert!(shown.contains("some words"), "{shown}");
    }

    #[test]
    fn columns_that_are_all_wide_share_the_width() {
        let wide = "word ".repeat(40);
        let shown = layout(&["one", "other"], vec![texts(&[&wide, &wide])], true, Some(60)).to_string();
        assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
    }
}
