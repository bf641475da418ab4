//! The skills that functions of packs find in the workspace, and their files.

use super::service::Calling;
use super::{Contents, resource};
use crate::definition::Located;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive::Effect;
use crate::registry::{FileDigests, Pack, SkillIndex, read_found_skill};
use crate::value::{Json, Value};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The skills that functions found when they were last asked.
#[derive(Default)]
pub struct Found {
    digests: FileDigests,
    last: Mutex<Option<Arc<SkillIndex>>>,
    /// What is wrong is told once.
    told: Mutex<HashSet<String>>,
}

impl Found {
    fn last(&self) -> Option<Arc<SkillIndex>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a list showed last; nothing if nobody asked for it yet.
    pub fn outline(&self) -> Option<Vec<Json>> {
        self.last().map(|skills| skills.outline())
    }

    fn tell(&self, fault: &Diagnostic) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(fault.message.clone()) {
            super::log_fault(fault);
        }
    }
}

impl SkillIndex {
    /// Each skill as it is listed among the resources.
    pub fn outline(&self) -> Vec<Json> {
        self.iter().map(|(_, skill)| resource::skill(skill)).collect()
    }
}

impl Calling<'_> {
    /// All skills: those among the files of packs, and those that functions find. What fails is left out, and logged.
    pub(super) fn skills(&self) -> Arc<SkillIndex> {
        if !self.registry.finds_skills() {
            return Arc::clone(&self.registry.skills);
        }
        let mut skills = (*self.registry.skills).clone();
        for pack in &self.registry.packs {
            for (script, list) in &pack.skill_lists {
                if let Err(fault) = self.find(pack, script, list, &mut skills) {
                    //= docs/spec.md#skills
                    //# A skill that is broken MUST NOT take the others with it.
                    tracing::warn!("`{}`, which lists skills, fails: {fault}", list.value);
                }
            }
        }
        let skills = Arc::new(skills);
        *self.service.found.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&skills));
        skills
    }

    fn find(&self, pack: &Arc<Pack>, script: &str, list: &Located<String>, skills: &mut SkillIndex) -> Result<()> {
        let limits = pack.compiled.build_limits;
        let running = self.begin(pack, Effect::Reads, limits, false, None)?;
        let listed = running.function(script, &list.value, Vec::new())?;
        let Json::Array(items) = listed.to_json() else {
            let message = format!("`{}` gives {}, not a list", list.value, Value::kind(&listed).name());
            return Err(Diagnostic::new(Code::SCRIPT, message).at(list.at.clone()).help(FORM));
        };
        let (found, world) = (&self.service.found, self.world(pack)?);
        for item in &items {
            let Some(dir) = item.as_str().or_else(|| item["dir"].as_str()) else {
                let message = format!("an item of `{}` has no `dir`", list.value);
                return Err(Diagnostic::new(Code::SCRIPT, message).at(list.at.clone()).help(FORM));
            };
            match read_found_skill(world.as_ref(), dir, item["path"].as_str(), &found.digests) {
                Ok((skill, faults)) => {
                    faults.iter().for_each(|fault| found.tell(fault));
                    if let Some(first) = skills.add(pack, &Arc::new(skill)) {
                        tracing::debug!("the skill in `{dir}` is hidden by one of `{}`", first.name);
                    }
                }
                Err(fault) => found.tell(&fault),
            }
        }
        Ok(())
    }

    /// A file of a skill, byte for byte; nothing if no skill has this URI.
    pub(super) fn skill_file(&self, uri: &str) -> Option<Result<Contents>> {
        if let Some((pack, _, file)) = self.registry.skills.file(uri) {
            return Some(resource::of_skill(pack, file));
        }
        if !self.registry.finds_skills() || !uri.starts_with("skill://") {
            return None;
        }
        let known = self.service.found.last().filter(|skills| skills.file(uri).is_some());
        let skills = known.unwrap_or_else(|| self.skills());
        let (pack, _, file) = skills.file(uri)?;
        let bytes = self.world(pack).and_then(|world| world.read(&file.path));
        Some(bytes.map(|bytes| resource::of_skill_bytes(file, &bytes)))
    }

    fn world(&self, pack: &Arc<Pack>) -> Result<Arc<dyn crate::world::World>> {
        let running = self.begin(pack, Effect::Reads, pack.compiled.build_limits, false, None)?;
        running.host.readable()
    }
}

const FORM: &str = "return a list of folders, or of `#{ dir, path }`";
