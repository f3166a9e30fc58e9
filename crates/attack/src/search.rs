//! The attack: rounds of cases against a server that is watched from outside.
//!
//! A round ends when the time is over, or when the server exited or used too much memory: then the next one starts with
//! a new server.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gantry_json::{Value, json};

use crate::case::{CaseId, Message};
use crate::connection::Connection;
use crate::latency::Latency;
use crate::machine;
use crate::play::{Outcome, Target, play};
use crate::probe::{Probe, Sample};
use crate::server::{NAMESPACE, ServerProcess, create_account, expect};
use crate::{AttackOptions, say};

const MEGABYTE: u64 = 1 << 20;
const WATCH_PERIOD: Duration = Duration::from_millis(50);
const PROBE_PERIOD: Duration = Duration::from_millis(100);
/// The longest wait of the probe that is allowed.
const PROBE_LIMIT: Duration = Duration::from_secs(1);
const REPORT_PERIOD: Duration = Duration::from_secs(60);
/// How long a case counts as a possible cause after its end.
const AFTERMATH: Duration = Duration::from_secs(2);
/// How many findings of a class are shown, and how many cases of each.
const SHOWN_OF_A_CLASS: usize = 5;
const SHOWN_CASES: usize = 12;
const PLAY_LIMIT: Duration = Duration::from_secs(120);

/// Wrong behaviour of the server.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    what: String,
    /// The cases that were played at the time.
    cases: Vec<CaseId>,
}

/// The figures of an attack.
#[derive(Debug, Default)]
pub(crate) struct Report {
    cases: usize,
    statuses: BTreeMap<u16, usize>,
    unanswered: usize,
    samples: Vec<Sample>,
    /// The longest wait of the probe, without the part that the machine caused.
    longest_wait: Worst<Duration>,
    /// The maximum of resident memory, in bytes.
    peak: Worst<u64>,
    /// The resident memory after the last round.
    rest: u64,
    findings: Vec<Finding>,
}

/// A figure at its worst, and the cases that were played at the time.
#[derive(Debug, Default)]
struct Worst<T> {
    value: T,
    cases: Vec<CaseId>,
}

impl<T: PartialOrd> Worst<T> {
    /// Keeps a value that is worse than all before it.
    fn note(&mut self, value: T, cases: impl FnOnce() -> Vec<CaseId>) {
        if value > self.value {
            *self = Self { value, cases: cases() };
        }
    }

    /// Formats the cases.
    fn during(&self) -> String {
        let shown: Vec<String> = self.cases.iter().take(SHOWN_CASES).map(ToString::to_string).collect();
        if shown.is_empty() { String::new() } else { format!(" (during {})", shown.join(", ")) }
    }
}

/// The cases that are played now, and those that were until recently.
#[derive(Debug, Default)]
struct Schedule {
    waiting: VecDeque<CaseId>,
    next_seed: u64,
    running: BTreeMap<CaseId, Instant>,
    ended: VecDeque<(CaseId, Instant, Instant)>,
}

/// The state that the players of a round share.
struct Round {
    options: AttackOptions,
    schedule: Mutex<Schedule>,
    report: Mutex<Report>,
    is_over: AtomicBool,
}

/// Attacks until the time is over or the seeds are used up.
pub(crate) async fn attack(options: AttackOptions) -> Result<Report, String> {
    let end = Instant::now() + Duration::from_secs(options.minutes * 60);
    let schedule = Schedule { next_seed: options.seeds.0, ..Schedule::default() };
    let round = Arc::new(Round {
        options,
        schedule: Mutex::new(schedule),
        report: Mutex::default(),
        is_over: AtomicBool::new(false),
    });
    loop {
        round.is_over.store(false, Ordering::Relaxed);
        round.run(end).await?;
        if Instant::now() >= end || round.is_exhausted() {
            break;
        }
        say("the server is restarted");
    }
    let mut report = round.report.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut report))
}

impl Round {
    async fn run(self: &Arc<Self>, end: Instant) -> Result<(), String> {
        let mut server = ServerProcess::start(&self.options.binary, &self.options.directory, 0)?;
        let access = server.ready().await?;
        let mut admin = Connection::open(&access.admin).await.map_err(|error| error.to_string())?;
        let (token, probe_token) = prepare(&mut admin).await?;
        let requests = vec![small(), Message::get("/readyz")];
        let probe = Probe::start(access.plain.clone(), probe_token, server.id(), requests, PROBE_PERIOD);
        let target = Arc::new(Target { access, token });
        let players: Vec<_> = (0..self.options.jobs.max(1))
            .map(|_| tokio::spawn(Arc::clone(self).work(Arc::clone(&target))))
            .collect();
        self.watch(&mut server, &probe, end, || players.iter().all(tokio::task::JoinHandle::is_finished))
            .await;
        self.is_over.store(true, Ordering::Relaxed);
        for player in players {
            player.abort();
            let _ = player.await;
        }
        self.check_samples(probe.finish());
        let mut schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
        schedule.running.clear();
        schedule.ended.clear();
        drop(schedule);
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.rest = machine::memory(server.id()).map_or(0, |memory| memory.resident);
        Ok(())
    }

