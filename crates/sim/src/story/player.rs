//! Plays commands on a world.

use std::time::Duration;

use gantry_decide::deployment::revision_of;
use gantry_model::{Deployment, Name, ObjectKey, Pod, ReplicaSet, Timestamp};

use super::command::{self, Command};
use super::names::Names;
use super::rendering;
use crate::cluster::{NewDeployment, PlainCluster, Propagation, WorkloadKind, template};
use crate::world::{Interleaving, World};

/// When stories begin: 2026-01-01T12:00:00Z.
const START: Timestamp = Timestamp::from_secs(1_767_268_800);

/// The most pods that `drain` makes ready.
const DRAIN_MAX: usize = 1000;

/// A world with short names for its objects.
#[derive(Clone, Debug)]
pub struct Player {
    /// The world.
    pub world: World,
    pub(super) names: Names,
    /// The Deployment that commands apply to: the last one created.
    pub(super) deployment_name: Option<String>,
}

impl Player {
    /// An empty world.
    pub fn new(interleaving: Interleaving) -> Self {
        Self { world: World::new(START, interleaving), names: Names::default(), deployment_name: None }
    }

    /// Plays one command and lets the world settle.
    pub fn play(&mut self, command: &Command) -> Result<(), String> {
        if matches!(command, Command::Drain) {
            for _ in 0..DRAIN_MAX {
                if self.unready(None).is_empty() {
                    return Ok(());
                }
                self.play(&Command::Ready(Some(1), None))?;
            }
            return Err(format!("drain: {DRAIN_MAX} pods were made ready and it does not end"));
        }
        self.act(command)?;
        self.settle();
        Ok(())
    }

    /// The steps since the last call, and the current state.
    pub fn record(&mut self) -> String {
        let trace = self.world.take_trace();
        rendering::render(self, &trace)
    }

    /// Pods that are neither ready nor terminating, in order; of one set or of all.
    pub fn unready(&self, set: Option<usize>) -> Vec<Name> {
        self.pods(set).filter(|pod| !pod.is_ready()).map(name_of).collect()
    }

    /// The sets that exist, in the order in which they first appeared.
    pub fn sets(&self) -> Vec<&ReplicaSet> {
        self.names.sets(&self.world.cluster)
    }

    /// Replaces the names of sets in a text by what `rename` returns for their index, counted from zero.
    pub fn shorten(&self, text: &str, rename: impl Fn(usize) -> String) -> String {
        self.names.shorten(text, rename)
    }

    /// Lets the world settle.
    pub fn settle(&mut self) {
        self.world.settle();
        self.names.add_new(&self.world.cluster);
    }

    /// Carries out a command; the controllers do the rest. `drain` is left to [`play`](Self::play).
    pub fn act(&mut self, command: &Command) -> Result<(), String> {
        match command {
            Command::CreateDeployment(draft) => self.create(draft)?,
            Command::CreateReplicaSet(draft) => {
                self.world.cluster.create_replica_set(draft.clone()).map_err(|refusal| refusal.message)?;
            }
            Command::Change(changes) => self.change(changes.iter().map(|(k, v)| (k.as_str(), v.as_str())))?,
            Command::Annotate(key, value) => self.edit(|deployment| {
                deployment.meta.annotations.insert(key.clone(), value.clone());
            })?,
            Command::Label(key, value) => {
                let deployment = self.deployment()?.meta.key();
                self.label(WorkloadKind::Deployment, &deployment, key, value);
            }
            Command::LabelTemplate(key, value) => self.label_template(key, value)?,
            Command::Undo(set) => self.undo(*set)?,
            Command::ScaleSet(set, size) => {
                let key = self.set(*set)?;
                self.world.cluster.update(&key, |set: &mut ReplicaSet| set.replicas = *size);
            }
            Command::LabelSet(set, key, value) => {
                self.label(WorkloadKind::ReplicaSet, &self.set(*set)?, key, value);
            }
            Command::LabelPod(pod, key, value) => self.label(WorkloadKind::Pod, &self.pod(*pod)?, key, value),
            Command::Cost(pod, cost) => {
                let key = self.pod(*pod)?;
                self.world.cluster.update(&key, |pod: &mut Pod| pod.deletion_cost = *cost);
            }
            Command::Delete(kind, name, propagation) => self.delete(*kind, name.as_deref(), *propagation)?,
            Command::Ready(n, set) => self.ready(*n, *set),
            Command::Unready(n, set) => {
                let ready: Vec<_> =
                    self.pods(*set).filter(|pod| pod.is_ready()).take(*n).map(name_of).collect();
                for pod in ready {
                    self.world.run_pod(&pod, false);
                }
            }
            Command::Fail(n) => {
                let first: Vec<_> = self.pods(None).take(*n).map(name_of).collect();
                for pod in first {
                    self.world.fail_pod(&pod);
                }
            }
            Command::Reaping(on) => self.world.reaping = *on,
            Command::Reap => {
                self.world.reap();
            }
            Command::Quota(quota) => self.world.cluster.pod_quota = *quota,
            Command::Wait(seconds) => self.world.pass(Duration::from_secs(*seconds)),
            Command::Drain => {}
        }
        Ok(())
    }

    fn create(&mut self, draft: &NewDeployment) -> Result<(), String> {
        self.deployment_name = Some(draft.name.clone());
        self.world.cluster.create_deployment(draft.clone()).map_err(|refusal| refusal.message)
    }

