//! Scripts of clients, and the short list of tools: no slower than the same calls made directly, and small answers.
//!
//! The opponent is the code mode of FastMCP, with the same tools and the same scripts in its language.

use crate::Outcome;
use crate::client::{Call, Right, Server};
use crate::report::Report;
use crate::setting::Setting;
use crate::statistics::{median, milliseconds};
use serde_json::{Value, json};

/// A script of nothing, in milliseconds.
const MAX_NOTHING_MS: f64 = 0.5;
/// Ten calls, each with the result of the one before, in milliseconds.
const MAX_CHAIN_MS: f64 = 1.5;
/// A thousand rows of which five are kept, in milliseconds.
const MAX_FILTER_MS: f64 = 25.0;
/// The content of their answer, in bytes.
const MAX_FILTER_BYTES: usize = 200;
/// Ten calls of 50 ms at the same time, in milliseconds.
const MAX_PARALLEL_MS: f64 = 60.0;
/// A call by a client where scripts may call, too, against one where they may not.
const MAX_DIRECT_RATIO: f64 = 1.05;
/// The list of the shipped packs with `--discover`, in tokens.
const MAX_DISCOVER_TOKENS: usize = 450;
/// The same with `--code-mode` as well.
const MAX_BOTH_TOKENS: usize = 900;

/// Calls of a server before the next one has its turn: enough to be warm, few enough that noise hits all alike.
const TURN: usize = 20;
/// The packs that are served together.
const PACKS: [&str; 5] = ["duvet", "elspais", "skills", "spec-kitty", "specman"];
const OPPONENT: &str = "FastMCP code mode";

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    scripts(setting, report)?;
    lists(setting, report)?;
    direct(setting, report)
}

/// A script, the same one for the opponent, the same calls without one, and what it may take.
struct Trial {
    name: &'static str,
    limit: f64,
    /// The bytes that the content of the answer stays below, where that is promised.
    bytes: Option<usize>,
    /// Samples of a full run.
    count: usize,
    script: &'static str,
    python: &'static str,
    right: fn() -> Right,
    direct: fn() -> Vec<Call>,
}

fn trials() -> [Trial; 4] {
    [
        Trial {
            name: "nothing",
            limit: MAX_NOTHING_MS,
            bytes: None,
            count: 500,
            script: "1",
            python: "return 1",
            right: || Right::Value(json!(1)),
            direct: Vec::new,
        },
        Trial {
            name: "10 echoes in a chain",
            limit: MAX_CHAIN_MS,
            bytes: None,
            count: 200,
            script: "let text = \"tea\"; for i in 0..10 { text = echo(#{ text: `${text} ${i}` }); } text",
            python: "text = 'tea'\nfor i in range(10):\n    text = (await call_tool('echo', {'text': f'{text} {i}'}))['result']\nreturn text",
            right: || Right::Text(chained(10)),
            direct: || (1..=10).map(|links| echo(&chained(links))).collect(),
        },
        Trial {
            name: "5 of 1,000 rows",
            limit: MAX_FILTER_MS,
            bytes: Some(MAX_FILTER_BYTES),
            count: 100,
            script: r#"rows(#{ count: 1000 }).filter(|row| row.title.contains("teapot")).map(|row| row.id)"#,
            python: "rows = await call_tool('rows', {'count': 1000})\nreturn [row['id'] for row in rows['result'] if 'teapot' in row['title']]",
            right: || Right::Value(json!(["row-17", "row-217", "row-417", "row-617", "row-817"])),
            direct: || vec![Call::new("rows", &json!({ "count": 1000 }), Right::Value(rows(1000)))],
        },
        Trial {
            name: "10 × 50 ms in parallel",
            limit: MAX_PARALLEL_MS,
            bytes: None,
            count: 100,
            script: "parallel([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], |i| nap(#{ number: i }))",
            python: "import asyncio\nnaps = await asyncio.gather(*[call_tool('nap', {'number': i}) for i in range(10)])\nreturn [one['result'] for one in naps]",
            right: || Right::Value(json!([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])),
            direct: Vec::new,
        },
    ]
}

/// What the text is after so many echoes.
fn chained(links: usize) -> String {
    (0..links).fold("tea".to_owned(), |text, link| format!("{text} {link}"))
}

fn echo(text: &str) -> Call {
    Call::new("echo", &json!({ "text": text }), Right::Text(text.to_owned()))
}

/// The rows of benches/packs/tools.d/code.rhai.
fn rows(count: usize) -> Value {
    let title = |i| if i % 200 == 17 { format!("The teapot, part {i}") } else { format!("Chapter {i}") };
    let row = |i| json!({ "id": format!("row-{i}"), "title": title(i), "body": format!("What is said here: {i}.") });
    (0..count).map(row).collect()
}

/// A server and what it is asked, one call after the other.
struct Contestant {
    name: &'static str,
    server: Server,
    calls: Vec<Call>,
    times: Vec<f64>,
    /// The last answer.
    answer: Value,
}

impl Contestant {
    fn new(name: &'static str, server: Server, calls: Vec<Call>) -> Contestant {
        Contestant { name, server, calls, times: Vec::new(), answer: Value::Null }
    }

    /// Milliseconds for all calls.
    fn ask(&mut self) -> Outcome<f64> {
        let mut sum = 0.0;
        for call in &self.calls {
            let (time, answer) = self.server.call(call)?;
            (sum, self.answer) = (sum + milliseconds(time), answer);
        }
        Ok(sum)
    }

    fn middle(&self) -> Outcome<f64> {
        median(&self.times).ok_or_else(|| "nothing was measured".into())
    }

    /// Bytes of the content of the last answer.
    fn content_bytes(&self) -> usize {
        self.answer["content"].to_string().len()
    }
}

