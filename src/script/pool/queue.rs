//! What waits for a thread: whose turn is next, and for whom threads are kept free.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

pub(super) type Job = Box<dyn FnOnce() + Send>;

/// So many rows are kept although nothing is in them: the next call of the same kind needs no new one.
const EMPTY: usize = 128;
/// At most so many threads wait for something at a time.
pub(super) const WAITING: usize = 256;
/// Who has nothing at work and has waited for so long is next, whoever the others are.
const AGED: Duration = Duration::from_millis(200);

/// Who calls: the calls of one take turns with those of others. By default it is the only one there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Party {
    /// From where: an address.
    pub place: u64,
    /// Which client there.
    pub client: u64,
    /// By which connection.
    pub connection: u64,
}

impl Party {
    /// Where a client is, and who it says that it is, by whichever connection.
    pub fn client(self) -> (u64, u64) {
        (self.place, self.client)
    }
}

/// Who calls for what, by which connection: the calls of one row are served in the order in which they came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Whose {
    party: Party,
    about: u64,
}

impl Whose {
    pub(super) fn new(party: Party, name: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Self { party, about: hasher.finish() }
    }

    pub(super) fn party(self) -> Party {
        self.party
    }
}

/// How many threads there may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// For any call, beside those that were moved aside.
    pub most: usize,
    /// Beside these, for a tool of which the client has no call at work.
    pub spares: usize,
}

impl Room {
    /// Threads that may be at work when a call of this rank begins, itself included.
    fn of(self, rank: Rank) -> usize {
        //= docs/spec.md#calls
        //# Threads MUST be kept for a call whose tool, whose client or whose address has none at work.
        self.most
            + match rank {
                Rank { place: 0, .. } => self.spares * 4,
                Rank { client: 0, .. } => self.spares * 2,
                Rank { row: 0, .. } => self.spares,
                _ => 0,
            }
    }

    /// The same for a row that has waited for so long and has nothing at work: all that there is.
    pub(super) fn whole(self) -> usize {
        self.of(Rank::default())
    }
}

/// How many are at work already: of the place, of its client, of the same row. The least is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    place: usize,
    client: usize,
    row: usize,
}

struct Row {
    whose: Whose,
    /// Each since when it waits.
    jobs: VecDeque<(Instant, Job)>,
    at_work: usize,
    /// When a call of it was last taken.
    served: Option<Instant>,
}

impl Row {
    /// Since when its next call has been the next one.
    fn since(&self) -> Option<Instant> {
        let (since, _) = self.jobs.front()?;
        Some(self.served.map_or(*since, |served| served.max(*since)))
    }

    /// Whether it has waited for so long, and has nothing at work.
    fn waits(&self, now: Instant, time: Duration) -> bool {
        self.at_work == 0 && self.since().is_some_and(|since| now.saturating_duration_since(since) >= time)
    }
}

/// What is to be done, and what is being done.
#[derive(Default)]
pub(super) struct Queue {
    rows: Vec<Row>,
    /// How many jobs are in the rows.
    jobs: usize,
    at_work: usize,
    places: HashMap<u64, usize>,
    clients: HashMap<(u64, u64), usize>,
    /// The threads that wait for something, by the party whose calls they run.
    waiting: HashMap<(u64, u64), usize>,
    all_waiting: usize,
    /// Of those that have waited for long the next one is the one that came first; else it is the one of whom the fewest
    /// are at work. They take turns: many addresses cannot pass one by for ever, and the many calls of one do not stand
    /// before that of another.
    first_is_next: bool,
    /// How many threads have nothing to do: while there are none nobody need be woken.
    pub(super) idle: usize,
    pub(super) closed: bool,
}

impl Queue {
    /// How many jobs wait.
    pub(super) fn len(&self) -> usize {
        self.jobs
    }

    /// How many calls are at work.
    pub(super) fn at_work(&self) -> usize {
        self.at_work
    }

