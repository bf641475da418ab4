//! What a catalogue of prompts is reviewed by: previews, who uses a partial, what prompts say before and after a change.

use crate::support::home::Home;
use serde_json::json;

const PACK: &str = include_str!("catalogue/review.toml");

fn catalogue() -> Home {
    let home = Home::with(&[
        (".toolsd/tools.d/review.toml", PACK),
        (".toolsd/templates/review/review.hbs", "Review this.\n\n{{text}}\n\n{{> templates/review/tone}}\n"),
        (".toolsd/templates/review/tone.hbs", "Be kind."),
    ]);
    home.trust();
    home
}

#[test]
fn a_preview_shows_what_a_model_reads() {
    let home = catalogue();
    let page = home.run(&["preview"]).ended(0).out;
    assert!(
        page.contains("# review (pack review)\n\nAsks for a review.\n\n- `text`, required: What to review.\n"),
        "{page}"
    );
    assert!(page.contains("## a review of a word\n\nArguments: `{\"text\":\"a ``` fence\"}`\n"), "{page}");
    assert!(page.contains("````text\nReview this.\n\na ``` fence\n\nBe kind.\n````\n"), "{page}");
    assert!(page.contains("## no case gets it: the names of the arguments in their places"), "{page}");
    assert!(page.contains("Be short: «what»"), "{page}");
    assert!(!home.run(&["preview", "review"]).ended(0).out.contains("# short"), "a prompt goes before a pack");
    let data = home.run(&["preview", "short", "--format", "json"]).ended(0).json();
    assert_eq!(data[0]["renderings"][0]["messages"][0], json!({ "role": "user", "text": "Be short: «what»" }));
    assert_eq!(data[0]["renderings"][0]["characters"], 16);
    assert!(home.run(&["preview", "shor"]).ended(2).err.contains("did you mean `short`?"));
    home.write(".toolsd/tools.d/review.toml", &PACK.replace("arguments = { text =", "arguments = { wrong ="));
    home.trust();
    assert!(home.run(&["preview", "review"]).ended(1).out.contains("It fails: "));
}

#[test]
fn what_prompts_say_is_compared_as_a_model_reads_it() {
    let home = catalogue();
    home.run(&["lock"]).ended(0);
    for words in [
        ["init", "--quiet"].as_slice(),
        &["add", "--all"],
        &["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "--message", "one"],
    ] {
        assert!(home.command_of("git").args(words).status().unwrap().success());
    }
    home.write(".toolsd/templates/review/tone.hbs", "Be blunt.");
    home.trust();
    let said = home.run(&["diff", "--from", "HEAD", "--cases"]).ended(0);
    assert!(said.out.contains("verdict: wording"), "{}", said.out);
    assert!(said.out.contains("Be [-kind.-]{+blunt.+}"), "{}", said.out);
    assert!(said.out.contains("prompt `review`"), "{}", said.out);
}
