//! One run of a client: when its lines arrived, and how much processor time it took.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The measurements of one run.
pub(crate) struct Measurement {
    pub(crate) first_milliseconds: f64,
    pub(crate) last_milliseconds: f64,
    pub(crate) processor_milliseconds: f64,
    pub(crate) lines: usize,
}

/// The kernel counts in hundredths of a second on all machines known to us.
const MILLISECONDS_A_TICK: f64 = 10.0;

impl Measurement {
    /// Runs `get pods -A`. Both clients have the same home directory, with the caches of their earlier runs.
    pub(crate) fn take(binary: &Path, home: &Path, kubeconfig: &Path) -> Self {
        let began = Instant::now();
        let mut child = Command::new(binary)
            .args(["get", "pods", "-A"])
            .env("KUBECONFIG", kubeconfig)
            .env("HOME", home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", binary.display()));
        let mut stdout = child.stdout.take().unwrap();
        let (mut first, mut text) = (None, Vec::new());
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = stdout.read(&mut buffer).unwrap();
            if read == 0 {
                break;
            }
            first.get_or_insert_with(|| milliseconds(began));
            text.extend_from_slice(&buffer[..read]);
        }
        let last_milliseconds = milliseconds(began);
        let processor_milliseconds = processor_milliseconds(child.id());
        assert!(child.wait().unwrap().success(), "{} failed", binary.display());
        Self {
            first_milliseconds: first.unwrap_or(last_milliseconds),
            last_milliseconds,
            processor_milliseconds,
            lines: String::from_utf8_lossy(&text).lines().count(),
        }
    }
}

/// The median.
pub(crate) fn median(measurements: &[Measurement], number: impl Fn(&Measurement) -> f64) -> f64 {
    let mut numbers: Vec<f64> = measurements.iter().map(number).collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// The CPU time of a process, which the kernel keeps until it is reaped.
fn processor_milliseconds(id: u32) -> f64 {
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        // The name is in parentheses and may contain anything; the fields after it are numbers.
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        if fields[0] == "Z" {
            let ticks: f64 = fields[11..13].iter().map(|field| field.parse::<f64>().unwrap()).sum();
            return ticks * MILLISECONDS_A_TICK;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