    /// Watches the server from outside until the round ends.
    async fn watch(
        &self,
        server: &mut ServerProcess,
        probe: &Probe,
        end: Instant,
        are_players_done: impl Fn() -> bool,
    ) {
        let (mut reported, mut panics) = (Instant::now(), 0);
        while Instant::now() < end && !are_players_done() {
            tokio::time::sleep(WATCH_PERIOD).await;
            self.check_samples(probe.take());
            if let Some(status) = server.exit_status() {
                self.find(format!("the server exited: {status}; {}", server.log_tail()), Duration::ZERO);
                return;
            }
            let memory = machine::memory(server.id()).unwrap_or_default();
            self.note_peak(memory.peak);
            let limit = self.options.memory_limit * MEGABYTE;
            if memory.peak > limit {
                self.find(format!("the server used {} MB", memory.peak / MEGABYTE), Duration::ZERO);
                return;
            }
            let lines = server.panic_lines();
            for line in lines.iter().skip(panics) {
                self.find(format!("a panic: {line}"), WATCH_PERIOD);
            }
            panics = lines.len();
            if reported.elapsed() > REPORT_PERIOD {
                reported = Instant::now();
                self.report
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .figures()
                    .iter()
                    .for_each(|line| say(line));
            }
        }
    }

    async fn work(self: Arc<Self>, target: Arc<Target>) {
        while !self.is_over.load(Ordering::Relaxed) {
            let Some(id) = self.begin() else { return };
            let case = id.case();
            let outcome = tokio::time::timeout(PLAY_LIMIT, play(&target, &case)).await.unwrap_or_default();
            self.end(id, outcome);
        }
    }

    fn begin(&self) -> Option<CaseId> {
        let mut schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
        if schedule.waiting.is_empty() && schedule.next_seed < self.options.seeds.1 {
            let seed = schedule.next_seed;
            schedule.next_seed += 1;
            schedule
                .waiting
                .extend(self.options.families().iter().map(|family| CaseId { family: *family, seed }));
        }
        let id = schedule.waiting.pop_front()?;
        schedule.running.insert(id, Instant::now());
        Some(id)
    }

    fn end(&self, id: CaseId, outcome: Outcome) {
        let mut schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = schedule.running.remove(&id) {
            schedule.ended.push_back((id, started, Instant::now()));
        }
        while schedule.ended.len() > 1000 {
            schedule.ended.pop_front();
        }
        drop(schedule);
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.cases += 1;
        report.unanswered += outcome.unanswered;
        for (status, count) in outcome.statuses {
            *report.statuses.entry(status).or_default() += count;
        }
        for what in outcome.findings {
            report.find(Finding { what, cases: vec![id] });
        }
    }

    fn is_exhausted(&self) -> bool {
        let schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
        schedule.waiting.is_empty() && schedule.next_seed >= self.options.seeds.1
    }

    fn note_peak(&self, peak: u64) {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.peak.note(peak, || self.cases_since(WATCH_PERIOD));
    }

    /// Returns the cases that were played in a period that ends now, or until shortly before it.
    fn cases_since(&self, span: Duration) -> Vec<CaseId> {
        let schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = schedule.ended.iter().filter(|(_, _, ended)| ended.elapsed() < span + AFTERMATH);
        recent.map(|(id, ..)| *id).chain(schedule.running.keys().copied()).collect()
    }

    /// Records a finding in a period that ends now, with the cases that overlap it.
    fn find(&self, what: String, span: Duration) {
        let cases = self.cases_since(span);
        self.report.lock().unwrap_or_else(PoisonError::into_inner).find(Finding { what, cases });
    }

    fn check_samples(&self, samples: Vec<Sample>) {
        for sample in &samples {
            if let Some(what) = finding_in(sample) {
                self.find(what, sample.started.elapsed());
            }
            let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
            report
                .longest_wait
                .note(sample.without_machine_delays(), || self.cases_since(sample.started.elapsed()));
        }
        self.report.lock().unwrap_or_else(PoisonError::into_inner).samples.extend(samples);
    }
}

/// Returns the error in a sample of the probe, if there is one.
fn finding_in(sample: &Sample) -> Option<String> {
    let Sample { request, waited, machine, server, outcome, .. } = sample;
    match outcome {
        Err(error) => Some(format!("the probe got no response to {request}: {error}")),
        Ok(status) if *status != 200 => Some(format!("the probe got {status} for {request}")),
        Ok(_) if sample.without_machine_delays() > PROBE_LIMIT => Some(format!(
            "the probe waited {} ms for {request}, of which the machine took {} ms; the server used {} ms of processors",
            waited.as_millis(),
            machine.as_millis(),
            server.as_millis()
        )),
        Ok(_) => None,
    }
}

fn small() -> Message {
    Message::get(format!("/api/v1/namespaces/{NAMESPACE}/configmaps/small"))
}

