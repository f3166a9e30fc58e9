//! Plays a scenario, and checks every write.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_check::{Finding, Judge, ObservedWrite, PodRequest, Writer};
use gantry_cluster::{Omissions, Profile, ServiceAccounts};
use gantry_controllers::Repairs;
use gantry_json::{Value, json};

use super::journal::Journal;
use super::{SimScenario, SimStep};
use crate::{
    Commit, Component, ControllerProcesses, Faults, RequestInfo, SimCluster, SimObserver, SimOptions,
    SimScope, simulate,
};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const PODS: &str = "/api/v1/namespaces/default/pods";
const NODES: &str = "/api/v1/nodes";

/// How pods behave, by their image.
const PROFILE: &str = "
default: {pull-seconds: 0.1..2, start-seconds: 0.1..3, terminate-seconds: 0..5}
images:
  - {pattern: '*:slow', ready-seconds: 10..90}
  - {pattern: '*:never', ready: never}
  - {pattern: '*:crash', crash-after: 1..60}
  - {pattern: '*:flap', flap-seconds: 10..90}
";

/// How long a cluster without faults may take to converge.
const CONVERGE_MAX: Duration = Duration::from_mins(60);
/// How long nothing may be written until a cluster counts as settled.
const QUIET: Duration = Duration::from_mins(2);

/// How long a cluster without faults waits before it checks deadlines: longer than it takes until another replica
/// leads.
const CALM: Duration = Duration::from_secs(150);
/// How late a missed deadline may be reported.
const REPORT_MAX: Duration = Duration::from_secs(60);

/// The result of a scenario.
#[derive(Clone, Debug)]
pub struct Played {
    /// The first broken rule, and when.
    pub violation: Option<(Duration, Finding)>,
    /// The simulated time.
    pub simulated: Duration,
    /// The number of writes of the server.
    pub writes: u64,
    /// The writes, one line each, if they were requested.
    pub journal: String,
}

/// A running scenario for its judge: what was written, and the first broken rule.
struct JudgedRun {
    judge: Judge,
    violation: Option<(Duration, Finding)>,
    last_writes: Vec<String>,
    journal: Option<Journal>,
}

#[derive(Clone)]
struct SharedJudgedRun(Arc<Mutex<JudgedRun>>);

/// Plays a scenario to its end, or until a rule is broken.
pub fn play(scenario: &SimScenario) -> Played {
    run(scenario, false)
}

/// Plays a scenario and records all writes.
pub fn play_with_journal(scenario: &SimScenario) -> Played {
    run(scenario, true)
}

fn run(scenario: &SimScenario, has_journal: bool) -> Played {
    let options = SimOptions {
        // Kubernetes' own defects would break the rules.
        repairs: Repairs::ALL,
        seed: scenario.seed,
        nodes: scenario.nodes,
        profile: Profile::read(PROFILE).expect("the profile of scenarios is valid"),
        controllers: ControllerProcesses::Separate(scenario.replicas),
        scope: scenario.scope,
        resolution: scenario.resolution,
        // Heartbeats would be a large part of all requests. A node counts as lost after 50 seconds.
        renew_every: Duration::from_secs(24),
        ..cluster_options(scenario.scope)
    };
    let start = options.start;
    simulate(options, async |cluster| {
        let judge = Judge::new(scenario.faults.staleness());
        let journal = has_journal.then(Journal::default);
        let judged_run = JudgedRun { judge, violation: None, last_writes: Vec::new(), journal };
        let judged_run = SharedJudgedRun(Arc::new(Mutex::new(judged_run)));
        cluster.observe(Box::new(judged_run.clone()));
        let mut player = Player { scenario, judged_run: judged_run.clone(), due: BTreeMap::new() };
        player.play(cluster).await;
        let judged_run = judged_run.lock();
        Played {
            violation: judged_run.violation.clone(),
            simulated: cluster.now().since(start),
            writes: cluster.writes(),
            journal: judged_run.journal.as_ref().map(Journal::text).unwrap_or_default(),
        }
    })
}

