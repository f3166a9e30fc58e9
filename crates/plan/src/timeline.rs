//! The history of the ReplicaSets of a Deployment, as plain data.

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_decide::deployment::{Limits, revision_of};
use gantry_model::{Deployment, Name, ReplicaSet, Replicas, Template};

/// The reason of the condition that reports an exceeded progress deadline.
pub(crate) const DEADLINE_EXCEEDED: &str = "ProgressDeadlineExceeded";

/// The limits without a Deployment.
const NO_LIMITS: Limits = Limits { desired: 0, surge: 0, unavailable: 0 };

/// The history of one rollout. Times count from the change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// The ReplicaSets that had pods at any time, oldest first.
    pub sets: Vec<SetInfo>,
    /// The numbers at each time at which one of them changed, in order. The first one is the state before the change.
    pub samples: Vec<TimelineSample>,
    /// Changes of the Deployment's conditions, in order.
    pub conditions: Vec<ConditionChange>,
    /// Every change of a set's size, in order, also if there are several at one time.
    pub resizes: Vec<SizeChange>,
}

/// A change of `spec.replicas` of a ReplicaSet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeChange {
    /// The time since the change.
    pub at: Duration,
    /// The ReplicaSet.
    pub set: Name,
    /// Its size before; 0 if it is new.
    pub from: i64,
    /// Its size after.
    pub to: i64,
}

/// A ReplicaSet of the rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetInfo {
    /// Its name.
    pub name: Name,
    /// The images of its containers.
    pub images: Vec<String>,
    /// Its revision, if it has one.
    pub revision: Option<i64>,
    /// Whether it has the template that is rolled out.
    pub is_new: bool,
}

/// The numbers of all ReplicaSets at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineSample {
    /// The time since the change.
    pub at: Duration,
    /// The limits of the Deployment at that time.
    pub limits: Limits,
    /// The numbers of each set, in the order of [`Timeline::sets`].
    pub counts: Vec<Counts>,
}

/// The numbers of a ReplicaSet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// `spec.replicas`.
    pub size: i64,
    /// Its pods that are not terminating.
    pub pods: i64,
    /// Pods of these that are available.
    pub available: i64,
    /// Its terminating pods.
    pub terminating: i64,
}

/// A change of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionChange {
    /// The time since the change.
    pub at: Duration,
    /// Its type, such as `Progressing`.
    pub condition: String,
    /// Its status: `True`, `False` or `Unknown`.
    pub status: String,
    /// Its reason, such as `ProgressDeadlineExceeded`.
    pub reason: String,
    /// Its message.
    pub message: String,
}

/// Builds a [`Timeline`] from the objects as they change.
#[derive(Clone, Debug)]
pub struct Recorder {
    limits: Limits,
    template: Option<Template>,
    deadline: Option<Duration>,
    is_paused: bool,
    sets: BTreeMap<Name, ReplicaSet>,
    timeline: Timeline,
}

impl TimelineSample {
    /// All pods that are not terminating.
    pub fn pods(&self) -> i64 {
        self.counts.iter().map(|counts| counts.pods).sum()
    }

    /// All available pods.
    pub fn available(&self) -> i64 {
        self.counts.iter().map(|counts| counts.available).sum()
    }

    /// All terminating pods.
    pub fn terminating(&self) -> i64 {
        self.counts.iter().map(|counts| counts.terminating).sum()
    }
}

impl Recorder {
    /// Starts with the state before the change, in which there may be no Deployment.
    pub fn new(deployment: Option<&Deployment>, sets: impl IntoIterator<Item = ReplicaSet>) -> Self {
        let mut recorder = Self {
            limits: deployment.map_or(NO_LIMITS, Limits::of),
            template: deployment.map(|deployment| deployment.template.clone()),
            deadline: None,
            is_paused: false,
            sets: BTreeMap::new(),
            timeline: Timeline::default(),
        };
        let mut sets: Vec<_> = sets.into_iter().collect();
        sets.sort_by(|a, b| a.meta.age_order().cmp(&b.meta.age_order()));
        for set in sets {
            recorder.insert(set);
        }
        recorder.sample(Duration::ZERO);
        recorder
    }

    /// Records a change of the Deployment.
    pub fn deployment(&mut self, at: Duration, deployment: &Deployment) {
        self.limits = Limits::of(deployment);
        self.template = Some(deployment.template.clone());
        self.deadline = deadline(deployment);
        self.is_paused = deployment.paused;
        for condition in &deployment.status.conditions {
            let known = self.timeline.conditions.iter().rev();
            let last = known.into_iter().find(|change| change.condition == condition.condition_type.as_str());
            let is_same = last.is_some_and(|last| {
                last.status == condition.status.as_str() && last.reason == condition.reason
            });
            if !is_same {
                self.timeline.conditions.push(ConditionChange {
                    at,
                    condition: condition.condition_type.as_str().to_owned(),
                    status: condition.status.as_str().to_owned(),
                    reason: condition.reason.clone(),
                    message: condition.message.clone(),
                });
            }
        }
        self.sample(at);
    }

    /// Records a change of one of its ReplicaSets.
    pub fn set(&mut self, at: Duration, set: ReplicaSet) {
        let from = self.sets.get(&set.meta.name).map_or(0, |known| known.replicas.get());
        let to = set.replicas.get();
        if from != to {
            self.timeline.resizes.push(SizeChange { at, set: set.meta.name.clone(), from, to });
        }
        self.insert(set);
        self.sample(at);
    }