/// Measures all in turns, at least `count` samples of each, after some that do not count.
fn race(contestants: &mut [Contestant], count: usize) -> Outcome<()> {
    let each = count.min(TURN);
    for round in 0..=count.div_ceil(each) {
        for turn in 0..contestants.len() {
            let at = (round + turn) % contestants.len();
            let one = &mut contestants[at];
            for _ in 0..each {
                let time = one.ask().map_err(|error| format!("{}: {error}", one.name))?;
                if round > 0 {
                    one.times.push(time);
                }
            }
        }
    }
    Ok(())
}

fn scripts(setting: &Setting, report: &mut Report) -> Outcome<()> {
    for trial in trials() {
        one(setting, report, &trial).map_err(|error| format!("{}: {error}", trial.name))?;
    }
    Ok(())
}

fn one(setting: &Setting, report: &mut Report, trial: &Trial) -> Outcome<()> {
    let script = vec![Call::new("run_script", &json!({ "script": trial.script }), (trial.right)())];
    let mut all = vec![Contestant::new("script", setting.code_pack(&["--code-mode"])?, script)];
    if let Some(server) = setting.fastmcp(true)? {
        let code = vec![Call::new("execute", &json!({ "code": trial.python }), (trial.right)())];
        all.push(Contestant::new(OPPONENT, server, code));
    }
    let calls = (trial.direct)();
    if !calls.is_empty() {
        all.push(Contestant::new("direct", setting.code_pack(&[])?, calls));
        if let Some(server) = setting.fastmcp(false)? {
            all.push(Contestant::new("FastMCP direct", server, (trial.direct)()));
        }
    }
    race(&mut all, setting.count(trial.count, 3))?;
    judge(trial, &all, report)
}

fn judge(trial: &Trial, all: &[Contestant], report: &mut Report) -> Outcome<()> {
    let target = format!("code: {}, p50", trial.name);
    let own = all[0].middle()?;
    let value = format!("{own:.2} ms");
    report.measured(&target, &format!("≤ {} ms", trial.limit), &value, own <= trial.limit);
    match all.iter().find(|one| one.name == OPPONENT) {
        Some(other) => {
            let other = other.middle()?;
            report.measured(&target, &format!("≤ {OPPONENT} {other:.2} ms"), &value, own <= other);
        }
        None => report.no_opponent(&target, &format!("≤ {OPPONENT}"), &value),
    }
    if let Some(most) = trial.bytes {
        let bytes = all[0].content_bytes();
        let target = format!("code: {}, content", trial.name);
        report.measured(&target, &format!("< {most} bytes"), &format!("{bytes} bytes"), bytes < most);
    }
    for one in all {
        let (middle, whole) = (one.middle()?, one.answer.to_string().len());
        let least = one.times.iter().copied().fold(f64::INFINITY, f64::min);
        report.note(format!(
            "code, {}, {}: p50 {middle:.2} ms, min {least:.2} ms; content of the last answer {} bytes, whole {whole}",
            trial.name,
            one.name,
            one.content_bytes()
        ));
    }
    Ok(())
}

/// What a model reads of the tools before it calls one.
fn lists(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let all = listed(&mut setting.packs(&PACKS, &[])?)?;
    report.note(format!("code: the list of {} tools of {} packs: {}", all.names.len(), PACKS.len(), all.size()));
    let cases: [(&[&str], &[&str], usize); 2] = [
        (&["--discover"], &["find_tools", "call_tool"], MAX_DISCOVER_TOKENS),
        (&["--discover", "--code-mode"], &["run_script", "find_tools", "call_tool"], MAX_BOTH_TOKENS),
    ];
    for (words, names, limit) in cases {
        let list = listed(&mut setting.packs(&PACKS, words)?)?;
        if list.names != names {
            return Err(format!("{words:?} lists {:?}, not {names:?}", list.names).into());
        }
        let target = format!("code: list with {}", words.join(" "));
        report.measured(&target, &format!("≤ {limit} tokens"), &list.size(), list.tokens() <= limit);
    }
    report.note("code: tokens are bytes ÷ 4; real tokenizers count names of tools cheaper".to_owned());
    if let Some(mut server) = setting.fastmcp(true)? {
        report.note(format!("code: the list of {OPPONENT}, which names no tools: {}", listed(&mut server)?.size()));
    }
    Ok(())
}

struct List {
    names: Vec<String>,
    bytes: usize,
}

impl List {
    fn tokens(&self) -> usize {
        self.bytes.div_ceil(4)
    }

    fn size(&self) -> String {
        format!("{} bytes, ≈ {} tokens", self.bytes, self.tokens())
    }
}

fn listed(server: &mut Server) -> Outcome<List> {
    let (_, result) = server.ask("tools/list", &json!({}))?;
    let tools = result["tools"].as_array().ok_or_else(|| format!("no tools: {result:.300}"))?;
    let names = tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect();
    Ok(List { names, bytes: result["tools"].to_string().len() })
}

/// What `--code-mode` costs a client that calls a tool itself.
fn direct(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let calls = || vec![echo("hello, is anybody there?")];
    let mut both = [
        Contestant::new("with", setting.code_pack(&["--code-mode"])?, calls()),
        Contestant::new("without", setting.code_pack(&[])?, calls()),
    ];
    race(&mut both, setting.count(10_000, 3))?;
    let (with, without) = (both[0].middle()?, both[1].middle()?);
    let limit = format!("≤ {MAX_DIRECT_RATIO} × {without:.3} ms without");
    let value = format!("{with:.3} ms, {:.2} ×", with / without);
    report.measured("code: a direct echo with --code-mode", &limit, &value, with <= MAX_DIRECT_RATIO * without);
    Ok(())
}
