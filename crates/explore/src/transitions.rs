//! The transitions of a state: one step of a controller, a kubelet, the garbage collector, a watch, a user, or a fault.

use std::fmt;

use gantry_decide::deployment::{Action, Observed, decide};
use gantry_model::{Deployment, Name, Phase, Pod, Readiness, ReplicaSet, Replicas, Template, keys};

use crate::drafts;
use crate::objects::Watched;
use crate::set_sync::{SyncPhase, ready_pod};
use crate::small_world::{SmallWorld, StartingPoint, UserAction};
use crate::state::{State, WriteFault};

/// The duration of a tick of the clock.
const TICK_SECONDS: i64 = 10;
/// Longer than the timeout of expectations.
const TIMEOUT_SECONDS: i64 = 301;
/// More steps than any small rollout takes.
const ROLLOUT_STEPS_MAX: usize = 10_000;

/// A transition from one state to the next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Transition {
    BeginDeploymentSync,
    DeploymentStep(WriteFault),
    BeginSetSync { set: Name, reversed: bool },
    SetStep(Name, WriteFault),
    Deliver(Watched),
    CatchUp,
    PodReady(Name),
    PodGone(Name),
    Collect(Name),
    Tick,
    Crash,
    Delay(Watched),
    PodFails(Name),
    PodUnready(Name),
    Timeout,
    User(usize),
}

/// The transitions of a state: those that happen without users and faults, and those of users and faults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Enabled {
    pub(crate) by_itself: Vec<Transition>,
    pub(crate) imposed: Vec<Transition>,
}

impl State {
    /// The first state of an exploration.
    pub(crate) fn first(world: &SmallWorld) -> Self {
        let mut state = Self::empty(world);
        state.put_deployment(drafts::deployment(world));
        state.deliver_all();
        if world.start == StartingPoint::RolledOut {
            state.run_to_rest(world);
        }
        state
    }

    /// Follows the first transition that needs no fault and no user until there is none.
    fn run_to_rest(&mut self, world: &SmallWorld) {
        for _ in 0..ROLLOUT_STEPS_MAX {
            let Some(next) = self.enabled(world).by_itself.into_iter().next() else { return };
            *self = self.after(world, &next);
        }
    }

    /// All transitions of this state.
    pub(crate) fn enabled(&self, world: &SmallWorld) -> Enabled {
        let mut enabled = Enabled::default();
        self.watches(&mut enabled, world);
        self.controllers(&mut enabled);
        self.pods(&mut enabled, world);
        if world.is_timed && (self.deployment_timer.is_some() || !self.set_timers.is_empty()) {
            enabled.by_itself.push(Transition::Tick);
        }
        self.users(&mut enabled, world);
        if self.budget.crashes > 0 {
            enabled.imposed.push(Transition::Crash);
        }
        if self.budget.timeouts > 0 {
            enabled.imposed.push(Transition::Timeout);
        }
        enabled
    }

    fn watches(&self, enabled: &mut Enabled, world: &SmallWorld) {
        if self.delayed.is_some() {
            enabled.by_itself.push(Transition::CatchUp);
        } else if self.budget.delays > 0 {
            enabled.imposed.extend(Watched::ALL.map(Transition::Delay));
        }
        if world.slow_watches {
            let waiting =
                |kind: &Watched| Some(*kind) != self.delayed && !self.undelivered[kind.index()].is_empty();
            enabled.by_itself.extend(Watched::ALL.into_iter().filter(waiting).map(Transition::Deliver));
        }
    }

    fn controllers(&self, enabled: &mut Enabled) {
        if self.deployment_sync.is_some() {
            enabled.by_itself.push(Transition::DeploymentStep(WriteFault::None));
            self.faults(enabled, &Transition::DeploymentStep);
        } else if self.deployment_queued {
            enabled.by_itself.push(Transition::BeginDeploymentSync);
        }
        for set in self.set_syncs.keys() {
            enabled.by_itself.push(Transition::SetStep(set.clone(), WriteFault::None));
            self.faults(enabled, &|fault| Transition::SetStep(set.clone(), fault));
        }
        for set in self.sets_queued.iter().filter(|set| !self.set_syncs.contains_key(*set)) {
            enabled.by_itself.push(Transition::BeginSetSync { set: set.clone(), reversed: false });
            if self.is_choice(set) {
                enabled.by_itself.push(Transition::BeginSetSync { set: set.clone(), reversed: true });
            }
        }
    }