/// The options for a scenario of this scope: without the events, owners of fields, tokens and passing statuses that no
/// rule is about, a scenario takes half the time.
fn cluster_options(scope: SimScope) -> SimOptions {
    match scope {
        SimScope::Everything => SimOptions::default(),
        SimScope::Workloads => SimOptions {
            omissions: Omissions { normal_events: true, managed_fields: true, passing_statuses: true },
            service_accounts: ServiceAccounts::Ignored,
            ..SimOptions::default()
        },
    }
}

/// A later consequence of a step.
#[derive(Clone, Debug)]
enum Due {
    Step(SimStep),
    StartControllers(usize),
    RecoverNode(usize),
}

struct Player<'a> {
    scenario: &'a SimScenario,
    judged_run: SharedJudgedRun,
    due: BTreeMap<(Duration, usize), Due>,
}

impl Player<'_> {
    async fn play(&mut self, cluster: &mut SimCluster) {
        let began = cluster.now();
        for (index, timed) in self.scenario.steps.iter().enumerate() {
            self.due.insert((timed.at, index), Due::Step(timed.step.clone()));
        }
        cluster.set_faults(self.scenario.faults.clone());
        while let Some(((at, _), due)) = self.due.pop_first() {
            if at >= self.scenario.duration {
                self.due.insert((at, usize::MAX), due);
                break;
            }
            cluster.advance(at.saturating_sub(cluster.now().since(began))).await;
            if self.is_over() {
                return;
            }
            self.carry_out(cluster, due, at).await;
        }
        cluster.advance(self.scenario.duration.saturating_sub(cluster.now().since(began))).await;
        cluster.set_faults(Faults::default());
        for due in std::mem::take(&mut self.due).into_values() {
            if !matches!(due, Due::Step(_)) {
                self.carry_out(cluster, due, Duration::ZERO).await;
            }
        }
        if self.scenario.deadline_seconds.is_some() {
            self.judge_deadlines(cluster).await;
        }
        if self.is_over() {
            return;
        }
        self.converge(cluster).await;
    }

    /// Waits for a while in which only pods may fail, and finds rollouts whose missed deadlines were not reported.
    async fn judge_deadlines(&self, cluster: &SimCluster) {
        cluster.advance(CALM).await;
        let overdue = self.judged_run.lock().judge.overdue(cluster.elapsed(), REPORT_MAX);
        if let Some(finding) = overdue.into_iter().next() {
            self.violated(finding);
        }
    }

    fn is_over(&self) -> bool {
        self.judged_run.lock().violation.is_some()
    }

    /// Repairs what users broke: healthy images, nothing paused, no orphans.
    async fn heal(&self, cluster: &SimCluster) {
        let deployments = cluster.get(DEPLOYMENTS).await;
        for deployment in deployments["items"].as_array().into_iter().flatten() {
            let name = deployment["metadata"]["name"].as_str().unwrap_or_default();
            let image =
                deployment["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap_or_default();
            let is_healthy = ["app:1", "app:2", "app:3", "app:slow"].contains(&image);
            let image = if is_healthy { image } else { "app:1" };
            let annotations = json!({"deprecated.deployment.rollback.to": null});
            let spec = json!({"paused": false, "template": template(name, image)});
            let patch = json!({"metadata": {"annotations": annotations}, "spec": spec});
            cluster.try_send("PATCH", &format!("{DEPLOYMENTS}/{name}"), &patch).await;
        }
        let sets = cluster.get(SETS).await;
        for set in sets["items"].as_array().into_iter().flatten() {
            let name = set["metadata"]["name"].as_str().unwrap_or_default();
            if set["metadata"]["ownerReferences"].is_null() {
                cluster.try_send("DELETE", &format!("{SETS}/{name}"), &Value::Null).await;
            }
        }
    }

    /// Repairs what users broke, waits until everything is as requested, and then checks that nothing more is written.
    async fn converge(&mut self, cluster: &SimCluster) {
        let began = cluster.now();
        let findings = loop {
            // Repeated in each round: objects that were being deleted while the controllers were down are orphaned
            // later.
            self.heal(cluster).await;
            let before = cluster.writes();
            cluster.advance(QUIET).await;
            if self.is_over() {
                return;
            }
            let findings = self.judged_run.lock().judge.settled();
            let is_quiet = cluster.writes() == before;
            if findings.is_empty() && is_quiet || cluster.now().since(began) > CONVERGE_MAX {
                break findings;
            }
        };
        if let Some(finding) = findings.into_iter().next() {
            self.violated(finding);
            return;
        }
        let before = cluster.writes();
        self.judged_run.lock().last_writes.clear();
        cluster.advance(self.scenario.rest.saturating_sub(QUIET)).await;
        if cluster.writes() > before {
            let written = self.judged_run.lock().last_writes.join(", ");
            self.violated(Finding {
                broken: "nothing is written when everything is as requested",
                found: written,
            });
        }
    }

    fn violated(&self, finding: Finding) {
        let mut judged_run = self.judged_run.lock();
        let at = judged_run.judge.now();
        judged_run.violation.get_or_insert((at, finding));
    }

    async fn carry_out(&mut self, cluster: &mut SimCluster, due: Due, at: Duration) {
        match due {
            Due::StartControllers(replica) => {
                if !cluster.are_controllers_running(replica) {
                    cluster.start_controllers(replica);
                }
            }
            Due::RecoverNode(node) => fail_node(cluster, node, &Value::Null).await,
            Due::Step(SimStep::Crash(replica, down)) => {
                cluster.kill_controllers(replica).await;
                self.later(at + down, Due::StartControllers(replica));
            }
            Due::Step(SimStep::Restart(replica, down)) => {
                cluster.stop_controllers(replica).await;
                self.later(at + down, Due::StartControllers(replica));
            }
            Due::Step(SimStep::FailNode(node, down)) => {
                fail_node(cluster, node, &json!("true")).await;
                self.later(at + down, Due::RecoverNode(node));
            }
            Due::Step(SimStep::Create(name, replicas)) => {
                create(cluster, name, replicas, self.scenario.deadline_seconds).await;
            }
            Due::Step(step) => act(cluster, &step).await,
        }
    }

    fn later(&mut self, at: Duration, due: Due) {
        let place = self.scenario.steps.len() + self.due.len();
        self.due.insert((at, place), due);
    }
}