    fn row(&mut self, whose: Whose) -> &mut Row {
        let at = self.rows.iter().position(|row| row.whose == whose).unwrap_or_else(|| {
            self.rows.push(Row { whose, jobs: VecDeque::new(), at_work: 0, served: None });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }

    pub(super) fn put(&mut self, whose: Whose, job: Job) {
        self.row(whose).jobs.push_back((Instant::now(), job));
        self.jobs += 1;
    }

    fn rank(&self, row: &Row) -> Rank {
        let Whose { party, .. } = row.whose;
        let place = self.places.get(&party.place).copied().unwrap_or(0);
        let client = if place == 0 { 0 } else { self.clients.get(&party.client()).copied().unwrap_or(0) };
        Rank { place, client, row: row.at_work }
    }

    //= docs/spec.md#calls
    //# Where calls wait for a thread, the next one MUST be of the address, there of the client, there of the tool, with the fewest at work; of several, the one that came first.
    //= docs/spec.md#calls
    //# A call that has waited for 200 ms, of a connection that has none of the tool at work, MUST be the next one, whoever else waits.
    //= docs/spec.md#calls
    //# Of several such calls the next one MUST be in turn the one with the fewest at work, as above, and the one that came first.
    /// The next job, if one may begin now.
    pub(super) fn take(&mut self, room: Room) -> Option<(Whose, Job)> {
        if self.jobs == 0 {
            return None;
        }
        // The only one that waits, and may begin, need not know the time.
        let (now, is_alone) = (OnceCell::new(), self.jobs == 1);
        let fronts = self.rows.iter().enumerate().filter_map(|(at, row)| {
            let since = row.since()?;
            let rank = self.rank(row);
            let is_late =
                !(is_alone && self.at_work < room.of(rank)) && row.waits(*now.get_or_init(Instant::now), AGED);
            let (in_turn, late) = ((!is_late).then_some(rank), (!self.first_is_next).then_some(rank));
            (self.at_work < self.room_of(in_turn, room)).then_some((in_turn, late, since, at))
        });
        let (in_turn, _, _, at) = fronts.min()?;
        self.first_is_next ^= in_turn.is_none();
        let row = self.rows.get_mut(at)?;
        let (_, job) = row.jobs.pop_front()?;
        let whose = row.whose;
        row.served = now.get().copied();
        self.jobs -= 1;
        self.begin(whose);
        Some((whose, job))
    }

    fn room_of(&self, rank: Option<Rank>, room: Room) -> usize {
        rank.map_or(room.whole(), |rank| room.of(rank))
    }

    /// How many calls have waited for so long, cannot begin, and are of connections that have none of their tool at work.
    pub(super) fn held_up(&self, now: Instant, time: Duration, room: Room) -> usize {
        let is_held_up = |row: &&Row| row.waits(now, time) && self.at_work >= self.room_at(row, now, room);
        self.rows.iter().filter(is_held_up).count()
    }

    /// How many clients, of those that have none at work, have a call that has waited for so long and cannot begin.
    pub(super) fn strangers_held_up(&self, now: Instant, time: Duration, room: Room) -> usize {
        let is_held_up = |row: &&Row| row.waits(now, time) && self.at_work >= self.room_at(row, now, room);
        let strangers = self.rows.iter().filter(is_held_up).filter(|row| self.rank(row).client == 0);
        strangers.map(|row| row.whose.party.client()).collect::<HashSet<_>>().len()
    }

    /// Threads that may be at work when a call of a row begins.
    fn room_at(&self, row: &Row, now: Instant, room: Room) -> usize {
        self.room_of((!row.waits(now, AGED)).then(|| self.rank(row)), room)
    }

    /// A call of these goes to work, again if it waited for something.
    pub(super) fn begin(&mut self, whose: Whose) {
        self.row(whose).at_work += 1;
        self.at_work += 1;
        *self.places.entry(whose.party.place).or_default() += 1;
        *self.clients.entry(whose.party.client()).or_default() += 1;
    }

    /// A call of these is at work no longer.
    pub(super) fn end(&mut self, whose: Whose) {
        let kept = self.rows.len() <= EMPTY;
        if let Some(at) = self.rows.iter().position(|row| row.whose == whose) {
            self.rows[at].at_work -= 1;
            if !kept && self.rows[at].at_work == 0 && self.rows[at].jobs.is_empty() {
                self.rows.swap_remove(at);
            }
        }
        self.at_work -= 1;
        take_one(&mut self.places, &whose.party.place);
        take_one(&mut self.clients, &whose.party.client());
    }

    /// A call begins to wait for something; `false` if too many do.
    pub(super) fn leave(&mut self, whose: Whose) -> bool {
        let own = self.waiting.get(&whose.party.client()).copied().unwrap_or(0);
        //= docs/spec.md#questions
        //# The calls of one client that wait for something MUST leave room for those of others.
        // As many as are left: there is some for the next one, however many clients there are.
        if own >= WAITING - self.all_waiting {
            return false;
        }
        self.waiting.insert(whose.party.client(), own + 1);
        self.all_waiting += 1;
        self.end(whose);
        true
    }

    /// A call waits no longer.
    pub(super) fn come_back(&mut self, whose: Whose) {
        take_one(&mut self.waiting, &whose.party.client());
        self.all_waiting -= 1;
        self.begin(whose);
    }

    /// How many calls could begin, and have waited for so long: one of each row.
    pub(super) fn could_begin(&self, now: Instant, patience: Duration, room: Room) -> usize {
        let mut beginning = 0;
        for row in &self.rows {
            let waits = row.jobs.front().is_some_and(|(since, _)| now.duration_since(*since) >= patience);
            if waits && self.at_work + beginning < self.room_at(row, now, room) {
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
        counts == [0; 3] && self.places.is_empty() && self.clients.is_empty() && self.waiting.is_empty()
    }
}

fn take_one<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
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

    fn whose(place: u64, client: u64, name: &str) -> Whose {
        Whose::new(Party { place, client, connection: 0 }, name)
    }

    /// Takes all that may begin.
    fn take_all(queue: &mut Queue, room: Room) -> Vec<Whose> {
        std::iter::from_fn(|| queue.take(room).map(|(whose, _)| whose)).collect()
    }

    //= docs/spec.md#calls
    //= type=test
    //# Where calls wait for a thread, the next one MUST be of the address, there of the client, there of the tool, with the fewest at work; of several, the one that came first.
    #[test]
    fn calls_are_served_in_turn() {
        let (many, few, other_tool, elsewhere) =
            (whose(1, 1, "slow"), whose(1, 2, "slow"), whose(1, 1, "quick"), whose(2, 1, "slow"));
        let mut queue = Queue::default();
        for whose in [[many; 6].as_slice(), &[few; 3], &[other_tool; 2], &[elsewhere; 3]].concat() {
            queue.put(whose, Box::new(|| {}));
        }
        let first = take_all(&mut queue, Room { most: 6, spares: 0 });
        assert_eq!(first, [many, elsewhere, few, elsewhere, other_tool, elsewhere], "each has as many as the others");
        // One of each ends, in any order: its place goes to whoever has the fewest then.
        queue.end(elsewhere);
        assert_eq!(queue.take(Room { most: 6, spares: 0 }).map(|(whose, _)| whose), Some(few));
        queue.end(many);
        assert_eq!(queue.take(Room { most: 6, spares: 0 }).map(|(whose, _)| whose), Some(many));
    }

    //= docs/spec.md#calls
    //= type=test
    //# Threads MUST be kept for a call whose tool, whose client or whose address has none at work.
    #[test]
    fn who_has_none_at_work_has_a_thread() {
        let room = Room { most: 2, spares: 1 };
        let mut queue = Queue::default();
        let put = |queue: &mut Queue, whose| (0..9).for_each(|_| queue.put(whose, Box::new(|| {})));
        put(&mut queue, whose(1, 1, "slow"));
        assert_eq!(take_all(&mut queue, room).len(), 2, "as many as any client may have");
        for name in ["quick", "third"] {
            put(&mut queue, whose(1, 1, name));
        }
        assert_eq!(take_all(&mut queue, room), [whose(1, 1, "quick")], "one spare for tools");
        for client in 2..9 {
            put(&mut queue, whose(1, client, "slow"));
        }
        assert_eq!(take_all(&mut queue, room), [whose(1, 2, "slow")], "another for clients");
        for place in 2..9 {
            put(&mut queue, whose(place, 1, "slow"));
        }
        assert_eq!(take_all(&mut queue, room), [whose(2, 1, "slow"), whose(3, 1, "slow")], "two for addresses");
    }

    //= docs/spec.md#calls
    //= type=test
    //# A call that has waited for 200 ms, of a connection that has none of the tool at work, MUST be the next one, whoever else waits.
    #[test]
    fn who_has_waited_for_long_is_next_whoever_comes_instead() {
        let room = Room { most: 2, spares: 1 };
        let of = |place: u64, connection: u64| Whose::new(Party { place, client: 1, connection }, "slow");
        let put = |queue: &mut Queue, whose| queue.put(whose, Box::new(|| {}));
        let (busy, late) = (of(1, 1), of(1, 2));
        let mut queue = Queue::default();
        (0..9).for_each(|_| put(&mut queue, busy));
        assert_eq!(take_all(&mut queue, room), [busy; 2]);
        put(&mut queue, late);
        // There is always somebody of another address, who has nothing at work there.
        for place in 2..4 {
            put(&mut queue, of(place, 1));
            assert_eq!(queue.take(room).map(|(whose, _)| whose), Some(of(place, 1)));
        }
        std::thread::sleep(AGED + Duration::from_millis(10));
        for place in 4..9 {
            put(&mut queue, of(place, 1));
        }
        assert_eq!(queue.held_up(Instant::now(), AGED, room), 0, "all the room there is is for whoever is late");
        assert_eq!(queue.take(room).map(|(whose, _)| whose), Some(late));
    }

    //= docs/spec.md#calls
    //= type=test
    //# Of several such calls the next one MUST be in turn the one with the fewest at work, as above, and the one that came first.
    #[test]
    fn the_many_calls_of_one_address_do_not_stand_before_that_of_another() {
        let room = Room { most: 2, spares: 0 };
        let of = |place: u64, connection: u64| Whose::new(Party { place, client: 1, connection }, "slow");
        let mut queue = Queue::default();
        for connection in 0..50 {
            queue.put(of(1, connection), Box::new(|| {}));
        }
        let mut at_work = take_all(&mut queue, room);
        queue.put(of(2, 1), Box::new(|| {}));
        std::thread::sleep(AGED + Duration::from_millis(10));
        let held_up = Instant::now();
        assert_eq!(queue.held_up(held_up, AGED, room), 49);
        assert_eq!(queue.strangers_held_up(held_up, AGED, room), 1, "the others have calls at work elsewhere");
        let mut next = || {
            queue.end(at_work.remove(0));
            at_work.extend(take_all(&mut queue, room));
            at_work[1]
        };
        let begun = [next(), next(), next(), next()];
        assert!(begun[..2].contains(&of(2, 1)), "{begun:?}");
        assert!(begun.contains(&of(1, 2)) && begun.contains(&of(1, 3)), "{begun:?}");
    }

    #[test]
    fn the_only_one_that_waits_may_be_late_too() {
        let room = Room { most: 1, spares: 1 };
        let of = |place: u64, connection: u64| Whose::new(Party { place, client: 1, connection }, "slow");
        let mut queue = Queue::default();
        for place in 1..4 {
            queue.put(of(place, 1), Box::new(|| {}));
            assert!(queue.take(room).is_some());
        }
        queue.put(of(1, 2), Box::new(|| {}));
        assert!(queue.take(room).is_none(), "a void test: there is room for it");
        std::thread::sleep(AGED + Duration::from_millis(10));
        assert_eq!(queue.could_begin(Instant::now(), AGED, room), 1);
        assert_eq!(queue.take(room).map(|(whose, _)| whose), Some(of(1, 2)), "what could begin begins");
    }

    //= docs/spec.md#questions
    //= type=test
    //# The calls of one client that wait for something MUST leave room for those of others.
    #[test]
    fn those_who_wait_leave_room() {
        let mut queue = Queue::default();
        let mut leave_all = |client: u64| {
            let own = whose(1, client, "asks");
            (0..)
                .take_while(|_| {
                    queue.begin(own);
                    let left = queue.leave(own);
                    if !left {
                        queue.end(own);
                    }
                    left
                })
                .count()
        };
        assert_eq!([leave_all(1), leave_all(2), leave_all(3)], [WAITING / 2, WAITING / 4, WAITING / 8]);
        for client in [1, 2, 3] {
            (0..WAITING >> client).for_each(|_| {
                queue.come_back(whose(1, client, "asks"));
                queue.end(whose(1, client, "asks"));
            });
        }
        assert!(queue.is_at_rest());
    }

    proptest! {
        /// Whatever comes, goes, waits and comes back: threads are used while there is something to do, nobody is passed over
        /// for ever, and nothing is left at the end.
        #[test]
        fn nothing_is_lost_and_nobody_waits_for_ever(
            steps in prop::collection::vec((0..4_u8, 0..3_u64, 0..3_u64, 0..2_u8), 1..300),
            (most, spares) in (1..4_usize, 0..3_usize),
        ) {
            let room = Room { most, spares };
            let mut queue = Queue::default();
            let (mut at_work, mut away, mut put): (Vec<Whose>, Vec<Whose>, usize) = Default::default();
            let mut taken = 0;
            for (step, place, client, name) in steps {
                match step {
                    0 | 1 => {
                        queue.put(whose(place, client, if name == 0 { "one" } else { "two" }), Box::new(|| {}));
                        put += 1;
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
                let begun = take_all(&mut queue, room);
                taken += begun.len();
                at_work.extend(begun);
                prop_assert!(queue.len() == 0 || at_work.len() >= most, "threads have nothing to do");
                prop_assert_eq!(queue.len(), put - taken);
            }
            away.into_iter().for_each(|own| {
                queue.come_back(own);
                at_work.push(own);
            });
            while !at_work.is_empty() {
                queue.end(at_work.remove(0));
                let begun = take_all(&mut queue, room);
                taken += begun.len();
                at_work.extend(begun);
            }
            prop_assert_eq!(taken, put);
            prop_assert!(queue.is_at_rest());
        }
    }
}
