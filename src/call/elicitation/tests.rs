//! Tests of the questions of a call without scripts.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::primitive_api::form;
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};

fn capabilities() -> Json {
    json!({ "elicitation": {}, "sampling": {} })
}

fn name() -> Question {
    let schema = form::complete_schema(&json!({ "name": { "type": "string", "minLength": 1 } }));
    Question { kind: QuestionKind::Form { message: "Who?".to_owned(), schema }, optional: false }
}

fn suspending(record: CallRecord, answers: &[(&str, Json)]) -> Arc<Elicitation> {
    let answers = answers.iter().map(|(key, answer)| ((*key).to_owned(), answer.clone())).collect();
    Elicitation::new(AskMode::Suspends { record: Box::new(record), answers }, capabilities())
}

fn accept(name: &str) -> Json {
    json!({ "action": "accept", "content": { "name": name } })
}

fn ask(interview: &Elicitation, key: &str) -> Result<Json> {
    let answers = interview.ask(&[(key.to_owned(), name())])?;
    Ok(answers[0].to_json())
}

/// What comes back after it went through the client.
fn record_of(interview: &Elicitation) -> CallRecord {
    let asks = interview.take_pending().expect("it was suspended");
    serde_json::from_value(serde_json::to_value(asks.record).unwrap()).unwrap()
}

//= docs/spec.md#questions
//= type=test
//# A call that runs again after an answer MUST get the same values from `now()`, `uuid()` and `once`.
#[test]
fn ids_results_and_notifications_survive_a_rerun() {
    let first = suspending(CallRecord::default(), &[]);
    assert_eq!(first.now_ms(7), 7);
    assert_eq!(first.next_id(|| "one".to_owned()), "one");
    assert!(first.is_new_notice());
    first.keep_value("pot", json!({ "cups": 4 }));
    assert_eq!(ask(&first, "who").unwrap_err().code, Code::SUSPENDED);
    let second = suspending(record_of(&first), &[("who", accept("Ada")), ("stray", json!(1))]);
    assert_eq!(second.now_ms(99), 7);
    assert_eq!(second.next_id(|| "two".to_owned()), "one");
    assert!(!second.is_new_notice() && second.is_new_notice(), "only new notices are sent");
    assert_eq!(second.kept_value("pot"), Some(json!({ "cups": 4 })));
    assert_eq!(ask(&second, "who"), Ok(accept("Ada")));
    assert_eq!(second.next_id(|| "two".to_owned()), "two");
    assert_eq!(ask(&second, "next").unwrap_err().code, Code::SUSPENDED);
    let third = suspending(record_of(&second), &[("next", accept("Bob"))]);
    assert_eq!(ask(&third, "who"), Ok(accept("Ada")), "earlier answers are kept");
    assert_eq!(ask(&third, "next"), Ok(accept("Bob")));
}

//= docs/spec.md#questions
//= type=test
//# An answer MUST be validated against its schema, and a missing or invalid one MUST be requested again, a
//# bounded number of times.
#[test]
fn answers_that_do_not_fit_are_asked_for_again_but_not_for_ever() {
    let mut record = CallRecord::default();
    for answer in [json!(12345), json!({ "action": "maybe" }), accept(""), json!({ "action": "accept" }), Json::Null] {
        let interview = suspending(record, &[("who", answer.clone()), ("other", accept("Eve"))]);
        // A content without fields fits, since none is required.
        if answer == json!({ "action": "accept" }) {
            assert!(ask(&interview, "who").is_ok());
            record = CallRecord::default();
            continue;
        }
        assert_eq!(ask(&interview, "who").unwrap_err().code, Code::SUSPENDED, "{answer}");
        record = record_of(&interview);
    }
    let mut record = CallRecord::default();
    for _ in 0..MAX_TRIES {
        let interview = suspending(record, &[]);
        assert_eq!(ask(&interview, "who").unwrap_err().code, Code::SUSPENDED);
        record = record_of(&interview);
    }
    assert_eq!(ask(&suspending(record, &[]), "who").unwrap_err().code, Code::ASK);
}