async fn fail_node(cluster: &SimCluster, node: usize, value: &Value) {
    let patch = json!({"metadata": {"annotations": {"sim.gantry.dev/fail": value}}});
    cluster.try_send("PATCH", &format!("{NODES}/node-{node}"), &patch).await;
}

async fn create(cluster: &SimCluster, name: &str, replicas: u32, deadline_seconds: Option<u32>) {
    let mut deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template(name, "app:1")},
    });
    if let Some(seconds) = deadline_seconds {
        deployment["spec"]["progressDeadlineSeconds"] = json!(seconds);
    }
    cluster.try_send("POST", DEPLOYMENTS, &deployment).await;
}

/// Carries out a step of a user. One that is not possible now, such as scaling a missing object, is skipped.
async fn act(cluster: &SimCluster, step: &SimStep) {
    let patch = async |name: &str, patch: Value| {
        cluster.try_send("PATCH", &format!("{DEPLOYMENTS}/{name}"), &patch).await;
    };
    match step {
        SimStep::Scale(name, replicas) => patch(name, json!({"spec": {"replicas": replicas}})).await,
        SimStep::Image(name, image) => {
            patch(name, json!({"spec": {"template": template(name, image)}})).await;
        }
        SimStep::Limits(name, surge, unavailable) => {
            let rolling = json!({"maxSurge": limit(surge), "maxUnavailable": limit(unavailable)});
            patch(name, json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}}))
                .await;
        }
        SimStep::Recreate(name) => {
            patch(name, json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}})).await;
        }
        SimStep::Set(name, field, value) => {
            let mut change = json!({"spec": {}});
            change["spec"][*field] = json!(value);
            patch(name, change).await;
        }
        SimStep::Pause(name, paused) => patch(name, json!({"spec": {"paused": paused}})).await,
        SimStep::Undo(name) => undo(cluster, name).await,
        SimStep::Rollback(name, revision) => {
            let annotation = json!({"deprecated.deployment.rollback.to": revision.to_string()});
            patch(name, json!({"metadata": {"annotations": annotation}})).await;
        }
        SimStep::Delete(name, policy) => {
            let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy});
            cluster.try_send("DELETE", &format!("{DEPLOYMENTS}/{name}"), &options).await;
        }
        SimStep::DeletePod(number) => {
            let list = cluster.get(PODS).await;
            let pods = list["items"].as_array().cloned().unwrap_or_default();
            let pod = pods.get(usize::try_from(*number).unwrap_or(0) % pods.len().max(1));
            if let Some(name) = pod.and_then(|pod| pod["metadata"]["name"].as_str()) {
                cluster.try_send("DELETE", &format!("{PODS}/{name}"), &Value::Null).await;
            }
        }
        SimStep::Create(..) | SimStep::Crash(..) | SimStep::Restart(..) | SimStep::FailNode(..) => {}
    }
}