    /// Whether a sync of the set would choose between pods.
    fn is_choice(&self, set: &Name) -> bool {
        self.cache.sets.get(set).is_some_and(|set| {
            let active = self.cache.pods_of(set).filter(|pod| pod.is_active()).count();
            gantry_decide::replica_set::is_choice_needed(set, active)
        })
    }

    fn faults(&self, enabled: &mut Enabled, step: &dyn Fn(WriteFault) -> Transition) {
        if self.budget.refusals > 0 {
            enabled.imposed.push(step(WriteFault::Refused));
        }
        if self.budget.lost_responses > 0 {
            enabled.imposed.push(step(WriteFault::ResponseLost));
        }
    }

    fn pods(&self, enabled: &mut Enabled, world: &SmallWorld) {
        let broken = world.broken.map(|broken| &world.templates[usize::from(broken)]);
        for (name, pod) in &self.server.pods {
            let owner = pod
                .meta
                .controller()
                .and_then(|owner| self.server.sets.get(&owner.name).filter(|set| set.meta.uid == owner.uid));
            if pod.meta.is_deleting() {
                enabled.by_itself.push(Transition::PodGone(name.clone()));
                continue;
            }
            let Some(owner) = owner else {
                enabled.by_itself.push(Transition::Collect(name.clone()));
                continue;
            };
            if !pod.is_active() {
                continue;
            }
            if !pod.is_ready() && Some(&owner.template) != broken {
                enabled.by_itself.push(Transition::PodReady(name.clone()));
            }
            if self.budget.failures > 0 {
                enabled.imposed.push(Transition::PodFails(name.clone()));
            }
            if self.budget.unready > 0 && pod.is_ready() {
                enabled.imposed.push(Transition::PodUnready(name.clone()));
            }
        }
    }

    fn users(&self, enabled: &mut Enabled, world: &SmallWorld) {
        let Some(web) = &self.server.deployment else { return };
        for (index, action) in world.actions.iter().enumerate() {
            let makes_sense = match action {
                UserAction::SetTemplate(version) => world.templates[usize::from(*version)] != web.template,
                UserAction::Scale(replicas) => web.replicas != Replicas::from(*replicas),
                UserAction::Pause => !web.paused,
                UserAction::Resume => web.paused,
                UserAction::Undo => self.previous_template().is_some(),
                UserAction::SetStrategy(strategy) => *strategy != web.strategy,
                UserAction::SetMinReady(seconds) => *seconds != web.min_ready_seconds,
                UserAction::RequestRollback(_) => true,
            };
            if self.actions & (1 << index) != 0 && makes_sense {
                enabled.imposed.push(Transition::User(index));
            }
        }
    }

    /// The template of the last but one revision.
    fn previous_template(&self) -> Option<Template> {
        let revision =
            |set: &ReplicaSet| -> Option<i64> { set.meta.annotations.get(keys::REVISION)?.parse().ok() };
        let mut sets: Vec<_> = self
            .server
            .owned_sets()
            .filter_map(|set| Some((revision(set)?, set.template.without_hash())))
            .collect();
        sets.sort_by_key(|(revision, _)| *revision);
        sets.pop()?;
        sets.pop().map(|(_, template)| template)
    }

    /// The state after a transition.
    pub(crate) fn after(&self, world: &SmallWorld, transition: &Transition) -> Self {
        let mut next = self.clone();
        next.go(world, transition);
        if !world.slow_watches {
            next.deliver_all();
        }
        if !world.is_timed {
            next.skip_idle_syncs(world);
        }
        next
    }

    /// Carries out all syncs at once that find nothing to do.
    ///
    /// Such a sync changes nothing but its place in the queue, and every change that would give it something to do
    /// queues it again: whether it is carried out before or after other transitions makes no difference.
    fn skip_idle_syncs(&mut self, world: &SmallWorld) {
        let idle = |next: &Self, queued: bool| !queued && next.violation.is_none();
        for set in self.sets_queued.clone() {
            if self.set_syncs.contains_key(&set) {
                continue;
            }
            let mut next = self.clone();
            next.begin_set_sync(world, &set, false);
            if idle(&next, next.sets_queued.contains(&set) || next.set_syncs.contains_key(&set)) {
                *self = next;
            }
        }
        if self.deployment_queued && self.deployment_sync.is_none() {
            let mut next = self.clone();
            next.begin_deployment_sync(world);
            if idle(&next, next.deployment_queued || next.deployment_sync.is_some()) {
                *self = next;
            }
        }
    }