    fn ready(&mut self, n: Option<usize>, set: Option<usize>) {
        let Some(n) = n else {
            for pod in self.unready(set) {
                self.world.run_pod(&pod, true);
                self.world.work_now();
            }
            return;
        };
        for _ in 0..n {
            if let Some(pod) = self.unready(set).first() {
                self.world.run_pod(pod, true);
                self.settle();
            }
        }
    }

    fn change<'a>(&mut self, changes: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), String> {
        let deployment = self.deployment()?;
        let mut draft = NewDeployment {
            replicas: deployment.replicas,
            strategy: deployment.strategy.clone(),
            min_ready_seconds: deployment.min_ready_seconds,
            progress_deadline_seconds: deployment.progress_deadline_seconds,
            revision_history_limit: deployment.revision_history_limit,
            paused: deployment.paused,
            image: String::new(),
            annotations: deployment.meta.annotations.clone(),
            ..NewDeployment::new("")
        };
        for (key, value) in changes {
            command::apply(&mut draft, key, value)?;
        }
        let labels = deployment.template.labels().cloned().unwrap_or_default();
        self.edit(|deployment| {
            deployment.replicas = draft.replicas;
            deployment.strategy = draft.strategy;
            deployment.min_ready_seconds = draft.min_ready_seconds;
            deployment.progress_deadline_seconds = draft.progress_deadline_seconds;
            deployment.revision_history_limit = draft.revision_history_limit;
            deployment.paused = draft.paused;
            deployment.meta.annotations = draft.annotations;
            if !draft.image.is_empty() {
                deployment.template = template(&labels, &draft.image);
            }
        })
    }

    /// Like `kubectl rollout undo`: writes back the template of another set.
    fn undo(&mut self, set: Option<usize>) -> Result<(), String> {
        let sets = self.names.sets(&self.world.cluster);
        let target = if let Some(index) = set {
            sets.get(index.wrapping_sub(1)).copied()
        } else {
            let mut by_revision = sets;
            by_revision.sort_by_key(|set| std::cmp::Reverse(revision_of(&set.meta.annotations).unwrap_or(0)));
            by_revision.get(1).copied()
        };
        let template = target.ok_or("there is no such revision")?.template.without_hash();
        self.edit(|deployment| deployment.template = template)
    }

    fn label_template(&mut self, key: &str, value: &str) -> Result<(), String> {
        let template_before = &self.deployment()?.template;
        let mut labels = template_before.labels().cloned().unwrap_or_default();
        labels.insert(key.to_owned(), value.to_owned());
        let relabelled = template(&labels, image_of(template_before).unwrap_or_default());
        self.edit(|deployment| deployment.template = relabelled)
    }

    fn label(&mut self, kind: WorkloadKind, object: &ObjectKey, key: &str, value: &str) {
        self.world.cluster.update_meta(kind, object, |meta| {
            meta.labels.insert(key.to_owned(), value.to_owned());
        });
    }

    fn delete(
        &mut self,
        kind: WorkloadKind,
        name: Option<&str>,
        propagation: Propagation,
    ) -> Result<(), String> {
        let number = name.and_then(|name| name.parse().ok());
        let key = match (kind, number) {
            (WorkloadKind::Deployment, _) => {
                PlainCluster::key(name.or(self.deployment_name.as_deref()).ok_or("there is no deployment")?)
            }
            (WorkloadKind::ReplicaSet, Some(index)) => self.set(index)?,
            (WorkloadKind::Pod, Some(index)) => self.pod(index)?,
            (WorkloadKind::ReplicaSet | WorkloadKind::Pod, None) => {
                PlainCluster::key(name.ok_or("delete which one?")?)
            }
        };
        self.world.cluster.delete(kind, &key, propagation);
        Ok(())
    }

    pub(super) fn deployment(&self) -> Result<&Deployment, String> {
        let name = self.deployment_name.as_deref().ok_or("there is no deployment yet")?;
        self.world.cluster.deployment(name).ok_or_else(|| format!("the deployment {name} is gone"))
    }

    fn edit(&mut self, edit: impl FnOnce(&mut Deployment)) -> Result<(), String> {
        let key = self.deployment()?.meta.key();
        self.world.cluster.update(&key, edit);
        Ok(())
    }

    fn pods(&self, set: Option<usize>) -> impl Iterator<Item = &Pod> {
        let index = set.map(|set| set.wrapping_sub(1));
        let owner = index
            .map(|index| self.names.sets(&self.world.cluster).get(index).map(|set| set.meta.uid.clone()));
        let pods = self.names.pods(&self.world.cluster).into_iter();
        pods.filter(move |pod| match &owner {
            None => true,
            Some(None) => false,
            Some(Some(uid)) => pod.meta.is_controlled_by(uid),
        })
    }

    fn set(&self, index: usize) -> Result<ObjectKey, String> {
        let sets = self.names.sets(&self.world.cluster);
        let set = sets.get(index.wrapping_sub(1)).ok_or_else(|| format!("there is no set {index}"))?;
        Ok(set.meta.key())
    }

    fn pod(&self, index: usize) -> Result<ObjectKey, String> {
        let pod =
            self.pods(None).nth(index.wrapping_sub(1)).ok_or_else(|| format!("there is no pod {index}"))?;
        Ok(pod.meta.key())
    }
}

fn name_of(pod: &Pod) -> Name {
    pod.meta.name.clone()
}

fn image_of(template: &gantry_model::Template) -> Option<&str> {
    template.written().spec.as_ref()?.containers.first()?.image.as_deref()
}
