//! The corpus of skills in folders of a test's own, laid out in several ways.

use crate::support::copy;
use crate::support::home::Home;
use crate::support::server::Server;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The corpus: its `proj` is the workspace, its `home` the home folder.
pub struct Corpus {
    pub home: Home,
}

impl Corpus {
    /// Lays it out; `with` names the variation.
    pub fn laid_out(systems: &Path, with: &str) -> Self {
        let mut corpus = Self { home: Home::with(&[]) };
        corpus.home.level = "warn,toolsd=debug";
        let from = systems.join("corpus");
        copy(&from.join("proj"), &corpus.home.workspace());
        for folder in ["home", "extra", "elsewhere"] {
            copy(&from.join(folder), &corpus.folder().join(folder));
        }
        symlink("../../../elsewhere/linked", corpus.at("{HOME}/.claude/skills/linked")).unwrap();
        corpus.plugins(&from.join("home/.claude/plugins/installed_plugins.json"));
        match with {
            "" => {}
            "no plugins" => fs::remove_file(corpus.at(PLUGINS)).unwrap(),
            "plugins of shape 2" => corpus.plugins(&from.join("plugins-v2.json")),
            "plugins that are not JSON" => corpus.plugins(&from.join("plugins-bad.json")),
            "plugins of shape 2, one switched off" => {
                corpus.plugins(&from.join("plugins-v2.json"));
                fs::copy(from.join("settings-off.json"), corpus.at("{HOME}/.claude/settings.json")).unwrap();
            }
            "extra" => corpus.configured("dirs = [\"{FX}/extra\"]"),
            "options" => corpus.configured("catalogue = true\nfiles = true\nprompts = true"),
            "elsewhere" => corpus.configured("also_read = [\"{FX}/elsewhere\"]"),
            "quick" => corpus.configured("refresh_ms = 200\nwatch = false"),
            "restless" => {
                corpus.many();
                corpus.configured("refresh_ms = 20\nwatch = false");
            }
            "a clock" => corpus.configured("refresh_ms = 4000\nwatch = false"),
            "plugins switched off" => corpus.configured("plugins = false"),
            "odd" => corpus.odd(),
            "still" => corpus.configured("refresh_ms = 0\nwatch = false"),
            "empty" => {
                fs::remove_dir_all(corpus.home.user()).unwrap();
                fs::create_dir_all(corpus.home.user()).unwrap();
                fs::remove_dir_all(corpus.home.workspace()).unwrap();
                fs::create_dir_all(corpus.home.workspace()).unwrap();
            }
            other => panic!("the corpus is not laid out with `{other}`"),
        }
        corpus
    }

    /// The folder that contains all of it.
    pub fn folder(&self) -> PathBuf {
        self.home.workspace().parent().unwrap().to_owned()
    }

    /// A text with the folders filled in.
    pub fn filled(&self, text: &str) -> String {
        let folders = [
            ("{HOME}", self.home.user()),
            ("{PROJ}", self.home.workspace()),
            ("{FX}", self.folder()),
            ("@CORPUS@", self.folder()),
        ];
        folders.iter().fold(text.to_owned(), |text, (name, folder)| text.replace(name, folder.to_str().unwrap()))
    }

    /// A path with the folders filled in.
    pub fn at(&self, path: &str) -> PathBuf {
        self.filled(path).into()
    }

    /// Writes a skill of the user.
    pub fn skill(&self, name: &str, description: &str, body: &str) {
        let folder = self.at(&format!("{{HOME}}/.claude/skills/{name}"));
        fs::create_dir_all(&folder).unwrap();
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n{body}\n");
        fs::write(folder.join("SKILL.md"), text).unwrap();
    }

    /// Skills that are legal and rare, and some that are not skills and must not be in the way.
    fn odd(&self) {
        let at = |path: &str| self.at(&format!("{{PROJ}}/.claude/skills/{path}"));
        let write = |folder: &str, text: &str| {
            fs::create_dir_all(at(folder)).unwrap();
            fs::write(at(folder).join("SKILL.md"), text).unwrap();
        };
        write("a-dated", "---\nname: 2024-01-01\ndescription: d\n---\n");
        write("a-day", "---\nname: a-day\ndescription: 2024-01-01\n---\n");
        write("quoted", "---\nname: \"2024-02-02\"\ndescription: d\n---\nname: 2024-01-01\n");
        write("lines", "---\nname: \"two\\n- lines\"\ndescription: d\n---\n");
        write("once", "---\nname: once\ndescription: d\n---\n");
        write(&(0..40).map(|depth| format!("{depth}/")).collect::<String>(), "---\nname: deep\ndescription: d\n---\n");
        write("large", &format!("---\nname: large\ndescription: d\n---\n{}\n", "0123456789\n".repeat(300_000)));
        write("too-large", "---\nname: too-large\ndescription: d\n---\n");
        let sparse = fs::File::options().append(true).open(at("too-large/SKILL.md")).unwrap();
        sparse.set_len(100 << 20).unwrap();
        fs::create_dir_all(at("folder/SKILL.md")).unwrap();
        // Links that lead around.
        symlink("..", at("above")).unwrap();
        symlink(".", at("itself")).unwrap();
        symlink("once", at("again")).unwrap();
    }

    fn plugins(&self, from: &Path) {
        fs::write(self.at(PLUGINS), self.filled(&fs::read_to_string(from).unwrap())).unwrap();
    }

    fn configured(&self, lines: &str) {
        self.home.write("toolsd.toml", &self.filled(&format!("[packs.skills]\n{lines}\n")));
        self.home.trust();
    }

    /// So many more skills that a look takes its time.
    fn many(&self) {
        (0..200).for_each(|number| self.skill(&format!("many-{number}"), "One of many", "x"));
    }

    /// Serves it.
    pub fn serve(&self) -> Server {
        Server::start(&self.home, &["--pack", "skills"])
    }

    /// What the server has logged so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.home.log()).unwrap()
    }

    /// Waits for two more looks than there were, since one may have begun before the edit that it is to find, and notes
    /// how many there are: the next one is a whole interval away.
    pub fn looked_again(&self, looks: &mut usize) {
        let now = self.log().matches(LOOKED).count();
        assert!(self.logged(LOOKED, now.max(*looks) + 2), "{}", self.log());
        *looks = self.log().matches(LOOKED).count();
    }

    /// Waits until the log has a line with this text, `count` times.
    pub fn logged(&self, text: &str, count: usize) -> bool {
        for _ in 0..1_200 {
            if self.log().matches(text).count() >= count {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        false
    }
}

/// What the log says of each look.
const LOOKED: &str = "`skills` is refreshed";

const PLUGINS: &str = "{HOME}/.claude/plugins/installed_plugins.json";
