//! The revisions of the protocol, and what each of them knows.

use rmcp::model::ProtocolVersion;

/// A supported revision of MCP, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    /// 2024-11-05.
    First,
    /// 2025-03-26: audio, hints of tools, completions.
    Hints,
    /// 2025-06-18: titles, structured content, links.
    Structured,
    /// 2025-11-25: icons.
    Icons,
    /// 2026-07-28: stateless.
    Stateless,
}

impl Revision {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [Self::First, Self::Hints, Self::Structured, Self::Icons, Self::Stateless];

    /// The newest revision that a version reaches. A request without a version belongs to a session whose handshake is not done:
    /// it gets the newest revision with a handshake.
    pub(crate) fn from_version(version: Option<&ProtocolVersion>) -> Self {
        //= docs/spec.md#protocol
        //# The server MUST serve the revisions 2024-11-05 to 2025-11-25 and 2026-07-28 in one process.
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

    /// Hints of tools, audio, completions, the message of a progress.
    pub(crate) fn has_hints(self) -> bool {
        self >= Self::Hints
    }

    /// Titles, structured content, output schemas, links to resources, `_meta` on what is listed.
    pub(crate) fn has_structured(self) -> bool {
        self >= Self::Structured
    }

    /// Icons, and the website of a server.
    pub(crate) fn has_icons(self) -> bool {
        self >= Self::Icons
    }

    /// Requests that stand alone, any JSON as structured content, hints for caches.
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
