//! What a program tries that a pack starts: run once as it is, where it must succeed, and once confined.
#![allow(unsafe_code, reason = "calls of the kernel as an attacker makes them")]

use serde_json::{Value, json};
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Error, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What is tried, and on what.
#[derive(Clone, Debug)]
pub struct Attack {
    /// What is tried.
    pub act: &'static str,
    /// The file, folder or address.
    pub at: String,
    /// A number: of a process, a port, a descriptor, a call of the kernel.
    pub number: i64,
}

impl Attack {
    pub fn new(act: &'static str, at: impl AsRef<Path>, number: impl Into<i64>) -> Self {
        Self { act, at: at.as_ref().to_string_lossy().into_owned(), number: number.into() }
    }

    /// As the attacker reads it.
    pub fn input(&self) -> Vec<u8> {
        json!({ "act": self.act, "at": self.at, "number": self.number }).to_string().into_bytes()
    }
}

/// What the attacker prints if it got what it wanted.
pub const SUCCESS: &str = "the attack succeeded";

/// The arguments by which this binary is the attacker.
pub const ARGUMENTS: [&str; 4] = ["--exact", "attacker::attacks", "--ignored", "--nocapture"];

#[test]
#[ignore = "no test: the program that the tests of programs start"]
fn attacks() {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).unwrap();
    let Ok(attack) = serde_json::from_str::<Value>(&text) else { return };
    let act = attack["act"].as_str().unwrap();
    let at = PathBuf::from(attack["at"].as_str().unwrap());
    let number = attack["number"].as_i64().unwrap();
    let mut out = io::stdout();
    match attempt(act, &at, number) {
        Ok(told) => writeln!(out, "{SUCCESS}: {told}").unwrap(),
        Err(error) => writeln!(out, "the attack failed: {error}").unwrap(),
    }
}

fn attempt(act: &str, at: &Path, number: i64) -> io::Result<String> {
    let nothing = |_| String::new();
    match act {
        "nothing" => Ok(String::new()),
        "read" => fs::read_to_string(at),
        "list" => fs::read_dir(at).map(|entries| entries.count().to_string()),
        "temporary" => {
            let own = std::env::temp_dir();
            fs::write(own.join("mine"), "x")?;
            Ok(own.to_string_lossy().into_owned())
        }
        "variable" => std::env::var(at).map_err(Error::other),
        "thread" => std::thread::Builder::new().spawn(|| {}).map(|_| String::new()),
        "write" | "append" | "cut" | "cut reading" | "truncate" | "remove" | "move away" | "move over" | "link"
        | "make file" | "make folder" | "make link" | "make pipe" | "make device" | "make disk" | "remove folder"
        | "own" | "device call" => files(act, at).map(nothing),
        "start" | "start copy" | "daemon" | "daemon setsid" | "daemon setpgid" => {
            starts(act, at).map(|()| String::new())
        }
        "tcp" => std::net::TcpStream::connect(("127.0.0.1", u16::try_from(number).unwrap())).map(|_| String::new()),
        "tcp bind" => std::net::TcpListener::bind("127.0.0.1:0").map(|_| String::new()),
        "udp" => std::net::UdpSocket::bind("127.0.0.1:0")?.send_to(b"x", ("127.0.0.1", 9)).map(|_| String::new()),
        "unix" => UnixStream::connect(at).map(|_| String::new()),
        "unix bind" => std::os::unix::net::UnixListener::bind(at).map(|_| String::new()),
        "abstract" => {
            let name = SocketAddr::from_abstract_name(at.to_str().unwrap())?;
            UnixStream::connect_addr(&name).map(|_| String::new())
        }
        "privileges" | "capabilities" => privileges(act).map(nothing),
        _ => calls(act, number).map(nothing),
    }
}

fn text(path: &Path) -> CString {
    CString::new(path.to_str().unwrap()).unwrap()
}

