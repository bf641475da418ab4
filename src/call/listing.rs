//! The list of all resources, put together anew only where something that it was made of is another one now.

use super::running::Running;
use super::service::Calling;
use super::witness::Witness;
use super::{Answer, resource};
use crate::diagnostic::Result;
use crate::graph::Graph;
use crate::guard::Limits;
use crate::primitive::{Effect, Host};
use crate::registry::{Pack, ServedResource, SkillIndex};
use crate::value::Json;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What one definition lists.
type Part = Arc<Vec<Json>>;

/// The lists as they were made last.
#[derive(Default)]
pub struct Listings {
    /// By the URI of the definition.
    parts: Mutex<HashMap<String, Listing>>,
    whole: Mutex<Option<Whole>>,
}

/// What one definition lists, and what that was made of.
struct Listing {
    /// The definition; with another one of its pack, or another pack, it is another one.
    served: Weak<ServedResource>,
    /// The graph, if it was looked at.
    graph: Option<Weak<Graph>>,
    part: Part,
}

/// All parts in one list, and these parts.
struct Whole {
    parts: Vec<Part>,
    skills: Arc<SkillIndex>,
    all: Arc<Vec<Json>>,
}

impl Listings {
    /// What a definition listed last, and the graph that it was made of.
    fn last(&self, served: &Arc<ServedResource>) -> Option<(Option<Weak<Graph>>, Part)> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = parts.get(&served.resource.uri.value)?;
        let is_same = std::ptr::eq(known.served.as_ptr(), Arc::as_ptr(served));
        is_same.then(|| (known.graph.clone(), Arc::clone(&known.part)))
    }

    /// What a definition lists without a function: itself, or nothing if it is a template.
    fn fixed(&self, served: &Arc<ServedResource>) -> Part {
        if let Some((_, part)) = self.last(served) {
            return part;
        }
        let is_template = served.resource.is_template;
        let part = Part::new(if is_template { Vec::new() } else { vec![resource::fixed(served)] });
        self.keep(served, None, &part);
        part
    }

    fn keep(&self, served: &Arc<ServedResource>, graph: Option<&Arc<Graph>>, part: &Part) {
        let (graph, part) = (graph.map(Arc::downgrade), Arc::clone(part));
        let listing = Listing { served: Arc::downgrade(served), graph, part };
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        // Of packs that went away nothing stays.
        parts.retain(|_, known| known.served.strong_count() > 0);
        parts.insert(served.resource.uri.value.clone(), listing);
    }

    /// All parts as one list, sorted by URI; where two name the same URI the first one counts.
    fn whole(&self, parts: Vec<Part>, skills: Arc<SkillIndex>) -> Arc<Vec<Json>> {
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &&Whole| {
            known.parts.len() == parts.len()
                && known.parts.iter().zip(&parts).all(|(one, other)| Arc::ptr_eq(one, other))
                && Arc::ptr_eq(&known.skills, &skills)
        };
        if let Some(known) = whole.as_ref().filter(is_same) {
            return Arc::clone(&known.all);
        }
        let mut all: BTreeMap<&str, Json> = BTreeMap::new();
        for item in parts.iter().flat_map(|part| part.iter()) {
            all.entry(item["uri"].as_str().unwrap_or_default()).or_insert_with(|| item.clone());
        }
        //= docs/spec.md#skills
        //# A skill MUST also be listed as a resource, under the name and the description of its front matter.
        for (_, skill) in skills.iter() {
            all.entry(&skill.uri).or_insert_with(|| resource::skill(skill));
        }
        let all: Arc<Vec<Json>> = Arc::new(all.into_values().collect());
        *whole = Some(Whole { parts, skills, all: Arc::clone(&all) });
        all
    }
}

/// The calls of one request that lists, one for each pack, so that all functions of a pack see one graph.
type Begun = HashMap<*const Pack, Result<Running>>;

impl Calling<'_> {
    /// All resources, sorted by URI. A `list` that fails leaves its resources out, and is logged.
    pub(super) fn list(&self) -> Result<Answer> {
        let mut begun = Begun::new();
        let parts = self.registry.resources.iter().map(|served| {
            // What does not even begin, because the graph cannot be built, is left out in the same way.
            self.part(served, &mut begun).unwrap_or_else(|fault| {
                tracing::warn!("the list of `{}` fails: {fault}", served.resource.uri.value);
                Part::default()
            })
        });
        let parts = parts.collect();
        Ok(Answer::Resources(self.service.listings.whole(parts, self.skills())))
    }

    fn part(&self, served: &Arc<ServedResource>, begun: &mut Begun) -> Result<Part> {
        let listings = &self.service.listings;
        if !served.resource.is_template || served.resource.list.is_none() {
            return Ok(listings.fixed(served));
        }
        let running = self.of_pack(&served.pack, served.contract.limits, begun)?;
        //= docs/spec.md#freshness
        //# What a `list` function gives MAY be kept while its pack and the graph that it looked at are the same, unless it looked at anything else that can change.
        if let Some((graph, part)) = listings.last(served)
            && graph.is_none_or(|graph| running.is_at(&graph))
        {
            return Ok(part);
        }
        let witness = Witness::new(Arc::clone(&running.host) as Arc<dyn Host>);
        let part = Part::new(resource::listed(served, &running, Arc::clone(&witness) as _)?);
        let seen = witness.seen();
        if !seen.elsewhere {
            listings.keep(served, seen.graph.as_ref(), &part);
        }
        Ok(part)
    }

    fn of_pack(&self, pack: &Arc<Pack>, limits: Limits, begun: &mut Begun) -> Result<Running> {
        let begin = || self.begin(pack, Effect::Reads, limits, false, None);
        begun
            .entry(Arc::as_ptr(pack))
            .or_insert_with(begin)
            .as_ref()
            .map(|one| one.within(limits))
            .map_err(Clone::clone)
    }
}

impl Running {
    /// Whether this is the graph that the call sees.
    fn is_at(&self, graph: &Weak<Graph>) -> bool {
        let _guarded = self.guard.enter();
        self.host.graph().is_ok_and(|now| std::ptr::eq(graph.as_ptr(), Arc::as_ptr(&now)))
    }
}
