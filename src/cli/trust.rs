//! `toolsd trust`: shows what the files of this workspace ask for, and allows them to be used if a person agrees.

mod listing;
mod recorded;

use super::options::Format;
use super::record::{change_record, load_trust};
use super::{Ended, Exit, Session};
use crate::diagnostic::{Code, Diagnostic, Result};
use clap::Args;
use listing::Listing;
use serde_json::json;

/// Allow the pack files of this workspace to be used.
#[derive(Args)]
pub struct Trust {
    /// Trust only these files, or the files of these packs, and later edits of them, as long as they ask for no more.
    #[arg(long, value_name = "FILE | PACK", num_args = 0..)]
    edits: Option<Vec<String>>,
    /// For how long edits are trusted: `12h`, `30d` or `8w` [default: 30d].
    #[arg(long, value_name = "TIME", requires = "edits")]
    until: Option<String>,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Refuse if the listing is no longer the one with this hash; needed beside `--yes` with `--format json`.
    #[arg(long, value_name = "HASH", requires = "yes")]
    hash: Option<String>,
    /// List what is trusted on this machine.
    #[arg(long, conflicts_with_all = ["edits", "yes", "revoke"])]
    list: bool,
    /// Trust these files of this workspace no more: files, packs, `all`, or the path of another workspace.
    #[arg(long, value_name = "FILE | PACK | all", num_args = 1.., conflicts_with_all = ["edits", "yes"])]
    revoke: Vec<String>,
}

/// For how long edits are trusted if nobody says, in words and in milliseconds.
const USUAL: &str = "30d";
/// … and at most.
const MOST_DAYS: i64 = 366;
const HOUR_MS: i64 = 3_600_000;

impl Trust {
    pub(super) fn run(self, session: &Session) -> Ended {
        if self.list {
            return recorded::list(session);
        }
        if !self.revoke.is_empty() {
            return recorded::revoke(session, &self.revoke);
        }
        let trust = load_trust(session.workspace.root())?;
        let mut listing = Listing::of(session.workspace.as_ref(), &trust)?;
        let mut until = None;
        if let Some(names) = &self.edits {
            listing.only(names)?;
            let time = self.until.as_deref().unwrap_or(USUAL);
            until = Some(session.workspace.now_ms() + milliseconds(time)?);
            listing.note_edits(time);
        }
        //= docs/spec.md#trust
        //# Nothing MUST be trusted before what each file asks for was shown and agreed to.
        let agreed = self.agreed(session, &listing)?;
        if agreed {
            change_record(session.workspace.root(), |record| {
                let trust = record.workspaces.entry(session.workspace.root().to_owned()).or_default();
                listing.allow(trust, until);
            })?;
        }
        self.tell(session, &listing, agreed);
        let waits = !agreed && listing.waits();
        Ok(if waits || !listing.refused.is_empty() { Exit::Faults } else { Exit::Well })
    }

    /// Shows the listing to a person, and whether it is agreed to.
    fn agreed(&self, session: &Session, listing: &Listing) -> Result<bool> {
        let is_json = session.shared.format == Format::Json;
        if !is_json {
            listing.show(&session.terminal);
        }
        if !listing.waits() {
            // Nothing is left to agree to, but files that are gone are forgotten.
            return Ok(true);
        }
        if let Some(hash) = &self.hash
            && *hash != listing.hash()
        {
            let fault = Diagnostic::new(Code("usage"), "the files are not those that the hash was made of");
            return Err(fault.help(format!("read them again; now it is {}", listing.hash())));
        }
        if self.yes && is_json && self.hash.is_none() {
            let fault = Diagnostic::new(Code("usage"), "`--yes` of a machine needs the `--hash` of what it looked at");
            return Err(fault.help("`toolsd trust --format json` gives the listing and its hash"));
        }
        if self.yes {
            return Ok(true);
        }
        Ok(!is_json && session.terminal.asks(&listing.question()) == Some(true))
    }

    fn tell(&self, session: &Session, listing: &Listing, agreed: bool) {
        let terminal = &session.terminal;
        let root = session.workspace.root();
        if session.shared.format == Format::Json {
            let mut json = listing.json();
            json["workspace"] = json!(root);
            json["trusted"] = json!(agreed);
            terminal.json(&json);
            return;
        }
        listing.refused.iter().for_each(|fault| terminal.fault(fault));
        match (agreed, listing.waits()) {
            _ if listing.is_empty() && listing.refused.is_empty() => {
                terminal.note(&format!("nothing to trust in `{root}`"));
            }
            (true, true) => terminal.line(&format!("trusted {}", listing.counted())),
            (true, false) => {}
            (false, _) => {
                terminal.note("nothing was trusted; where nobody can be asked, `--yes` agrees to this listing")
            }
        }
    }
}

/// `12h`, `30d`, `8w` in milliseconds.
fn milliseconds(time: &str) -> Result<i64> {
    let wrong = || {
        let fault = Diagnostic::new(Code("usage"), format!("`{time}` is no time for edits"));
        fault.help(format!("a number and `h`, `d` or `w`, as in `30d`; {MOST_DAYS}d at most"))
    };
    let (number, unit) = time.split_at(time.len() - time.chars().next_back().map_or(0, char::len_utf8));
    let hours = match unit {
        "h" => 1,
        "d" => 24,
        "w" => 7 * 24,
        _ => return Err(wrong()),
    };
    let number: i64 = number.parse().map_err(|_| wrong())?;
    let total = number.checked_mul(hours).filter(|hours| (1..=MOST_DAYS * 24).contains(hours)).ok_or_else(wrong)?;
    Ok(total * HOUR_MS)
}