fn done(result: impl Into<i64>) -> io::Result<()> {
    if result.into() < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// The folder that every attacker may write: `out` of the workspace, where it runs.
fn mine(name: &str) -> PathBuf {
    Path::new("out").join(name)
}

fn files(act: &str, at: &Path) -> io::Result<()> {
    let inside = |name: &str| at.parent().unwrap().join(name);
    let options = || OpenOptions::new();
    match act {
        "write" => options().write(true).open(at)?.write_all(b"taken"),
        "append" => options().append(true).open(at)?.write_all(b"taken"),
        "cut" => options().write(true).truncate(true).open(at).map(|_| ()),
        // SAFETY: a path that ends with NUL.
        "cut reading" => done(unsafe { libc::open(text(at).as_ptr(), libc::O_RDONLY | libc::O_TRUNC) }),
        // SAFETY: a path that ends with NUL.
        "truncate" => done(unsafe { libc::truncate(text(at).as_ptr(), 0) }),
        "remove" => fs::remove_file(at),
        "move away" => fs::rename(at, mine("moved")),
        "move over" => {
            fs::write(mine("own"), "taken")?;
            fs::rename(mine("own"), at)
        }
        "link" => {
            fs::hard_link(at, mine("linked"))?;
            fs::write(mine("linked"), "taken")
        }
        "make file" => File::create(inside("new")).map(|_| ()),
        "make folder" => fs::create_dir(inside("new")),
        "make link" => symlink("/etc/passwd", inside("new")),
        // SAFETY: a path that ends with NUL.
        "make pipe" => done(unsafe { libc::mkfifo(text(&inside("new")).as_ptr(), 0o600) }),
        "make device" => {
            let device = libc::makedev(1, 3);
            // SAFETY: a path that ends with NUL.
            done(unsafe { libc::mknod(text(&inside("new")).as_ptr(), libc::S_IFCHR | 0o600, device) })
        }
        // SAFETY: a path that ends with NUL.
        "make disk" => {
            done(unsafe { libc::mknod(text(&inside("new")).as_ptr(), libc::S_IFBLK | 0o600, libc::makedev(7, 0)) })
        }
        "device call" => {
            let device = options().read(true).open(at)?;
            let mut settings = [0_u8; 256];
            // SAFETY: a descriptor of ours, and more room than the call fills.
            match done(unsafe {
                libc::ioctl(std::os::fd::AsRawFd::as_raw_fd(&device), libc::TCGETS, settings.as_mut_ptr())
            }) {
                // It was looked at by the device, which is no terminal.
                Err(error) if error.raw_os_error() == Some(libc::ENOTTY) => Ok(()),
                other => other,
            }
        }
        "remove folder" => fs::remove_dir(inside("empty")),
        // SAFETY: a path that ends with NUL.
        "own" => done(unsafe { libc::chown(text(at).as_ptr(), 12345, 12345) }),
        other => panic!("there is no attack {other}"),
    }
}

fn starts(act: &str, at: &Path) -> io::Result<()> {
    if act == "start" {
        return Command::new(at).arg("--list").stdout(Stdio::null()).spawn()?.wait().map(|_| ());
    }
    if act == "start copy" {
        fs::copy(at, mine("copy"))?;
        fs::set_permissions(mine("copy"), fs::Permissions::from_mode(0o755))?;
        return Command::new(mine("copy")).spawn()?.wait().map(|_| ());
    }
    let mut late = Command::new("/bin/sh");
    late.args(["-c", "exec 0<&- 1>&- 2>&-; sleep 0.7; echo taken > out/late"]);
    let leave = act.to_owned();
    // SAFETY: one call of the kernel. That it is refused must not keep the process from starting.
    unsafe {
        late.pre_exec(move || {
            match leave.as_str() {
                "daemon setsid" => drop(libc::setsid()),
                "daemon setpgid" => drop(libc::setpgid(0, 0)),
                _ => {}
            }
            Ok(())
        });
    }
    late.spawn().map(|_| ())
}

/// What a program has, or could get by starting another one.
fn privileges(act: &str) -> io::Result<()> {
    // SAFETY: calls of the kernel with numbers, and with pointers to what lives until they return.
    unsafe {
        if act == "privileges" {
            return match libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) {
                0 => Ok(()),
                _ => Err(Error::other("no new privileges")),
            };
        }
        let header = [0x2008_0522_u32, 0];
        let mut sets = [0_u32; 6];
        done(libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr()))?;
        // All but `CAP_DAC_OVERRIDE`, of the effective, permitted and inheritable ones.
        let has = (sets[0] | sets[1]) & !2 | sets[2] | sets[3] | sets[4] | sets[5];
        if has == 0 { Err(Error::other("no capabilities")) } else { Ok(()) }
    }
}

