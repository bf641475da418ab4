//! How the example of a rule is mended: one declaration shows the fault and its cure.

use super::Rule;

/// A change that mends an example: in the file of that path the text, which stands there once, becomes the other.
/// Where the file is new, the text is empty; where it goes, the other is.
pub type Mend = (&'static str, &'static str, &'static str);

impl Rule {
    /// The files of its example, mended: path and text.
    pub fn mended_files(&self) -> Vec<(&'static str, String)> {
        let mut files: Vec<(&str, String)> =
            self.fires.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
        for (path, find, put) in self.mended {
            match files.iter_mut().find(|(known, _)| known == path) {
                Some((_, text)) => *text = text.replacen(find, put, 1),
                None => files.push((path, (*put).to_owned())),
            }
        }
        files.retain(|(_, text)| !text.is_empty());
        files
    }
}

/// A change as the lines that go and the lines that come.
pub fn lines_of(mend: &Mend) -> impl Iterator<Item = String> {
    let (_, find, put) = mend;
    find.lines().map(|line| format!("- {line}")).chain(put.lines().map(|line| format!("+ {line}")))
}
