//! Whatever must not run for ever, or take all memory, is stopped, and no `catch` hides it.

use super::super::{CallerId, Pool, Program};
use super::host::TestHost;
use super::{run_files, value};
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::{CancelFlag, Guard, Limits};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

fn stopped(text: &str, limits: Limits) -> Box<Diagnostic> {
    run_files(&[("a.rhai", text)], limits).expect_err(text)
}

fn few_ticks() -> Limits {
    Limits { ticks: 200_000, ..Limits::default() }
}

fn little_memory() -> Limits {
    // Enough time on a busy machine, so that memory is the limit that is reached.
    Limits { memory: 16 << 20, time: Duration::from_secs(100), ..Limits::default() }
}

//= docs/spec.md#scripts
//= type=test
//# A script MUST stop when its call is cancelled or reaches its limit of steps, time, memory or depth.
#[test]
fn what_never_ends_is_ended() {
    for text in [
        "fn main() { loop { } }",
        "fn main() { let n = 0; while true { n += 1; } }",
        "fn main() { let list = []; for i in 0..1000 { list.push(i); } loop { list.map(|x| x + 1); } }",
        "fn main() { let f = |x| { loop { } }; [1].map(f) }",
        "fn main() { [1].filter(|x| { loop { } true }) }",
        "fn main() { [1, 2].reduce(|a, b| { loop { } }) }",
        "fn twice(n) { if n > 0 { twice(n - 1); twice(n - 1); } } fn main() { twice(60) }",
    ] {
        let error = stopped(text, few_ticks());
        assert_eq!(
            (error.code, error.message.as_str()),
            (Code::LIMIT, "the script took more than 200000 steps"),
            "{text}"
        );
        assert!(error.at.is_some(), "{text}");
    }
}

//= docs/spec.md#scripts
//= type=test
//# A script that is stopped MUST NOT continue by catching the error.
#[test]
fn a_stop_cannot_be_caught() {
    for text in [
        "fn main() { try { loop { } } catch { 7 } }",
        "fn main() { try { [1].map(|x| { loop { } }) } catch (error) { 7 } }",
        "fn main() { loop { try { loop { } } catch { } } }",
        "fn endless() { loop { } } fn main() { try { endless() } catch { } 7 }",
    ] {
        assert_eq!(stopped(text, few_ticks()).code, Code::LIMIT, "{text}");
    }
}

#[test]
fn what_takes_all_memory_is_stopped() {
    for text in [
        r#"fn main() { let s = "x"; loop { s += s; } }"#,
        r#"fn main() { let s = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"; loop { s = s + s; } }"#,
        r#"fn main() { let s = "x"; loop { s = `${s}${s}`; } }"#,
        "fn main() { let list = [1]; loop { list += list; } }",
        "fn main() { let list = [1]; loop { list.append(list); } }",
        "fn main() { let list = [1]; loop { list = [list, list]; } }",
        "fn main() { let list = []; loop { list.push(1); } }",
        "fn main() { let map = #{}; let n = 0; loop { map[`k${n}`] = n; n += 1; } }",
        r#"fn main() { try { let s = "x"; loop { s += s; } } catch { 7 } }"#,
    ] {
        let error = stopped(text, little_memory());
        assert_eq!(
            (error.code, error.message.as_str()),
            (Code::LIMIT, "the call used more than 16 MB of memory"),
            "{text}"
        );
    }
}

#[test]
fn recursion_has_a_depth_and_the_pack_may_set_it() {
    let down = "fn down(n) { if n == 0 { 0 } else { 1 + down(n - 1) } } fn main() { down(50) }";
    assert_eq!(run_files(&[("a.rhai", down)], Limits::default()), Ok(50.into()));
    let limits = Limits { depth: 20, ..Limits::default() };
    let message = "functions call each other more than 20 levels deep";
    assert_eq!(stopped(down, limits).message, message);
    let limits = Limits { depth: 200, ..Limits::default() };
    assert_eq!(run_files(&[("a.rhai", &down.replace("50", "190"))], limits), Ok(190.into()));
    for endless in [
        "fn down() { down() } fn main() { down() }",
        "fn down() { [1].map(|x| down()) } fn main() { down() }",
        "fn a() { b() } fn b() { let f = || a(); f.call() } fn main() { try { a() } catch { 7 } }",
    ] {
        let error = stopped(endless, Limits::default());
        assert_eq!((error.code, error.message.as_str()), (Code::LIMIT, &*message.replace("20", "64")), "{endless}");
    }
}

