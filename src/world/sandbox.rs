//! The sandbox of programs: what the user wants, what the system offers, and what that allows.

use std::fmt::{self, Display, Formatter};

/// The user's choice for systems that cannot confine programs. The workspace cannot set it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// Programs that could change something are refused.
    #[default]
    Require,
    /// Programs are confined as far as the system can.
    BestEffort,
    /// Programs are not confined, even where the system could.
    Off,
}

/// The means of the system to confine programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mechanisms {
    /// The version of Landlock's interface; 0 where there is none.
    pub landlock: u32,
    /// Whether seccomp filters can be installed.
    pub seccomp: bool,
    /// Whether there is a `sandbox-exec`: macOS.
    pub seatbelt: bool,
    /// Why programs cannot be confined in full, if they cannot.
    pub lacks: Option<String>,
}

/// What holds for the programs that packs start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxStatus {
    /// The choice of the user.
    pub sandbox: Sandbox,
    /// The means of the system.
    pub mechanisms: Mechanisms,
}

impl SandboxStatus {
    /// Whether programs are confined in full.
    pub fn is_confining(&self) -> bool {
        self.sandbox != Sandbox::Off && self.mechanisms.lacks.is_none()
    }

    /// Whether `run`, and git where it writes, are refused.
    pub fn is_refusing(&self) -> bool {
        self.sandbox == Sandbox::Require && self.mechanisms.lacks.is_some()
    }
}

impl Display for SandboxStatus {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Mechanisms { landlock, seccomp, seatbelt, lacks } = &self.mechanisms;
        let mut has = Vec::new();
        has.extend((*landlock > 0).then(|| format!("landlock {landlock}")));
        has.extend(seccomp.then(|| "seccomp".to_owned()));
        has.extend(seatbelt.then(|| "sandbox-exec".to_owned()));
        let has = if has.is_empty() { "none".to_owned() } else { has.join(", ") };
        match (self.sandbox, lacks) {
            (Sandbox::Off, _) => write!(f, "off (--sandbox off); programs are not confined"),
            (_, None) => write!(f, "{has}; programs are confined"),
            (Sandbox::BestEffort, Some(why)) => {
                write!(f, "{has} ({why}); programs are confined no further (--sandbox best-effort)")
            }
            (Sandbox::Require, Some(why)) => {
                write!(f, "{has} ({why}); run and git writes are refused; --sandbox off allows them")
            }
        }
    }
}
