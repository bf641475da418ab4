//! The queue of a pool: which call runs next, and for which calls threads are kept free.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

pub(super) type PoolJob = Box<dyn FnOnce() + Send>;

/// The maximum number of empty rows that are kept. The next call of the same kind can reuse its row.
const MAX_EMPTY_ROWS: usize = 128;
/// The maximum number of threads that can wait for something at the same time.
pub(super) const MAX_WAITING: usize = 256;
/// How long a call stays in the queue before an additional thread is started for it.
pub(super) const PATIENCE: Duration = Duration::from_millis(10);
/// A row that has no running call and has waited for this long is next, regardless of the other rows.
const LONG_WAIT: Duration = Duration::from_millis(200);

/// The identity of a caller. Callers take turns. By default there is only one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallerId {
    /// The address from which it calls.
    pub address: u64,
    /// The client at that address.
    pub client: u64,
    /// The connection of that client.
    pub connection: u64,
}

impl CallerId {
    /// The address and the client, regardless of the connection.
    pub fn client(self) -> (u64, u64) {
        (self.address, self.client)
    }
}

/// The caller and what is called. The calls of one row are served in order of arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowKey {
    caller: CallerId,
    name_hash: u64,
}

impl RowKey {
    pub(super) fn new(caller: CallerId, name: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Self { caller, name_hash: hasher.finish() }
    }

    pub(super) fn caller(self) -> CallerId {
        self.caller
    }
}

/// How many threads there can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreadLimits {
    /// For any call, in addition to the calls that were moved aside.
    pub most: usize,
    /// In addition, for a tool of which the client has no running call.
    pub spares: usize,
}

impl ThreadLimits {
    /// The number of threads that may be working when a call of this rank begins, including its own.
    fn limit_of(self, rank: QueueRank) -> usize {
        //= docs/spec.md#calls
        //# Threads MUST be kept for a call whose tool, whose client or whose address has none at work.
        self.most
            + match rank {
                QueueRank { address: 0, .. } => self.spares * 4,
                QueueRank { client: 0, .. } => self.spares * 2,
                QueueRank { row: 0, .. } => self.spares,
                _ => 0,
            }
    }

    /// The same limit for a row that has waited for a long time and has no running call: all threads.
    pub(super) fn widest(self) -> usize {
        self.limit_of(QueueRank::default())
    }
}

/// The number of running calls of the address, of its client, and of the same row. The lowest rank is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct QueueRank {
    address: usize,
    client: usize,
    row: usize,
}

struct QueueRow {
    key: RowKey,
    /// The waiting jobs, each with the time at which it began to wait.
    jobs: VecDeque<(Instant, PoolJob)>,
    at_work: usize,
    /// When a call of the row was last taken.
    served: Option<Instant>,
}

impl QueueRow {
    /// The time since which its next call has been the next one.
    fn since(&self) -> Option<Instant> {
        let (since, _) = self.jobs.front()?;
        Some(self.served.map_or(*since, |served| served.max(*since)))
    }

    /// Whether it has waited for `time` and has no running call.
    fn has_waited(&self, now: Instant, time: Duration) -> bool {
        self.at_work == 0 && self.since().is_some_and(|since| now.saturating_duration_since(since) >= time)
    }
}

/// The waiting jobs, and counts of the running ones.
#[derive(Default)]
pub(super) struct CallQueue {
    rows: Vec<QueueRow>,
    /// The number of jobs in the rows.
    jobs: usize,
    at_work: usize,
    addresses: HashMap<u64, usize>,
    clients: HashMap<(u64, u64), usize>,
    /// The number of threads that are waiting for something, by the client whose calls they run.
    waiting: HashMap<(u64, u64), usize>,
    all_waiting: usize,
    /// Whether the next late call is the oldest one, rather than the one with the fewest running calls. The two rules
    /// alternate: so many addresses cannot pass over one call for ever, and the many calls of one address do not delay
    /// the call of another.
    first_is_next: bool,
    /// The number of sleeping threads. If there are none, no thread needs to be woken.
    pub(super) idle: usize,
    pub(super) closed: bool,
}

