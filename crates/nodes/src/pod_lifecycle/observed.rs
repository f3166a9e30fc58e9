//! The state of a container as its runtime has reported it.

use gantry_model::Timestamp;

use super::actions::{
    ContainerExit, ContainerIdentity, ContainerProbe, PulledImage, StartFailure, StartedContainer,
};
use super::container_run::Phase;
use super::pod::{Container, Probe};
use super::probes::ProbeCounter;
use super::resize::{AmountsChange, ObservedAmounts};

/// The reports of a container runtime about a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Observed {
    /// Whether its image is on the node, if that was inspected for the next start.
    pub(super) image_present: Option<bool>,
    /// The result of a pull, until it is handled.
    pub(super) pull: Option<Result<PulledImage, String>>,
    /// Why the last pull failed.
    pub(super) pull_error: String,
    /// The result of a start, until it is handled.
    pub(super) start: Option<Result<StartedContainer, StartFailure>>,
    /// Its exit, until that is handled.
    pub(super) exit: Option<ContainerExit>,
    /// The container that runs or ran last.
    pub(super) current: ObservedRun,
    /// The previous container.
    pub(super) previous: ObservedRun,
    /// The end of its grace period, if it is being stopped.
    pub(super) stop_deadline: Option<Timestamp>,
    /// Its resources.
    pub(super) amounts: ObservedAmounts,
    startup: ProbeCounter,
    readiness: ProbeCounter,
    liveness: ProbeCounter,
}

/// The fields that status reports of one run of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ObservedRun {
    pub(super) identity: ContainerIdentity,
    /// The runtime's reason of its exit.
    pub(super) reason: Option<String>,
    /// Its termination message.
    pub(super) message: Option<String>,
    /// The reason and message if it was created and could not be run: reported until its next start.
    pub(super) start_error: Option<(&'static str, String)>,
}

impl Observed {
    /// Returns when the step of this phase is done: at once if it was reported, and otherwise when the next probe runs.
    pub(super) fn due(&self, phase: &Phase, container: &Container) -> Option<Timestamp> {
        let is_reported = match phase {
            Phase::Inspecting => self.image_present.is_some(),
            Phase::Pulling { .. } => self.pull.is_some(),
            Phase::Starting { .. } => self.start.is_some(),
            Phase::Running { .. } => self.exit.is_some() || self.failed_probe(container).is_some(),
            Phase::Stopping { .. } => self.exit.is_some(),
            _ => false,
        };
        is_reported.then_some(Timestamp::EPOCH)
    }

    /// Returns the probe for which a running container is to be killed.
    pub(super) fn failed_probe(&self, container: &Container) -> Option<ContainerProbe> {
        let failed = |kind: &ContainerProbe| {
            container.probe(*kind).is_some() && self.counter(*kind).result() == Some(false)
        };
        [ContainerProbe::Startup, ContainerProbe::Liveness].into_iter().find(failed)
    }

    pub(super) fn is_started(&self, container: &Container) -> bool {
        container.startup.is_none() || self.startup.result() == Some(true)
    }

    pub(super) fn is_ready(&self, container: &Container) -> bool {
        self.is_started(container) && (container.readiness.is_none() || self.readiness.result() == Some(true))
    }

    /// Returns the probes that run now or later, each with its time. A container that is being stopped only has its
    /// readiness probed.
    pub(super) fn next_probes<'a>(
        &'a self,
        container: &'a Container,
        since: Timestamp,
        is_stopping: bool,
    ) -> impl Iterator<Item = (ContainerProbe, Timestamp)> + 'a {
        let is_started = self.is_started(container);
        let is_active = move |kind: &ContainerProbe| match kind {
            ContainerProbe::Startup => !is_started && !is_stopping,
            ContainerProbe::Readiness => is_started,
            ContainerProbe::Liveness => is_started && !is_stopping,
        };
        ContainerProbe::ALL.into_iter().filter(is_active).filter_map(move |kind| {
            let next = self.counter(kind).next(container.probe(kind)?, since)?;
            Some((kind, next))
        })
    }

    pub(super) fn counter(&self, kind: ContainerProbe) -> &ProbeCounter {
        match kind {
            ContainerProbe::Startup => &self.startup,
            ContainerProbe::Readiness => &self.readiness,
            ContainerProbe::Liveness => &self.liveness,
        }
    }

    pub(super) fn counter_mut(&mut self, kind: ContainerProbe) -> &mut ProbeCounter {
        match kind {
            ContainerProbe::Startup => &mut self.startup,
            ContainerProbe::Readiness => &mut self.readiness,
            ContainerProbe::Liveness => &mut self.liveness,
        }
    }

    /// Records that a new container was created.
    pub(super) fn begin_run(&mut self, identity: ContainerIdentity) {
        self.previous = std::mem::take(&mut self.current);
        self.current = ObservedRun { identity, ..ObservedRun::default() };
        self.stop_deadline = None;
        self.exit = None;
        self.amounts.change = AmountsChange::None;
        self.startup = ProbeCounter::default();
        self.readiness = ProbeCounter::default();
        self.liveness = ProbeCounter::default();
    }

    /// Continues with the reported results of the probes of a running container.
    pub(super) fn recover_probes(&mut self, is_started: bool, is_ready: bool) {
        if is_started {
            self.startup = ProbeCounter::recovered(true);
        }
        if is_ready {
            self.readiness = ProbeCounter::recovered(true);
        }
    }
}

impl Container {
    pub(super) fn probe(&self, kind: ContainerProbe) -> Option<&Probe> {
        match kind {
            ContainerProbe::Startup => self.startup.as_ref(),
            ContainerProbe::Readiness => self.readiness.as_ref(),
            ContainerProbe::Liveness => self.liveness.as_ref(),
        }
    }
}