/// Restores the template of the revision before the last.
async fn undo(cluster: &SimCluster, name: &str) {
    let list = cluster.get(SETS).await;
    let sets = list["items"].as_array().cloned().unwrap_or_default();
    let revision = |set: &Value| {
        let written = set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].as_str();
        written.and_then(|written| written.parse::<u64>().ok()).unwrap_or(0)
    };
    let mut own: Vec<_> = sets.iter().filter(|set| set["metadata"]["labels"]["app"] == name).collect();
    own.sort_by_key(|set| std::cmp::Reverse(revision(set)));
    let Some(image) =
        own.get(1).and_then(|set| set["spec"]["template"]["spec"]["containers"][0]["image"].as_str())
    else {
        return;
    };
    let patch = json!({"spec": {"template": template(name, image)}});
    cluster.try_send("PATCH", &format!("{DEPLOYMENTS}/{name}"), &patch).await;
}

fn template(name: &str, image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "c", "image": image}], "terminationGracePeriodSeconds": 10},
    })
}

fn limit(text: &str) -> Value {
    text.parse::<u32>().map_or_else(|_| json!(text), |number| json!(number))
}

impl SharedJudgedRun {
    fn lock(&self) -> MutexGuard<'_, JudgedRun> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SimObserver for SharedJudgedRun {
    fn committed(&mut self, commit: &Commit, at: Duration, request: RequestInfo) {
        let mut judged_run = self.lock();
        for write in &commit.writes {
            if judged_run.last_writes.len() < 5
                && !write.key.contains("/leases/")
                && !write.key.contains("/nodes/")
            {
                judged_run.last_writes.push(format!("{} by {}", write.key, request.component));
            }
            if !["/registry/deployments/", "/registry/replicasets/", "/registry/pods/"]
                .iter()
                .any(|prefix| write.key.starts_with(prefix))
            {
                continue;
            }
            let object = write.value.as_ref().and_then(|value| gantry_json::from_slice::<Value>(value).ok());
            if let Some(journal) = &mut judged_run.journal {
                journal.note(at, request.component, &write.key, object.as_ref());
            }
            let by = writer(request, object.is_none());
            let observed = ObservedWrite { at, by, key: &write.key, object: object.as_ref() };
            let finding = judged_run.judge.observe(observed).into_iter().next();
            if let Some(finding) = finding {
                judged_run.violation.get_or_insert((at, finding));
            }
        }
    }

    fn lost_response(&mut self, at: Duration, request: PodRequest) {
        self.lock().judge.lost_response(at, request);
    }
}

/// The writer, by the form of the request: the collector's deletions have a propagation policy, and it removes
/// finalizers by patches.
fn writer(request: RequestInfo, is_removal: bool) -> Writer {
    match request.component {
        Component::Controllers(_) if request.has_grace => Writer::Other,
        Component::Controllers(_) if request.has_propagation => Writer::GarbageCollector,
        Component::Controllers(_) if is_removal && !request.is_delete => Writer::GarbageCollector,
        Component::Controllers(_) => Writer::Controller,
        Component::User | Component::Scheduler | Component::Nodes | Component::Server => Writer::Other,
    }
}
