//! Names and texts of strangers on a terminal: none of them moves its cursor, begins a line, or hides one.

use crate::house::House;

/// Characters that a name may contain on the file system.
const MARKS: [&str; 5] = [
    "\n",
    "\r\t\u{7f}",
    "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}1m",
    "\u{202e}\u{2066}\u{2028}\u{200b}",
    "\n.toolsd\\tools.d\\other.toml  same  ",
];

/// Each command that prints names or texts of a workspace, a layer or the record of trust.
const COMMANDS: [&[&str]; 10] = [
    &["trust"],
    &["list"],
    &["list", "--grants"],
    &["doctor"],
    &["check", "own", "bad"],
    &["call", "nothing"],
    &["trust", "--edits", "nothing"],
    &["trust", "--yes"],
    &["trust", "--list"],
    &["trust", "--revoke", "all"],
];

/// A workspace and a layer of the user with `mark` in every name and every text that is reported.
fn marked(mark: &str) -> House {
    let house = House::new();
    let text: String = mark.chars().map(|letter| format!("\\u{:04X}", u32::from(letter))).collect();
    let head = format!("[pack]\ntitle = \"T{text}t\"\nversion = \"1{text}0\"\n");
    // A variable with a space in its name cannot be granted.
    let variable = text.replace("\\u0020", "");
    let grants = format!("grants = {{ read = [\"a{text}b\"], env = [\"A{variable}B\"], run = [\"p{text}q\"] }}\n");
    let tool = format!(
        "[[tool]]\nname = \"say\"\ndescription = \"Says{text} a word, which is all that it does.\"\neffect = \"pure\"\ntext = \"x\"\n"
    );
    let resource =
        format!("[[resource]]\nname = \"n{text}m\"\nuri = \"notes:///a\"\ntitle = \"R{text}r\"\ntext = \"x\"\n");
    house.write(&format!("workspace/.toolsd/tools.d/a{mark}b.toml"), format!("{head}{grants}{tool}"));
    house.write(&format!("workspace/.toolsd/templates/a{mark}b/c{mark}.hbs"), "x");
    house.write("config/toolsd/tools.d/own.toml", format!("{head}{grants}{tool}{resource}"));
    house.write("config/toolsd/tools.d/bad.toml", format!("{head}\"k{text}\" = 1\n{tool}# \u{202e}raw\n"));
    house.write("workspace/toolsd.toml", format!("serve = [\"s{text}\"]\nroots = [\"../r{text}\"]\n\"u{text}\" = 1\n"));
    house
}

//= docs/spec.md#command-line
//= type=test
//# Names and texts of a workspace MUST NOT write control characters or lines of their own to a terminal.
#[test]
fn no_name_forges_a_line_or_moves_a_cursor() {
    let reported = |mark: &str| -> Vec<(String, String)> {
        let house = marked(mark);
        COMMANDS
            .iter()
            .map(|words| {
                let output = house.command(words).env("TOOLSD_LOG", "info").output().unwrap();
                let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
                (text(output.stdout), text(output.stderr))
            })
            .collect()
    };
    let plain = reported("x");
    assert!(plain[0].0.contains("axb.toml") && plain[2].0.contains("axb"), "void: {plain:?}");
    for mark in crate::support::sample(MARKS.to_vec(), 2) {
        for ((words, (out, error)), (plain_out, plain_error)) in COMMANDS.iter().zip(reported(mark)).zip(&plain) {
            for (shown, plain) in [(&out, plain_out), (&error, plain_error)] {
                let is_seen = |letter: char| {
                    // The columns of a pipe are parted by tabs.
                    letter == '\n' || letter == '\t' || !letter.is_control()
                };
                assert!(shown.chars().all(is_seen), "{words:?}, {mark:?}: {shown:?}");
                assert!(
                    !shown.contains(['\u{202e}', '\u{2066}', '\u{2028}', '\u{200b}']),
                    "{words:?}, {mark:?}: {shown}"
                );
                let (count, wanted) = (shown.lines().count(), plain.lines().count());
                assert_eq!(count, wanted, "{words:?}, {mark:?}: {shown}\n--- not\n{plain}");
            }
        }
    }
}
