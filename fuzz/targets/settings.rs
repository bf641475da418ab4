//! The files that toolsd itself reads: `toolsd.toml`, the record of trust, and the configuration of a repository.
#![no_main]

use std::fs;
use std::sync::LazyLock;
use toolsd::definition::read_workspace;
use toolsd::registry::{TRUST_RECORD, TrustRecord};
use toolsd::source::Source;
use toolsd::world::World;
use toolsd::world::disk::Disk;
use toolsd::world::memory::MemoryWorld;
use toolsd::world::run::RequiredGrant;

/// A folder with a repository, whose configuration is another one each time. It stays behind with the process.
static REPOSITORY: LazyLock<(String, Disk)> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("toolsd-fuzz-{}", std::process::id()));
    let git = folder.join(".git");
    for below in ["objects", "refs/heads"] {
        fs::create_dir_all(git.join(below)).expect("a folder");
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
    let disk = Disk::new(&folder.to_string_lossy(), []).expect("a root");
    (git.join("config").to_string_lossy().into_owned(), disk)
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((what, text)) = toolsd_fuzz::chosen(data, &["workspace", "trust", "git"]) else { return };
    let _guarded = toolsd_fuzz::guarded();
    match what {
        "workspace" => read_workspace(&Source::new("toolsd.toml", text)).1.iter().for_each(toolsd_fuzz::show),
        "trust" => {
            let Ok(folder) = MemoryWorld::with([(TRUST_RECORD, text)]) else { return };
            let Some(record) = toolsd_fuzz::shown(TrustRecord::load(&folder)) else { return };
            for trust in record.workspaces.values() {
                for path in trust.files.keys() {
                    toolsd_fuzz::shown(trust.check(path, b"other", 0));
                }
            }
        }
        _ => {
            let (config, disk) = &*REPOSITORY;
            fs::write(config, text).expect("a file");
            toolsd_fuzz::shown(disk.repository(".", RequiredGrant::ReadGit));
            toolsd_fuzz::shown(disk.repository(".", RequiredGrant::WriteGit));
        }
    }
});