    fn go(&mut self, world: &SmallWorld, transition: &Transition) {
        match transition {
            Transition::BeginDeploymentSync => self.begin_deployment_sync(world),
            Transition::DeploymentStep(fault) => {
                self.spend(*fault);
                self.deployment_step(world, *fault);
            }
            Transition::BeginSetSync { set, reversed } => self.begin_set_sync(world, set, *reversed),
            Transition::SetStep(set, fault) => {
                self.spend(*fault);
                self.set_step(world, set, *fault);
            }
            Transition::Deliver(kind) => self.deliver(*kind),
            Transition::CatchUp => {
                self.delayed = None;
                self.deliver_all();
            }
            Transition::PodReady(pod) => self.change_pod(pod, |pod, seconds| *pod = ready_pod(pod, seconds)),
            Transition::PodGone(pod) => self.remove_pod(pod),
            Transition::Collect(pod) => {
                let _ = self.delete_pod(pod);
            }
            Transition::Tick => {
                self.seconds += TICK_SECONDS;
                self.steady_seconds += TICK_SECONDS;
                self.fire_timers();
            }
            Transition::Crash => {
                self.budget.crashes -= 1;
                self.restart_controllers();
            }
            Transition::Delay(kind) => {
                self.budget.delays -= 1;
                self.delayed = Some(*kind);
            }
            Transition::PodFails(pod) => {
                self.budget.failures -= 1;
                self.change_pod(pod, |pod, _| {
                    (pod.phase, pod.readiness) = (Phase::Failed, Readiness::NotReady);
                });
            }
            Transition::PodUnready(pod) => {
                self.budget.unready -= 1;
                self.change_pod(pod, |pod, _| pod.readiness = Readiness::NotReady);
            }
            Transition::Timeout => {
                self.budget.timeouts -= 1;
                self.steady_seconds += TIMEOUT_SECONDS;
                // Everything is resynced periodically, and certainly within this time.
                self.sets_queued = self.cache.sets.keys().cloned().collect();
            }
            Transition::User(index) => {
                self.actions &= !(1 << index);
                self.act(world, &world.actions[*index]);
            }
        }
    }

    fn spend(&mut self, fault: WriteFault) {
        match fault {
            WriteFault::None => {}
            WriteFault::Refused => self.budget.refusals -= 1,
            WriteFault::ResponseLost => self.budget.lost_responses -= 1,
        }
    }

    fn change_pod(&mut self, name: &Name, change: impl FnOnce(&mut Pod, i64)) {
        let Some(pod) = self.server.pods.get(name) else { return };
        let mut pod = Pod::clone(pod);
        change(&mut pod, self.seconds);
        self.put_pod(pod);
    }

    fn act(&mut self, world: &SmallWorld, action: &UserAction) {
        let Some(current) = self.server.deployment.clone() else { return };
        let mut web = Deployment::clone(&current);
        match action {
            UserAction::SetTemplate(version) => {
                web.template = world.templates[usize::from(*version)].clone();
            }
            UserAction::Scale(replicas) => web.replicas = Replicas::from(*replicas),
            UserAction::Pause => web.paused = true,
            UserAction::Resume => web.paused = false,
            UserAction::Undo => {
                web.template = self.previous_template().unwrap_or_else(|| web.template.clone());
            }
            UserAction::RequestRollback(revision) => {
                web.meta.annotations.insert(keys::ROLLBACK_TO.to_owned(), revision.to_string());
            }
            UserAction::SetStrategy(strategy) => web.strategy = strategy.clone(),
            UserAction::SetMinReady(seconds) => web.min_ready_seconds = *seconds,
        }
        self.requested_replicas = web.replicas;
        if web != *current {
            web.meta.generation += 1;
            self.put_deployment(web);
        }
    }

    /// The remaining work of a sync although nothing is queued; `None` in a settled state.
    pub(crate) fn unfinished(&self, world: &SmallWorld) -> Option<String> {
        let web = self.server.deployment.as_ref()?;
        let sets: Vec<&ReplicaSet> = self.server.owned_sets().map(|set| &**set).collect();
        let pods: Vec<&Pod> = self.server.pods.values().map(|pod| &**pod).collect();
        let observed =
            Observed { deployment: web, sets: &sets, pods: &pods, refused: None, repairs: world.repairs };
        let decision = decide(self.now(), &observed);
        let step = decision.steps.iter().find(|step| !matches!(step.action, Action::Emit(_)));
        if let Some(step) = step {
            return Some(format!("an action remains in a settled state: {}", step.action));
        }
        sets.into_iter().find_map(|set| self.unfinished_set(set))
    }
}

