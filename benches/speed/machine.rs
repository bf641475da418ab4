//! The machine that runs the bench, and the memory of a process, from `/proc`.

use std::fs;

/// One line: processor, cores, memory, system, load when the bench began. Omits what `/proc` does not show.
pub fn description() -> String {
    let processor = value("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let mut parts = vec![processor, format!("{cores} cores")];
    if let Some(total) = value("/proc/meminfo", "MemTotal").as_deref().and_then(kilobytes) {
        parts.push(format!("{:.0} GB", total / 1e6));
    }
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    parts.push(format!("{} {}", std::env::consts::OS, kernel.trim()).trim().to_owned());
    if let Ok(load) = fs::read_to_string("/proc/loadavg") {
        parts.push(format!("load {}", load.split(' ').next().unwrap_or_default()));
    }
    parts.join(", ")
}

/// The memory of a process.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Now, in MB (10⁶ bytes).
    pub now: f64,
    /// The peak so far, in MB.
    pub peak: f64,
}

/// The memory of a process; none where there is no `/proc`.
pub fn memory(process: u32) -> Option<Memory> {
    let status = format!("/proc/{process}/status");
    let megabytes = |key| value(&status, key).as_deref().and_then(kilobytes).map(|size| size / 1e3);
    Some(Memory { now: megabytes("VmRSS")?, peak: megabytes("VmHWM")? })
}

/// Milliseconds of processor time that the threads of a process have used; none where there is no `/proc`.
pub fn processor_time(process: u32) -> Option<f64> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten();
    // A thread that has just ended shows nothing any more.
    let used = threads.filter_map(|thread| {
        let reported = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        reported.split(' ').next()?.parse::<f64>().ok()
    });
    Some(used.sum::<f64>() / 1e6)
}

fn value(path: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// `1234 kB` (of 1,024 bytes) in thousands of bytes.
fn kilobytes(text: &str) -> Option<f64> {
    Some(text.strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1.024)
}