fn calls(act: &str, number: i64) -> io::Result<()> {
    let pid = i32::try_from(number).unwrap_or(0);
    // SAFETY: calls of the kernel with numbers, and with pointers to what lives until they return.
    unsafe {
        match act {
            "kill" => done(libc::kill(pid, 0)),
            "tgkill" => done(libc::syscall(libc::SYS_tgkill, pid, pid, 0)),
            "limit of another" => {
                let mut limit: libc::rlimit = std::mem::zeroed();
                done(libc::prlimit(pid, libc::RLIMIT_NOFILE, std::ptr::null(), &raw mut limit))
            }
            "priority of another" => done(libc::setpriority(libc::PRIO_PROCESS, pid.cast_unsigned(), 0)),
            "affinity of another" => {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                done(libc::sched_getaffinity(pid, size_of::<libc::cpu_set_t>(), &raw mut set))?;
                done(libc::sched_setaffinity(pid, size_of::<libc::cpu_set_t>(), &raw const set))
            }
            "descriptor" => {
                let mut byte = [0_u8; 1];
                done(libc::pread(pid, byte.as_mut_ptr().cast(), 1, 0) as i64)
            }
            "fork" => match libc::fork() {
                0 => libc::_exit(0),
                child => done(child),
            },
            "clone" => match libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) {
                0 => libc::_exit(0),
                child => done(child),
            },
            "clone3" => {
                let mut arguments = [0_u64; 8];
                arguments[4] = u64::from(libc::SIGCHLD.cast_unsigned());
                match libc::syscall(libc::SYS_clone3, arguments.as_ptr(), 64) {
                    0 => libc::_exit(0),
                    child => done(child),
                }
            }
            "namespace" => match libc::syscall(libc::SYS_clone, libc::SIGCHLD as libc::c_long | number, 0, 0, 0, 0) {
                0 => libc::_exit(0),
                child => done(child),
            },
            "socketpair" => {
                let mut pair = [0; 2];
                done(libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr()))
            }
            "socket" => done(libc::socket(pid, libc::SOCK_DGRAM, 0)),
            "audit socket" => done(libc::socket(libc::AF_NETLINK, libc::SOCK_RAW, 9)),
            "core" => {
                let mut limit: libc::rlimit = std::mem::zeroed();
                done(libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit))?;
                if limit.rlim_max > 1 { Ok(()) } else { Err(Error::other("no core")) }
            }
            "large file" => {
                libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                File::create(mine("large"))?.set_len(5 << 30)?;
                fs::remove_file(mine("large"))
            }
            "many open" => many_open(number),
            "host name" => {
                let mut name = [0_u8; 256];
                done(libc::gethostname(name.as_mut_ptr().cast(), name.len()))?;
                done(libc::sethostname(name.as_ptr().cast(), libc::strlen(name.as_ptr().cast())))
            }
            // Any call, with nothing in its arguments: that it is known and looked at is enough.
            "call" => match libc::syscall(number, -1_i64, 0, 0, 0, 0, 0) {
                -1 if [libc::EPERM, libc::ENOSYS, libc::EOPNOTSUPP]
                    .contains(&Error::last_os_error().raw_os_error().unwrap()) =>
                {
                    Err(Error::last_os_error())
                }
                _ => Ok(()),
            },
            other => panic!("there is no attack {other}"),
        }
    }
}

fn many_open(number: i64) -> io::Result<()> {
    // SAFETY: pointers to what lives until the calls return.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        done(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit))?;
        limit.rlim_cur = limit.rlim_max;
        done(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit))?;
    }
    let opened: io::Result<Vec<File>> =
        (0..number).map(|_| OpenOptions::new().read(true).custom_flags(libc::O_CLOEXEC).open("/dev/null")).collect();
    opened.map(|_| ())
}

/// Waits for what a daemon would leave behind.
pub fn left_behind(workspace: &Path) -> bool {
    let late = workspace.join("out/late");
    for _ in 0..30 {
        if late.exists() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}
