//! The revisions of the protocol, and the features of each.

use rmcp::model::ProtocolVersion;

/// A supported revision of MCP, in order of age, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    /// 2024-11-05.
    First,
    /// 2025-03-26: adds audio, tool annotations and completions.
    Hints,
    /// 2025-06-18: adds titles, structured content and resource links.
    Structured,
    /// 2025-11-25: adds icons.
    Icons,
    /// 2026-07-28: has no sessions and no handshake.
    Stateless,
}

impl Revision {
    /// All revisions, the oldest first.
    pub(crate) const ALL: [Self; 5] = [Self::First, Self::Hints, Self::Structured, Self::Icons, Self::Stateless];

    /// The newest revision that is not newer than a version. A request without a version belongs to a session whose
    /// handshake is not done: it gets the newest revision with a handshake.
    pub(crate) fn from_version(version: Option<&ProtocolVersion>) -> Self {
        //= docs/spec.md#protocol
        //# The revisions 2024-11-05 to 2025-11-25 and 2026-07-28 MUST be served by one process, and at one
        //# HTTP address.
        let Some(version) = version else { return Self::Icons };
        Self::ALL.into_iter().rev().find(|revision| version.as_str() >= revision.name()).unwrap_or(Self::First)
    }

    /// Its name on the wire.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::First => "2024-11-05",
            Self::Hints => "2025-03-26",
            Self::Structured => "2025-06-18",
            Self::Icons => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }

    /// Its index in [`Self::ALL`].
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Whether it has tool annotations, audio, completions, and messages in progress notifications.
    pub(crate) fn has_hints(self) -> bool {
        self >= Self::Hints
    }

    /// Whether it has titles, structured content, output schemas, resource links, and `_meta` in list items.
    pub(crate) fn has_structured(self) -> bool {
        self >= Self::Structured
    }

    /// Whether it has icons, and the website of a server.
    pub(crate) fn has_icons(self) -> bool {
        self >= Self::Icons
    }

    /// Whether it has self-contained requests, any JSON as structured content, and cache hints.
    pub(crate) fn is_stateless(self) -> bool {
        self == Self::Stateless
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_newest_revision_that_it_reaches() {
        for revision in Revision::ALL {
            assert_eq!(Revision::from_version(Some(&ProtocolVersion::KNOWN_VERSIONS[revision.index()])), revision);
            assert_eq!(Revision::ALL[revision.index()], revision);
        }
        assert_eq!(Revision::from_version(None), Revision::Icons);
    }
}