impl CallQueue {
    /// The number of waiting jobs.
    pub(super) fn len(&self) -> usize {
        self.jobs
    }

    /// The number of running calls.
    pub(super) fn at_work(&self) -> usize {
        self.at_work
    }

    fn row(&mut self, key: RowKey) -> &mut QueueRow {
        let at = self.rows.iter().position(|row| row.key == key).unwrap_or_else(|| {
            self.rows.push(QueueRow { key, jobs: VecDeque::new(), at_work: 0, served: None });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }

    pub(super) fn push(&mut self, key: RowKey, job: PoolJob) {
        self.row(key).jobs.push_back((Instant::now(), job));
        self.jobs += 1;
    }

    fn rank(&self, row: &QueueRow) -> QueueRank {
        let RowKey { caller, .. } = row.key;
        let address = self.addresses.get(&caller.address).copied().unwrap_or(0);
        let client = if address == 0 { 0 } else { self.clients.get(&caller.client()).copied().unwrap_or(0) };
        QueueRank { address, client, row: row.at_work }
    }

    //= docs/spec.md#calls
    //# Where calls wait for a thread, the next one MUST be of the address, there of the client, there of the tool, with the fewest at work; of several, the one that came first.
    //= docs/spec.md#calls
    //# A call that has waited for 200 ms, of a connection that has none of the tool at work, MUST be the next one, whoever else waits.
    //= docs/spec.md#calls
    //# Of several such calls the next one MUST be in turn the one with the fewest at work, as above, and the one that came first.
    /// The next job, if one may begin now.
    pub(super) fn take(&mut self, limits: ThreadLimits) -> Option<(RowKey, PoolJob)> {
        if self.jobs == 0 {
            return None;
        }
        // The time matters only if several jobs are waiting, or if the only one may not begin.
        let (now, is_alone) = (OnceCell::new(), self.jobs == 1);
        let fronts = self.rows.iter().enumerate().filter_map(|(at, row)| {
            let since = row.since()?;
            let rank = self.rank(row);
            let is_late = !(is_alone && self.at_work < limits.limit_of(rank))
                && row.has_waited(*now.get_or_init(Instant::now), LONG_WAIT);
            let (in_turn, late) = ((!is_late).then_some(rank), (!self.first_is_next).then_some(rank));
            (self.at_work < self.limit_for(in_turn, limits)).then_some((in_turn, late, since, at))
        });
        let (in_turn, _, _, at) = fronts.min()?;
        self.first_is_next ^= in_turn.is_none();
        let row = self.rows.get_mut(at)?;
        let (_, job) = row.jobs.pop_front()?;
        let key = row.key;
        row.served = now.get().copied();
        self.jobs -= 1;
        self.start(key);
        Some((key, job))
    }

    fn limit_for(&self, rank: Option<QueueRank>, limits: ThreadLimits) -> usize {
        rank.map_or(limits.widest(), |rank| limits.limit_of(rank))
    }

    /// The number of rows that have waited for `time`, cannot begin, and belong to connections that have no running
    /// call of their tool.
    pub(super) fn held_up(&self, now: Instant, time: Duration, limits: ThreadLimits) -> usize {
        let is_held_up =
            |row: &&QueueRow| row.has_waited(now, time) && self.at_work >= self.limit_for_row(row, now, limits);
        self.rows.iter().filter(is_held_up).count()
    }

    /// The number of clients without running calls that have a call which has waited for `time` and cannot begin.
    pub(super) fn strangers_held_up(&self, now: Instant, time: Duration, limits: ThreadLimits) -> usize {
        let is_held_up =
            |row: &&QueueRow| row.has_waited(now, time) && self.at_work >= self.limit_for_row(row, now, limits);
        let strangers = self.rows.iter().filter(is_held_up).filter(|row| self.rank(row).client == 0);
        strangers.map(|row| row.key.caller.client()).collect::<HashSet<_>>().len()
    }

    /// The number of threads that may be working when a call of a row begins.
    fn limit_for_row(&self, row: &QueueRow, now: Instant, limits: ThreadLimits) -> usize {
        self.limit_for((!row.has_waited(now, LONG_WAIT)).then(|| self.rank(row)), limits)
    }

    /// Counts a call of this row as running: one that begins, or that has stopped waiting.
    pub(super) fn start(&mut self, key: RowKey) {
        self.row(key).at_work += 1;
        self.at_work += 1;
        *self.addresses.entry(key.caller.address).or_default() += 1;
        *self.clients.entry(key.caller.client()).or_default() += 1;
    }

    /// Stops counting a call of this row as running.
    pub(super) fn end(&mut self, key: RowKey) {
        let kept = self.rows.len() <= MAX_EMPTY_ROWS;
        if let Some(at) = self.rows.iter().position(|row| row.key == key) {
            self.rows[at].at_work -= 1;
            if !kept && self.rows[at].at_work == 0 && self.rows[at].jobs.is_empty() {
                self.rows.swap_remove(at);
            }
        }
        self.at_work -= 1;
        decrement(&mut self.addresses, &key.caller.address);
        decrement(&mut self.clients, &key.caller.client());
    }

    /// A call begins to wait for something. Returns `false` if too many calls are waiting.
    pub(super) fn leave(&mut self, key: RowKey) -> bool {
        let own = self.waiting.get(&key.caller.client()).copied().unwrap_or(0);
        //= docs/spec.md#questions
        //# The calls of one client that wait for something MUST leave room for those of others.
        // A client may have at most as many as are left, so there is always room for the next client.
        if own >= MAX_WAITING - self.all_waiting {
            return false;
        }
        self.waiting.insert(key.caller.client(), own + 1);
        self.all_waiting += 1;
        self.end(key);
        true
    }

    /// A call stops waiting.
    pub(super) fn come_back(&mut self, key: RowKey) {
        decrement(&mut self.waiting, &key.caller.client());
        self.all_waiting -= 1;
        self.start(key);
    }

    /// The number of calls that could begin and have waited for `patience`: at most one per row.
    pub(super) fn could_begin(&self, now: Instant, patience: Duration, limits: ThreadLimits) -> usize {
        let mut beginning = 0;
        for row in &self.rows {
            let has_waited = row.jobs.front().is_some_and(|(since, _)| now.duration_since(*since) >= patience);
            if has_waited && self.at_work + beginning < self.limit_for_row(row, now, limits) {
                beginning += 1;
            }
        }
        beginning
    }

    #[cfg(test)]
    pub(super) fn is_waited_in(&self) -> bool {
        self.all_waiting > 0
    }

    #[cfg(test)]
    pub(super) fn is_at_rest(&self) -> bool {
        let counts = [self.jobs, self.at_work, self.all_waiting];
        counts == [0; 3] && self.addresses.is_empty() && self.clients.is_empty() && self.waiting.is_empty()
    }
}

fn decrement<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(address: u64, client: u64, name: &str) -> RowKey {
        RowKey::new(CallerId { address, client, connection: 0 }, name)
    }

    /// Takes all jobs that may begin.
    fn take_all(queue: &mut CallQueue, limits: ThreadLimits) -> Vec<RowKey> {
        std::iter::from_fn(|| queue.take(limits).map(|(key, _)| key)).collect()
    }

    //= docs/spec.md#calls
    //= type=test
    //# Where calls wait for a thread, the next one MUST be of the address, there of the client, there of the tool, with the fewest at work; of several, the one that came first.
    #[test]
    fn calls_are_served_in_turn() {
        let (many, few, other_tool, elsewhere) =
            (key(1, 1, "slow"), key(1, 2, "slow"), key(1, 1, "quick"), key(2, 1, "slow"));
        let mut queue = CallQueue::default();
        for key in [[many; 6].as_slice(), &[few; 3], &[other_tool; 2], &[elsewhere; 3]].concat() {
            queue.push(key, Box::new(|| {}));
        }
        let first = take_all(&mut queue, ThreadLimits { most: 6, spares: 0 });
        assert_eq!(first, [many, elsewhere, few, elsewhere, other_tool, elsewhere], "each has as many as the others");
        // One call of each row ends, in any order. Its place goes to the row with the fewest running calls at that
        // time.
        queue.end(elsewhere);
        assert_eq!(queue.take(ThreadLimits { most: 6, spares: 0 }).map(|(key, _)| key), Some(few));
        queue.end(many);
        assert_eq!(queue.take(ThreadLimits { most: 6, spares: 0 }).map(|(key, _)| key), Some(many));
    }

    //= docs/spec.md#calls
    //= type=test
    //# Threads MUST be kept for a call whose tool, whose client or whose address has none at work.
    #[test]
    fn who_has_none_at_work_has_a_thread() {
        let limits = ThreadLimits { most: 2, spares: 1 };
        let mut queue = CallQueue::default();
        let push = |queue: &mut CallQueue, key| (0..9).for_each(|_| queue.push(key, Box::new(|| {})));
        push(&mut queue, key(1, 1, "slow"));
        assert_eq!(take_all(&mut queue, limits).len(), 2, "as many as any client may have");
        for name in ["quick", "third"] {
            push(&mut queue, key(1, 1, name));
        }
        assert_eq!(take_all(&mut queue, limits), [key(1, 1, "quick")], "one spare for tools");
        for client in 2..9 {
            push(&mut queue, key(1, client, "slow"));
        }
        assert_eq!(take_all(&mut queue, limits), [key(1, 2, "slow")], "another for clients");
        for address in 2..9 {
            push(&mut queue, key(address, 1, "slow"));
        }
        assert_eq!(take_all(&mut queue, limits), [key(2, 1, "slow"), key(3, 1, "slow")], "two for addresses");
    }

    //= docs/spec.md#calls
    //= type=test
    //# A call that has waited for 200 ms, of a connection that has none of the tool at work, MUST be the next one, whoever else waits.
    #[test]
    fn who_has_waited_for_long_is_next_whoever_comes_instead() {
        let limits = ThreadLimits { most: 2, spares: 1 };
        let of = |address: u64, connection: u64| RowKey::new(CallerId { address, client: 1, connection }, "slow");
        let push = |queue: &mut CallQueue, key| queue.push(key, Box::new(|| {}));
        let (busy, late) = (of(1, 1), of(1, 2));
        let mut queue = CallQueue::default();
        (0..9).for_each(|_| push(&mut queue, busy));
        assert_eq!(take_all(&mut queue, limits), [busy; 2]);
        push(&mut queue, late);
        // There is always a call of another address that has no running call.
        for address in 2..4 {
            push(&mut queue, of(address, 1));
            assert_eq!(queue.take(limits).map(|(key, _)| key), Some(of(address, 1)));
        }
        std::thread::sleep(LONG_WAIT + Duration::from_millis(10));
        for address in 4..9 {
            push(&mut queue, of(address, 1));
        }
        assert_eq!(queue.held_up(Instant::now(), LONG_WAIT, limits), 0, "all the room there is is for whoever is late");
        assert_eq!(queue.take(limits).map(|(key, _)| key), Some(late));
    }

    //= docs/spec.md#calls
    //= type=test
    //# Of several such calls the next one MUST be in turn the one with the fewest at work, as above, and the one that came first.
    #[test]
    fn the_many_calls_of_one_address_do_not_stand_before_that_of_another() {
        let limits = ThreadLimits { most: 2, spares: 0 };
        let of = |address: u64, connection: u64| RowKey::new(CallerId { address, client: 1, connection }, "slow");
        let mut queue = CallQueue::default();
        for connection in 0..50 {
            queue.push(of(1, connection), Box::new(|| {}));
        }
        let mut at_work = take_all(&mut queue, limits);
        queue.push(of(2, 1), Box::new(|| {}));
        std::thread::sleep(LONG_WAIT + Duration::from_millis(10));
        let held_up = Instant::now();
        assert_eq!(queue.held_up(held_up, LONG_WAIT, limits), 49);
        assert_eq!(queue.strangers_held_up(held_up, LONG_WAIT, limits), 1, "the others have calls at work elsewhere");
        let mut next = || {
            queue.end(at_work.remove(0));
            at_work.extend(take_all(&mut queue, limits));
            at_work[1]
        };
        let begun = [next(), next(), next(), next()];
        assert!(begun[..2].contains(&of(2, 1)), "{begun:?}");
        assert!(begun.contains(&of(1, 2)) && begun.contains(&of(1, 3)), "{begun:?}");
    }

    #[test]
    fn the_only_one_that_waits_may_be_late_too() {
        let limits = ThreadLimits { most: 1, spares: 1 };
        let of = |address: u64, connection: u64| RowKey::new(CallerId { address, client: 1, connection }, "slow");
        let mut queue = CallQueue::default();
        for address in 1..4 {
            queue.push(of(address, 1), Box::new(|| {}));
            assert!(queue.take(limits).is_some());
        }
        queue.push(of(1, 2), Box::new(|| {}));
        assert!(queue.take(limits).is_none(), "a void test: there is room for it");
        std::thread::sleep(LONG_WAIT + Duration::from_millis(10));
        assert_eq!(queue.could_begin(Instant::now(), LONG_WAIT, limits), 1);
        assert_eq!(queue.take(limits).map(|(key, _)| key), Some(of(1, 2)), "what could begin begins");
    }

    //= docs/spec.md#questions
    //= type=test
    //# The calls of one client that wait for something MUST leave room for those of others.
    #[test]
    fn those_who_wait_leave_room() {
        let mut queue = CallQueue::default();
        let mut leave_all = |client: u64| {
            let own = key(1, client, "asks");
            (0..)
                .take_while(|_| {
                    queue.start(own);
                    let left = queue.leave(own);
                    if !left {
                        queue.end(own);
                    }
                    left
                })
                .count()
        };
        assert_eq!([leave_all(1), leave_all(2), leave_all(3)], [MAX_WAITING / 2, MAX_WAITING / 4, MAX_WAITING / 8]);
        for client in [1, 2, 3] {
            (0..MAX_WAITING >> client).for_each(|_| {
                queue.come_back(key(1, client, "asks"));
                queue.end(key(1, client, "asks"));
            });
        }
        assert!(queue.is_at_rest());
    }

    proptest! {
        /// Calls arrive, end, wait and resume in any order: threads are used while there is work, no call is passed
        /// over for ever, and nothing is left over at the end.
        #[test]
        fn nothing_is_lost_and_nobody_waits_for_ever(
            steps in prop::collection::vec((0..4_u8, 0..3_u64, 0..3_u64, 0..2_u8), 1..300),
            (most, spares) in (1..4_usize, 0..3_usize),
        ) {
            let limits = ThreadLimits { most, spares };
            let mut queue = CallQueue::default();
            let (mut at_work, mut away, mut push): (Vec<RowKey>, Vec<RowKey>, usize) = Default::default();
            let mut taken = 0;
            for (step, address, client, name) in steps {
                match step {
                    0 | 1 => {
                        queue.push(key(address, client, if name == 0 { "one" } else { "two" }), Box::new(|| {}));
                        push += 1;
                    }
                    2 if !at_work.is_empty() => queue.end(at_work.swap_remove(client as usize % at_work.len())),
                    3 if name == 0 && !at_work.is_empty() => {
                        let own = at_work.swap_remove(client as usize % at_work.len());
                        prop_assert!(queue.leave(own));
                        away.push(own);
                    }
                    3 if !away.is_empty() => {
                        let own = away.swap_remove(client as usize % away.len());
                        queue.come_back(own);
                        at_work.push(own);
                    }
                    _ => {}
                }
                let begun = take_all(&mut queue, limits);
                taken += begun.len();
                at_work.extend(begun);
                prop_assert!(queue.len() == 0 || at_work.len() >= most, "threads have nothing to do");
                prop_assert_eq!(queue.len(), push - taken);
            }
            away.into_iter().for_each(|own| {
                queue.come_back(own);
                at_work.push(own);
            });
            while !at_work.is_empty() {
                queue.end(at_work.remove(0));
                let begun = take_all(&mut queue, limits);
                taken += begun.len();
                at_work.extend(begun);
            }
            prop_assert_eq!(taken, push);
            prop_assert!(queue.is_at_rest());
        }
    }
}
