//! Reads statistics of Linux about a process and the machine: memory, and how long threads waited for a processor.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// The kernel counts processor time in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// Memory of a process, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) resident: u64,
    /// The maximum of resident memory so far.
    pub(crate) peak: u64,
}

/// Counters at one moment, whose differences show how the processors were used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    /// How long each thread of the server was ready to run and waited for a processor.
    waits: BTreeMap<String, Duration>,
    /// Processor time of everything on the machine but the server and this program, stolen time included.
    others: Duration,
    /// Processor time of the server.
    server: Duration,
}

/// Reads the memory of a process; `None` if it has exited.
pub(crate) fn memory(process: u32) -> Option<Memory> {
    parse_memory(&fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

fn parse_memory(status: &str) -> Option<Memory> {
    let field = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
    };
    Some(Memory { resident: field("VmRSS:")?, peak: field("VmHWM:")? })
}

impl Counters {
    /// Reads the counters now.
    pub(crate) fn read(server: u32) -> Self {
        let tasks = fs::read_dir(format!("/proc/{server}/task")).into_iter().flatten().flatten();
        let waits = tasks.filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            let nanos = text.split_whitespace().nth(1)?.parse().ok()?;
            Some((task.file_name().to_string_lossy().into_owned(), Duration::from_nanos(nanos)))
        });
        let busy = fs::read_to_string("/proc/stat").map_or(0, |stat| parse_busy_ticks(&stat));
        let (server, own) = (ticks_of(&server.to_string()), ticks_of("self"));
        let duration = |ticks: u64| TICK * u32::try_from(ticks).unwrap_or(u32::MAX);
        let others = duration(busy.saturating_sub(server + own));
        Self { waits: waits.collect(), others, server: duration(server) }
    }

    /// Returns the processor time of the server since `earlier`. If it is short and the wait was long, the server
    /// waited for a lock or another of its threads.
    pub(crate) fn server_time_since(&self, earlier: &Self) -> Duration {
        self.server.saturating_sub(earlier.server)
    }

    /// Returns for how long the machine delayed the server since `earlier`: the time that one of its threads waited for
    /// a processor, but at most the processor time of other processes. Waits of a thread for another one of the server
    /// are not included.
    pub(crate) fn machine_delay_since(&self, earlier: &Self) -> Duration {
        let waited = self.waits.iter().map(|(thread, wait)| {
            wait.saturating_sub(earlier.waits.get(thread).copied().unwrap_or_default())
        });
        waited.max().unwrap_or_default().min(self.others.saturating_sub(earlier.others))
    }
}

/// Returns the ticks in which the processors were busy: all but idle and waiting for disks.
fn parse_busy_ticks(stat: &str) -> u64 {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let ticks: Vec<u64> = line.split_whitespace().map(|ticks| ticks.parse().unwrap_or(0)).collect();
    let busy =
        |(index, ticks): (usize, &u64)| if matches!(index, 0 | 1 | 2 | 5 | 6 | 7) { *ticks } else { 0 };
    ticks.iter().enumerate().map(busy).sum()
}

fn ticks_of(process: &str) -> u64 {
    fs::read_to_string(format!("/proc/{process}/stat")).map_or(0, |stat| parse_process_ticks(&stat))
}

/// Returns the ticks that a process used. Its name, in parentheses, may contain any character.
fn parse_process_ticks(stat: &str) -> u64 {
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let tick = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    tick(11) + tick(12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_the_status_of_a_process() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(parse_memory(status), Some(Memory { resident: 1 << 20, peak: 2 << 20 }));
        assert_eq!(parse_memory("Name:\tzombie\n"), None);
    }

    #[test]
    fn processor_time_is_read_without_idle_time() {
        assert_eq!(parse_busy_ticks("cpu  1 2 3 1000 2000 4 5 6 0 0\ncpu0 9\n"), 21);
        assert_eq!(parse_process_ticks("7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 30 12 0 0"), 42);
    }

    #[test]
    fn only_processor_time_of_other_processes_counts_as_a_delay_by_the_machine() {
        let counters = |wait: u64, others: u64| Counters {
            waits: [("1".to_owned(), Duration::from_millis(wait))].into(),
            others: Duration::from_millis(others),
            server: Duration::ZERO,
        };
        let delay = |wait: u64, others: u64| {
            counters(100 + wait, 50 + others).machine_delay_since(&counters(100, 50))
        };
        assert_eq!(delay(500, 2000), Duration::from_millis(500));
        assert_eq!(delay(500, 0), Duration::ZERO);
    }
}
