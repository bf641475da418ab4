//! How a table lies on a screen: narrow columns as they are, the last one wrapped into what is left.

use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, Table, presets};

/// The columns before the last are not wrapped as long as they leave this share of the width, in percent, to it.
const LEFT_TO_LAST: usize = 35;

/// A table of these rows, at most `width` columns wide; without a width, as wide as the terminal.
pub fn layout(head: &[&str], rows: Vec<Vec<String>>, bold: bool, width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
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
    let all = usize::from(table.width().unwrap_or(u16::MAX));
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

/// Moves the column with the longest cell behind all others, where it can be wrapped.
pub fn widest_last(head: &mut [&str], rows: &mut [Vec<String>]) {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
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
    fn columns_that_are_all_wide_share_the_width() {
        let wide = "word ".repeat(40);
        let shown = layout(&["one", "other"], vec![texts(&[&wide, &wide])], true, Some(60)).to_string();
        assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
    }
}
