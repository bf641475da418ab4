//! What packagers install with the binary: completions, manual pages, and the version that bug reports name.

use crate::support::home::Home;

/// The commands that the help lists.
fn commands(home: &Home) -> Vec<String> {
    let help = home.run(&["--help"]).ended(0).out;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<String> = listed.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect();
    assert!(names.contains(&"serve".to_owned()), "{help}");
    names
}

#[test]
fn each_shell_completes_every_command() {
    let home = Home::with(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.run(&["completions", shell]).ended(0).out;
        for command in commands(&home) {
            assert!(script.contains(&command), "{shell} does not complete `{command}`");
        }
    }
    let refused = home.run(&["completions", "tcsh"]).ended(2).err;
    assert!(refused.contains("[possible values: bash, elvish, fish, powershell, zsh]"), "{refused}");
}

#[test]
fn completions_need_no_workspace_that_can_be_read() {
    let home = Home::with(&[("toolsd.toml", "[server\n")]);
    home.run(&["check"]).ended(1);
    home.run(&["completions", "bash"]).ended(0);
}

#[test]
fn each_command_has_a_manual_page() {
    let home = Home::with(&[("pages/readme", "")]);
    let told = home.run(&["man", "pages"]).ended(0).out;
    let overview = home.read("pages/toolsd.1");
    for command in commands(&home).iter().filter(|command| *command != "help") {
        let page = home.read(&format!("pages/toolsd-{command}.1"));
        assert!(page.contains(".SH OPTIONS") || page.contains(".SH SUBCOMMANDS"), "{page}");
        assert!(overview.contains(&format!("toolsd\\-{command}(1)")), "{overview}");
        assert!(told.contains(&format!("wrote pages/toolsd-{command}.1")), "{told}");
    }
    let refused = home.run(&["man", "nowhere"]).ended(2).err;
    assert!(refused.contains("nowhere"), "{refused}");
}

#[test]
fn the_long_version_names_the_target() {
    let home = Home::with(&[]);
    let (short, long) = (home.run(&["-V"]).ended(0).out, home.run(&["--version"]).ended(0).out);
    assert_eq!(short, format!("toolsd {}\n", env!("CARGO_PKG_VERSION")));
    assert!(long.starts_with(short.trim()) && long.trim_end().ends_with(')'), "{long}");
    assert!(long.contains(std::env::consts::ARCH), "{long}");
}