    /// Records that one of its ReplicaSets was deleted.
    pub fn set_deleted(&mut self, at: Duration, name: &Name) {
        self.sets.remove(name);
        self.sample(at);
    }

    /// Returns the recorded timeline, without the ReplicaSets that never had pods.
    pub fn finish(self) -> Timeline {
        self.timeline.without_empty_sets()
    }

    /// Whether all desired pods are available and no others remain.
    pub fn is_complete(&self) -> bool {
        self.last().is_some_and(|last| self.timeline.is_complete(last))
    }

    /// The time of the last change.
    pub fn last_change(&self) -> Duration {
        let condition = self.timeline.conditions.last().map(|change| change.at);
        condition.unwrap_or_default().max(self.timeline.end())
    }

    /// The last numbers.
    pub fn last(&self) -> Option<&TimelineSample> {
        self.timeline.samples.last()
    }

    /// The progress deadline, if there is one.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Whether the Deployment is paused.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Whether the Progressing condition reports an exceeded deadline.
    pub fn is_deadline_exceeded(&self) -> bool {
        let mut progressing =
            self.timeline.conditions.iter().filter(|change| change.condition == "Progressing");
        progressing.next_back().is_some_and(|change| change.reason == DEADLINE_EXCEEDED)
    }

    fn mark_new_set(&mut self) {
        for info in &mut self.timeline.sets {
            let set = self.sets.get(&info.name);
            info.is_new = set.is_some_and(|set| self.template.as_ref() == Some(&set.template));
        }
    }

    fn insert(&mut self, set: ReplicaSet) {
        let revision = revision_of(&set.meta.annotations);
        if let Some(known) = self.timeline.sets.iter_mut().find(|known| known.name == set.meta.name) {
            known.revision = revision;
        } else {
            self.timeline.sets.push(SetInfo {
                name: set.meta.name.clone(),
                images: set.template.images().map(str::to_owned).collect(),
                revision,
                is_new: false,
            });
        }
        self.sets.insert(set.meta.name.clone(), set);
    }

    /// Adds the present numbers, replacing those of the same time.
    fn sample(&mut self, at: Duration) {
        self.mark_new_set();
        let sets = self.timeline.sets.iter().map(|info| self.sets.get(&info.name));
        let counts = sets.map(|set| set.map(Counts::of).unwrap_or_default());
        let sample = TimelineSample { at, limits: self.limits, counts: counts.collect() };
        let samples = &mut self.timeline.samples;
        // The state before the change is kept, also if there are changes at the time of the change.
        if samples.len() > 1 && samples.last().is_some_and(|last| last.at == at) {
            samples.pop();
        }
        let is_new = samples
            .last()
            .is_none_or(|last| last.limits != sample.limits || !same_counts(&last.counts, &sample.counts));
        if is_new {
            samples.push(sample);
        }
    }
}

/// Whether the counts are the same, if sets that do not exist yet have none.
fn same_counts(before: &[Counts], after: &[Counts]) -> bool {
    let zero = Counts::default();
    (0..before.len().max(after.len()))
        .all(|index| before.get(index).unwrap_or(&zero) == after.get(index).unwrap_or(&zero))
}

impl Timeline {
    fn without_empty_sets(mut self) -> Self {
        for sample in &mut self.samples {
            sample.counts.resize(self.sets.len(), Counts::default());
        }
        let kept: Vec<_> = (0..self.sets.len())
            .filter(|index| {
                self.sets[*index].is_new
                    || self.samples.iter().any(|sample| sample.counts[*index] != Counts::default())
            })
            .collect();
        self.sets = kept.iter().map(|index| self.sets[*index].clone()).collect();
        for sample in &mut self.samples {
            sample.counts = kept.iter().map(|index| sample.counts[*index]).collect();
        }
        self
    }

    /// Whether all desired pods are available at this time and no others remain.
    pub(crate) fn is_complete(&self, sample: &TimelineSample) -> bool {
        let (mut available, mut others) = (0, 0);
        for (set, counts) in self.sets.iter().zip(&sample.counts) {
            if set.is_new && counts.size == sample.limits.desired {
                available = counts.available;
            } else {
                others += counts.size + counts.pods;
            }
        }
        available == sample.limits.desired && others == 0
    }

    /// The time of the last sample.
    pub fn end(&self) -> Duration {
        self.samples.last().map(|sample| sample.at).unwrap_or_default()
    }

    /// The largest number of pods at any time, terminating ones included, or the ceiling if that is larger.
    pub fn height(&self) -> i64 {
        let tallest =
            |sample: &TimelineSample| (sample.pods() + sample.terminating()).max(sample.limits.ceiling());
        self.samples.iter().map(tallest).max().unwrap_or(0)
    }
}

impl Counts {
    fn of(set: &ReplicaSet) -> Self {
        Self {
            size: set.replicas.get(),
            pods: set.status.replicas.get(),
            available: set.status.available.get(),
            terminating: set.status.terminating.map_or(0, Replicas::get),
        }
    }
}

/// The progress deadline of a Deployment, if it has one.
pub(crate) fn deadline(deployment: &Deployment) -> Option<Duration> {
    deployment
        .progress_deadline_seconds
        .map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}
