//! Processor time and memory of processes, from `/proc`.

use std::time::Duration;

use tokio::time::sleep;

/// A process with a name for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) pid: u32,
}

/// The clock ticks per second of Linux.
const TICKS_PER_SECOND: f64 = 100.0;
/// Processes are idle when they use less than this part of a core for that long.
const IDLE_SHARE: f64 = 0.1;
const IDLE_WINDOW: Duration = Duration::from_millis(300);
/// The maximum number of checks.
const IDLE_ATTEMPTS: u32 = 30;

impl Process {
    /// Parses `name=pid`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('=').and_then(|(name, pid)| Some((name.to_owned(), pid.parse().ok()?)));
        let (name, pid) =
            parsed.ok_or_else(|| format!("expected NAME=PID such as etcd=1234, not {text:?}"))?;
        Ok(Self { name, pid })
    }

    /// The processor time that the process has used, in seconds.
    pub(crate) fn cpu_seconds(&self) -> Result<f64, String> {
        let stat = self.read("stat")?;
        cpu_ticks(&stat)
            .map(|ticks| ticks / TICKS_PER_SECOND)
            .ok_or_else(|| self.error("stat", &"not understood"))
    }

    /// The memory that the process has now, in bytes.
    pub(crate) fn resident_bytes(&self) -> Result<u64, String> {
        self.memory("VmRSS:")
    }

    /// The most memory that the process has had since the peak was reset, in bytes.
    pub(crate) fn peak_bytes(&self) -> Result<u64, String> {
        self.memory("VmHWM:")
    }

    /// Sets the peak to the current memory.
    pub(crate) fn reset_peak(&self) -> Result<(), String> {
        let path = format!("/proc/{}/clear_refs", self.pid);
        std::fs::write(path, "5").map_err(|error| self.error("clear_refs", &error))
    }

    fn memory(&self, field: &str) -> Result<u64, String> {
        let status = self.read("status")?;
        kilobytes(&status, field)
            .map(|kilobytes| kilobytes * 1024)
            .ok_or_else(|| self.error("status", &"no memory"))
    }

    fn read(&self, file: &str) -> Result<String, String> {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.pid))
            .map_err(|error| self.error(file, &error))
    }

    fn error(&self, file: &str, error: &dyn std::fmt::Display) -> String {
        format!("{}: /proc/{}/{file}: {error}", self.name, self.pid)
    }
}

/// Waits until these processes use almost no processor time, for a limited time.
pub(crate) async fn wait_until_idle(processes: &[Process]) -> Result<(), String> {
    let total = || processes.iter().map(Process::cpu_seconds).sum::<Result<f64, String>>();
    for _ in 0..IDLE_ATTEMPTS {
        let before = total()?;
        sleep(IDLE_WINDOW).await;
        if total()? - before <= IDLE_SHARE * IDLE_WINDOW.as_secs_f64() {
            return Ok(());
        }
    }
    Ok(())
}

/// User and system time of a `stat` file.
fn cpu_ticks(stat: &str) -> Option<f64> {
    // The second word is the program's name in brackets and may contain spaces.
    let mut words = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let (user, system) = (words.next()?.parse::<f64>().ok()?, words.next()?.parse::<f64>().ok()?);
    Some(user + system)
}

fn kilobytes(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_after_a_name_with_spaces() {
        let stat = "12 (a (b) c) S 1 12 12 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 900 1000 50";
        assert_eq!(cpu_ticks(stat), Some(300.0));
    }

    #[test]
    fn memory_is_read_in_kilobytes() {
        assert_eq!(kilobytes("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1024 kB\n", "VmRSS:"), Some(1024));
        assert_eq!(kilobytes("Name:\tx\n", "VmRSS:"), None);
    }

    #[test]
    fn a_process_is_named_on_the_command_line() {
        assert_eq!(Process::parse("etcd=12"), Ok(Process { name: "etcd".to_owned(), pid: 12 }));
        assert!(Process::parse("etcd").is_err() && Process::parse("etcd=x").is_err());
    }
}