/// One line that describes a transition.
pub(crate) fn describe(before: &State, transition: &Transition, after: &State, world: &SmallWorld) -> String {
    let words = match transition {
        Transition::BeginDeploymentSync => match &after.deployment_sync {
            Some(sync) => format!("Deployment controller: decides on {} steps", sync.steps.len()),
            None => "Deployment controller: decides that there is nothing to do".to_owned(),
        },
        Transition::DeploymentStep(fault) => {
            let step = before.deployment_sync.as_ref().and_then(|sync| sync.steps.first());
            let action = step.map_or_else(String::new, |step| step.action.to_string());
            format!("Deployment controller: {action}{}", outcome(before, after, *fault))
        }
        Transition::BeginSetSync { set, reversed } => {
            let which = if *reversed { ", choosing the others among equal pods" } else { "" };
            let what = after.set_syncs.get(set).map_or_else(|| "nothing to do".to_owned(), phase);
            format!("ReplicaSet controller: {set}: {what}{which}")
        }
        Transition::SetStep(set, fault) => {
            let what = before.set_syncs.get(set).map(phase).unwrap_or_default();
            format!("ReplicaSet controller: {set}: {what}{}", outcome(before, after, *fault))
        }
        Transition::Deliver(kind) => format!("watch: delivers a change of {}", kind.as_str()),
        Transition::CatchUp => "watch: catches up".to_owned(),
        Transition::PodReady(pod) => format!("kubelet: {pod} is ready"),
        Transition::PodGone(pod) => format!("kubelet: {pod} is gone"),
        Transition::Collect(pod) => format!("garbage collector: deletes {pod}"),
        Transition::Tick => format!("{TICK_SECONDS} seconds pass"),
        Transition::Crash => "FAULT: the controllers' process restarts".to_owned(),
        Transition::Delay(kind) => format!("FAULT: the watch of {} is delayed", kind.as_str()),
        Transition::PodFails(pod) => format!("FAULT: {pod} fails"),
        Transition::PodUnready(pod) => format!("FAULT: {pod} stops being ready"),
        Transition::Timeout => "five minutes pass".to_owned(),
        Transition::User(index) => format!("user: {}", world.actions[*index]),
    };
    format!("{words:<100} | {after}")
}

fn phase(sync: &crate::set_sync::SetSync) -> String {
    match &sync.phase {
        SyncPhase::Deciding => String::new(),
        SyncPhase::Creating { .. } => "create a pod".to_owned(),
        SyncPhase::Deleting { remaining, .. } => {
            remaining.first().map_or_else(String::new, |pod| format!("delete {}", pod.name))
        }
        SyncPhase::Reporting { report, .. } => match &report.status {
            gantry_decide::replica_set::StatusWrite::Put(status) => {
                format!(
                    "report {} pods, {} ready, {} available",
                    status.replicas, status.ready, status.available
                )
            }
            gantry_decide::replica_set::StatusWrite::Unchanged => "nothing to report".to_owned(),
        },
    }
}

fn outcome(before: &State, after: &State, fault: WriteFault) -> &'static str {
    match fault {
        WriteFault::Refused => ": FAULT: refused",
        WriteFault::ResponseLost => ": FAULT: the response is lost",
        WriteFault::None if before.version == after.version => ": no change, or a conflict",
        WriteFault::None => "",
    }
}

/// The sizes and pods on the server, and the number of changes that the caches lack.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = self.server.deployment.as_ref().map_or(0, |web| web.replicas.get());
        write!(f, "N={wanted}")?;
        for set in self.server.sets.values() {
            let pods: Vec<_> = self.server.pods_of(set).collect();
            let active = pods.iter().filter(|pod| pod.is_active()).count();
            let ready = pods.iter().filter(|pod| pod.is_active() && pod.is_ready()).count();
            let sized_for = set.meta.annotations.get(keys::DESIRED_REPLICAS).map_or("?", String::as_str);
            write!(
                f,
                " {}: size {} (for {sized_for}), {active} pods, {ready} ready;",
                set.meta.name, set.replicas
            )?;
        }
        let behind: usize = self.undelivered.iter().map(Vec::len).sum();
        if behind > 0 { write!(f, " {behind} changes undelivered") } else { Ok(()) }
    }
}
