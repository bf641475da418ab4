//! What is not read of a project is reported where its reader looks.

use crate::support::home::Home;
use crate::support::server::Server;
use serde_json::json;

const SETTINGS: &str = "'$schema' = \"https://awslabs.github.io/duvet/config/v0.4.json\"\n\
                        [[source]]\npattern = \"src/*.rs\"\n";

#[test]
fn lists_of_requirements_name_the_cited_texts_that_are_not_in_the_project() {
    let home = Home::with(&[(".duvet/config.toml", SETTINGS)]);
    for number in 1..=5 {
        home.write(
            &format!("src/{number}.rs"),
            &format!("//= https://example.org/tea{number}#a\n//# A pot MUST brew.\n"),
        );
    }
    let mut server = Server::start(&home, &["--pack", "duvet"]);
    let notice = "the texts of 5 cited specifications are not in the project, so that requirements of them are not in this \
                answer: https://example.org/tea1 is expected at .duvet/specifications/example.org/tea1.txt;";
    let tools =
        ["list_uncited_requirements", "get_prioritized_requirements", "search_requirements", "summarize_coverage"];
    for tool in tools {
        let arguments = if tool == "search_requirements" { json!({ "query": "pot" }) } else { json!({}) };
        let result = server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))["result"].clone();
        assert!(result["structuredContent"]["notices"].to_string().contains(notice), "{result}");
        assert!(result["structuredContent"]["notices"].to_string().contains("and 2 more"), "{result}");
    }
    for uri in ["duvet:///requirements", "duvet:///citations"] {
        let result = server.ask("resources/read", &json!({ "uri": uri }))["result"].clone();
        assert_eq!(result["contents"][0]["text"], "[]");
        assert!(result.to_string().contains(notice), "{result}");
    }
    server.end();
}

#[test]
fn a_source_that_is_a_link_out_of_the_project_is_reported() {
    let home = Home::with(&[(".duvet/config.toml", SETTINGS), ("src/a.rs", "fn a() {}\n")]);
    std::fs::write(home.user().join("z.rs"), "fn z() {}\n").unwrap();
    std::os::unix::fs::symlink(home.user().join("z.rs"), home.workspace().join("src/z.rs")).unwrap();
    let mut server = Server::start(&home, &["--pack", "duvet"]);
    for _ in 0..2 {
        let result = server.ask("tools/call", &json!({ "name": "list_citations" }))["result"].clone();
        let notice = result["structuredContent"]["notices"].to_string();
        assert!(notice.contains("src/z.rs is skipped: it is a link to"), "{result}");
    }
    server.end();
}