struct Says(Json, AtomicU32);

impl Asker for Says {
    fn ask(&self, questions: &[(String, QuestionKind)]) -> Result<Vec<Json>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(questions.iter().map(|_| self.0.clone()).collect())
    }
}

#[test]
fn a_call_that_waits_asks_again_as_often() {
    for (answer, times) in [(accept("Ada"), 1), (json!({}), MAX_TRIES)] {
        let says = Arc::new(Says(answer.clone(), AtomicU32::new(0)));
        let interview = Elicitation::new(
            AskMode::Waits { asker: Arc::clone(&says) as Arc<dyn Asker>, record: Box::default() },
            capabilities(),
        );
        let answered = (ask(&interview, "who"), ask(&interview, "who"));
        if times == 1 {
            assert_eq!(answered, (Ok(answer.clone()), Ok(answer)), "a key is asked once");
            assert_eq!(says.1.load(Ordering::Relaxed), 1);
        } else {
            assert!(answered.0.is_err_and(|error| error.code == Code::ASK));
        }
    }
}

#[test]
fn a_call_that_waits_goes_on_where_one_that_was_suspended_stood() {
    let before = suspending(CallRecord::default(), &[("who", accept("Ada")), ("stray", json!(1))]);
    let id = before.next_id(|| "drawn before".to_owned());
    let says = Arc::new(Says(accept("nobody"), AtomicU32::new(0)));
    let asker = Arc::clone(&says) as Arc<dyn Asker>;
    let asking = AskMode::Waits { asker, record: Box::new(before.record()) };
    let after = Elicitation::new(asking, capabilities());
    assert_eq!(ask(&after, "who"), Ok(accept("Ada")), "answered before it was asked");
    assert_eq!(says.1.load(Ordering::Relaxed), 0);
    assert_eq!(after.next_id(|| "drawn again".to_owned()), id);
    assert_eq!(after.next_id(|| "drawn twice".to_owned()), "drawn twice");
}

#[test]
fn a_key_stands_for_one_question() {
    let interview = suspending(CallRecord::default(), &[("who", accept("Ada"))]);
    ask(&interview, "who").unwrap();
    let other = Question { kind: QuestionKind::Sample(json!({})), optional: false };
    assert_eq!(interview.ask(&[("who".to_owned(), other)]).unwrap_err().code, Code::ASK);
}

//= docs/spec.md#questions
//= type=test
//# A client without a required capability MUST get an error that names the capability.
#[test]
fn unsupported_questions_fail_unless_optional() {
    let interview = suspending(CallRecord::default(), &[]);
    let roots = |optional| [("roots".to_owned(), Question { kind: QuestionKind::Roots, optional })];
    assert_eq!(interview.ask(&roots(true)), Ok(vec![Value::Null]));
    let error = interview.ask(&roots(false)).unwrap_err();
    assert_eq!(error.code, Code::CAPABILITY);
    assert_eq!(error.data.as_deref(), Some(&json!({ "requiredCapabilities": { "roots": {} } })));
}

struct Slow;

impl Asker for Slow {
    fn ask(&self, _: &[(String, QuestionKind)]) -> Result<Vec<Json>> {
        std::thread::sleep(std::time::Duration::from_millis(150));
        Ok(vec![accept("Ada")])
    }
}

//= docs/spec.md#questions
//= type=test
//# Time spent waiting for an answer MUST NOT count toward the time limit of the call.
#[test]
fn waiting_is_not_the_scripts_time() {
    let limits = crate::guard::Limits { time: std::time::Duration::from_millis(100), ..Default::default() };
    let guard = crate::guard::Guard::new(limits, crate::guard::CancelFlag::default());
    let _entered = guard.enter();
    let asking = AskMode::Waits { asker: Arc::new(Slow), record: Box::default() };
    let interview = Elicitation::new(asking, capabilities());
    assert_eq!(ask(&interview, "who"), Ok(accept("Ada")));
}