#[test]
fn time_is_over_in_the_middle_of_a_verb() {
    let limits = Limits { time: Duration::from_millis(50), ..Limits::default() };
    let started = Instant::now();
    let error = stopped("fn main() { let list = [1, 2, 3]; loop { list.filter(|x| x > 1); } }", limits);
    assert_eq!(error.message, "the call took longer than 50 ms");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn a_call_is_cancelled_from_another_thread() {
    let (program, _) = Program::compile(&[("a.rhai", "fn main() { loop { } }")]);
    let cancel = CancelFlag::default();
    let guard = Guard::new(Limits::default(), cancel.clone());
    let pool = Pool::new();
    let (sender, receiver) = std::sync::mpsc::channel();
    pool.call(
        "main".to_owned(),
        CallerId::default(),
        CancelFlag::default(),
        move || program.run("a.rhai", "main", Vec::new(), Arc::new(TestHost::new(&[])), guard),
        move |result| sender.send((result, Instant::now())).expect("someone waits"),
    );
    std::thread::sleep(Duration::from_millis(30));
    let cancelled = Instant::now();
    cancel.cancel();
    let (result, ended) = receiver.recv().expect("it ends");
    let error = result.expect("no panic").expect_err("it was cancelled");
    assert_eq!((error.code, error.message.as_str()), (Code::CANCELLED, "the call was cancelled"));
    let took = ended.saturating_duration_since(cancelled);
    assert!(took < Duration::from_millis(5 * if cfg!(debug_assertions) { 20 } else { 1 }), "{took:?}");
}

#[test]
fn what_is_within_the_limits_is_not_disturbed() {
    assert_eq!(value("let n = 0; for i in 0..20000 { n += 1; } n"), 20_000);
}

#[test]
fn a_value_nested_without_end_does_not_break_the_thread() {
    let limits = Limits { time: Duration::from_millis(500), ..Limits::default() };
    for text in [
        "fn main() { let list = []; loop { list = [list]; } }",
        "fn main() { let map = #{}; loop { map = #{ map: map }; } }",
    ] {
        assert_eq!(stopped(text, limits).code, Code::LIMIT, "{text}");
    }
}

#[test]
fn closures_that_capture_closures_are_dropped_step_by_step() {
    for text in [
        "fn main() { let f = || 1; loop { let g = f; f = || g; } }",
        "fn main() { let f = || 1; loop { let g = 0; let h = || g; g = f; f = h; } }",
        "fn link(g) { || g } fn main() { let f = || 1; loop { f = link(f); } }",
        "fn main() { let l = []; loop { let g = l; l = [[[[|| g]]]]; } }",
    ] {
        // This is enough time even for a busy machine, so it is the memory limit that ends the call.
        let limits = Limits { memory: 16 << 20, time: Duration::from_secs(300), ..Limits::default() };
        assert_eq!(stopped(text, limits).message, "the call used more than 16 MB of memory", "{text}");
    }
    // It is built before it is linked, from the first to the last closure, and given up in the middle of the call.
    let text = "fn main() {
        let cells = [];
        for at in 0..40000 { let g = 0; cells.push([|| g, |v| { g = v; }]); }
        for at in 1..40000 { cells[at][1].call(cells[at - 1][0]); }
        cells = [];
        7
    }";
    assert_eq!(run_files(&[("a.rhai", text)], Limits::default()), Ok(7.into()));
}

//= docs/spec.md#calls
//= type=test
//# A call that still runs after it was answered MUST NOT affect the disk, the graph, the memory of its pack
//# or the client.
#[test]
fn a_script_that_goes_on_after_its_answer_reaches_nothing() {
    let text = "fn main() {
        try { render(\"spin\", #{}); } catch { }
        cache_set(\"pot\", 1);
        try { cache_set(\"pot\", 2); } catch { }
        progress(1);
        write_text(\"a.txt\", \"b\");
        7
    } fn look() { [cache_get(\"pot\"), exists(\"a.txt\")] }";
    let (program, errors) = Program::compile(&[("a.rhai", text)]);
    assert!(errors.is_empty(), "{errors:#?}");
    let (program, host, pool) = (Arc::new(program), Arc::new(TestHost::new(&[])), Pool::new());
    host.spins.store(true, Ordering::Release);
    let limits = Limits { time: Duration::from_millis(20), ..Limits::default() };
    let (answered, answers) = std::sync::mpsc::channel();
    let (ended, ends) = std::sync::mpsc::channel();
    let (running, own) = (Arc::clone(&program), Arc::clone(&host));
    let job = move || {
        let guard = Guard::new(limits, CancelFlag::default());
        let _watched = crate::script::watch_guard(&guard);
        let result = running.run("a.rhai", "main", Vec::new(), own, guard);
        let _ = ended.send(result.err().map(|error| error.message));
    };
    pool.call("spin".to_owned(), CallerId::default(), CancelFlag::default(), job, move |result| {
        drop(answered.send(result))
    });
    let error = answers.recv().expect("it is answered").expect_err("the watchdog answered on its behalf");
    assert_eq!((error.code, error.message.as_str()), (Code::LIMIT, "the call took longer than 20 ms"));
    assert!(ends.try_recv().is_err(), "its thread works on");
    host.spins.store(false, Ordering::Release);
    assert_eq!(ends.recv().expect("it ends"), Some("the call took longer than 20 ms".to_owned()));
    assert!(answers.recv().is_err(), "it is answered once");
    let guard = Guard::new(Limits::default(), CancelFlag::default());
    let seen = pool.run({
        let host = Arc::clone(&host);
        move || program.run("a.rhai", "look", Vec::new(), host, guard)
    });
    let seen = seen.expect("no panic").expect("it looks").to_json();
    assert_eq!(seen, serde_json::json!([null, false]));
    assert!(host.notices.lock().expect("it is sound").is_empty());
}