/// Creates the namespace, the object that the probe reads, and the accounts of attackers and probe.
async fn prepare(admin: &mut Connection) -> Result<(String, String), String> {
    expect(admin, "POST", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).await?;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    expect(admin, "POST", &path, &json!({"metadata": {"name": "small"}, "data": {"k": "v"}})).await?;
    // Pods are refused without the account; its controller needs a moment.
    let account = json!({"metadata": {"name": "default"}});
    let _: Result<Value, String> =
        expect(admin, "POST", &format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts"), &account).await;
    Ok((create_account(admin, "attacker").await?, create_account(admin, "probe").await?))
}

impl Report {
    /// Keeps a finding, and prints it unless several of the same class were printed before.
    fn find(&mut self, finding: Finding) {
        let like = self.findings.iter().filter(|other| class(&other.what) == class(&finding.what)).count();
        if like < SHOWN_OF_A_CLASS {
            say(&format!("FOUND {}", finding.what));
            for id in finding.cases.iter().take(SHOWN_CASES) {
                say(&format!("      {}", replay(*id)));
            }
        }
        self.findings.push(finding);
    }

    pub(crate) fn has_findings(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Returns the figures, a line each.
    pub(crate) fn figures(&self) -> Vec<String> {
        let latency = Latency::of(self.samples.iter().map(Sample::without_machine_delays));
        let machine = Latency::of(self.samples.iter().map(|sample| sample.machine));
        let statuses: Vec<String> =
            self.statuses.iter().map(|(status, count)| format!("{status}: {count}")).collect();
        let mut classes: BTreeMap<String, usize> = BTreeMap::new();
        for finding in &self.findings {
            *classes.entry(class(&finding.what)).or_default() += 1;
        }
        let found = classes.iter().map(|(class, count)| format!("found {count} times: {class}"));
        let figures = [
            format!("{} cases, {} findings", self.cases, self.findings.len()),
            format!("responses: {}; without response: {}", statuses.join(", "), self.unanswered),
            format!("probe, without delays by the machine: {latency}{}", self.longest_wait.during()),
            format!("delays by the machine, as far as others used its processors: {machine}"),
            format!(
                "memory: {} MB at most{}, {} MB at the end",
                self.peak.value / MEGABYTE,
                self.peak.during(),
                self.rest / MEGABYTE
            ),
        ];
        figures.into_iter().chain(found).collect()
    }
}

/// Returns the class of a finding: its text up to the details, without numbers.
fn class(what: &str) -> String {
    let words = what.split_once("answered ").map_or(what, |(_, response)| response);
    words.chars().filter(|character| !character.is_ascii_digit()).take(60).collect()
}

/// Returns the command that plays one case alone.
fn replay(id: CaseId) -> String {
    let CaseId { family, seed } = id;
    format!("cargo xtask search attack --family {} --seeds {seed}:{}", family.name(), seed + 1)
}

/// Returns the steps of the cases, a line each, as far as they fit.
pub(crate) fn printed(options: &AttackOptions) -> Vec<String> {
    const SHOWN_CHARS: usize = 600;
    let ids = (options.seeds.0..options.seeds.1)
        .flat_map(|seed| options.families().iter().map(move |family| CaseId { family: *family, seed }));
    let lines = ids.flat_map(|id| {
        let steps = id.case().steps.into_iter();
        steps.map(move |step| format!("{id}: {step}").chars().take(SHOWN_CHARS).collect())
    });
    lines.collect()
}

/// The directory for the files of the attacked server, with a name that only this process uses: it is removed before a
/// start.
pub(crate) fn server_directory() -> PathBuf {
    std::env::temp_dir().join(format!("gantry-attack-{}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(waited: u64, machine: u64, outcome: Result<u16, String>) -> Sample {
        let (waited, machine) = (Duration::from_millis(waited), Duration::from_millis(machine));
        let server = Duration::from_millis(30);
        Sample { request: "GET /a".to_owned(), started: Instant::now(), waited, machine, server, outcome }
    }

    #[test]
    fn the_probe_may_wait_a_second_and_longer_only_for_the_machine() {
        assert_eq!(finding_in(&sample(900, 0, Ok(200))), None);
        assert_eq!(finding_in(&sample(1900, 1000, Ok(200))), None);
        let found = finding_in(&sample(1900, 100, Ok(200))).unwrap();
        let expected = "the probe waited 1900 ms for GET /a, of which the machine took 100 ms; the server used 30 ms of processors";
        assert_eq!(found, expected);
    }

    /// The figures of a long run include the cases to replay, even if nothing was found.
    #[test]
    fn the_worst_value_is_recorded_with_its_cases() {
        let cases = |seed| move || vec![CaseId { family: crate::families::Family::Yaml, seed }];
        let mut peak = Worst::default();
        for (value, seed) in [(5, 1), (9, 2), (9, 3), (7, 4)] {
            peak.note(value, cases(seed));
        }
        assert_eq!((peak.value, peak.during()), (9, " (during yaml 2)".to_owned()));
        assert_eq!(Worst::<u64>::default().during(), "");
    }

    #[test]
    fn a_refused_or_unanswered_probe_is_a_finding() {
        assert!(finding_in(&sample(1, 0, Ok(429))).is_some());
        assert!(finding_in(&sample(1, 0, Err("closed".to_owned()))).is_some());
    }
}
