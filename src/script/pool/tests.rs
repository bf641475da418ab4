//! Threads that panic, wait, are busy or cannot be stopped.

use super::*;

//= docs/spec.md#calls
//= type=test
//# A panic MUST be contained in the call that caused it.
#[test]
fn a_panic_is_told_to_its_owner_and_the_threads_go_on() {
    let pool = Pool::new();
    assert!(pool.threads() >= 2);
    for _ in 0..pool.threads() * 2 {
        let fault = pool.run(|| -> u8 { panic!("on purpose") }).expect_err("it panicked");
        assert_eq!(fault.code, Code::INTERNAL);
        assert_eq!(fault.message, "toolsd made a mistake: on purpose");
    }
    assert_eq!(pool.run(|| 7), Ok(7));
}

//= docs/spec.md#questions
//= type=test
//# A call that waits for an answer MUST NOT keep other calls from running.
#[test]
fn threads_that_wait_are_replaced_and_leave_none_behind() {
    let pool = Arc::new(Pool::new());
    let (open, gate) = channel::<()>();
    let gate = Arc::new(Mutex::new(gate));
    let waiting: Vec<_> = (0..pool.threads() * 4)
        .map(|_| {
            let (done, ended) = channel();
            let gate = Arc::clone(&gate);
            let wait = move || aside(|| gate.lock().unwrap_or_else(PoisonError::into_inner).recv().is_err());
            pool.submit(wait, move |result| drop(done.send(result)));
            ended
        })
        .collect();
    assert_eq!(pool.run(|| 7), Ok(7), "every thread waits, and yet this runs");
    drop(open);
    for ended in waiting {
        assert_eq!(ended.recv().expect("it ended"), Ok(Ok(true)));
    }
    let counts = pool.run(|| {
        let crew = CREW.with(|crew| crew.borrow().clone()).expect("a thread of the pool");
        (crew.waiting.load(Ordering::Acquire), crew.wanted)
    });
    assert_eq!(counts, Ok((0, pool.threads())));
}
