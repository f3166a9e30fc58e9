//! The new ReplicaSet: its draft, and the handling of a refused creation.

use std::borrow::Cow;

use gantry_model::{
    Annotations, Name, OwnerReference, Refusal, RefusalKind, ReplicaSet, ReplicaSetDraft, Replicas, Selector,
    Template, keys,
};

use super::conditions::{self, Condition};
use super::decision::{Action, IfRefused, RefusedStep, SyncError};
use super::limits::new_set_size;
use super::sync_state::{SetState, SyncState};
use super::{events, revision};

const NAME_LENGTH_MAX: usize = 253;

/// The hash of a template, as used in names and labels: one to ten of the characters `456789bcdf`.
///
/// FNV-1a over the template's canonical form and, after a name collision, over the collision count. The digits are
/// encoded in letters and numbers that form no words.
pub fn template_hash(template: &Template, collision_count: Option<i32>) -> String {
    const DIGITS: [char; 10] = ['4', '5', '6', '7', '8', '9', 'b', 'c', 'd', 'f'];
    let mut collisions = [0; 8];
    collisions[..4].copy_from_slice(&collision_count.unwrap_or(0).to_le_bytes());
    let collisions = if collision_count.is_some() { &collisions[..] } else { &[] };
    let hash = template
        .canonical()
        .iter()
        .chain(collisions)
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    hash.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

impl SyncState<'_> {
    /// Creates the new ReplicaSet, unless it exists or its creation was just refused.
    pub(super) fn create_new_set_if_absent(
        &mut self,
        refused: Option<&RefusedStep>,
    ) -> Result<(), SyncError> {
        match (self.new, refused) {
            (Some(_), _) => Ok(()),
            (None, Some(RefusedStep::CreateRefused { refusal, existing })) => {
                self.take_refusal(refusal, existing.as_deref())
            }
            (None, Some(RefusedStep::ScaleDownFailed) | None) => self.create_new_set(),
        }
    }

    fn create_new_set(&mut self) -> Result<(), SyncError> {
        let size = new_set_size(self.deployment, 0, self.total_size()).map_err(SyncError::InvalidLimit)?;
        let revision = self.next_revision().to_string();
        let draft = self.draft(size, &revision);
        let name = draft.name.clone();
        self.new = Some(self.sets.len());
        self.sets.push(SetState {
            observed: None,
            name: name.clone(),
            replicas: size,
            min_ready_seconds: draft.min_ready_seconds,
            annotations: Cow::Owned(draft.annotations.clone()),
        });
        self.push(Action::CreateReplicaSet(Box::new(draft)), IfRefused::DecideOnCreate);
        if !size.is_zero() {
            self.emit(events::scaled(&name, Replicas::ZERO, size));
        }
        self.record_new_set(revision, Some(Condition::created_new_set(&name)));
        Ok(())
    }

    /// Records the new revision and, with a progress deadline, the progress.
    fn record_new_set(&mut self, revision: String, progress: Option<Condition>) {
        let revision = (self.annotations.get(keys::REVISION) != Some(&revision)).then_some(revision);
        let progress = progress.filter(|_| self.deployment.progress_deadline_seconds.is_some());
        if revision.is_none() && progress.is_none() {
            return;
        }
        let mut status = self.status.clone();
        if let Some(progress) = progress {
            conditions::set(&mut status, progress, self.now);
        }
        self.write_status(status, revision, IfRefused::Fail);
    }

    fn draft(&self, size: Replicas, revision: &str) -> ReplicaSetDraft {
        let deployment = self.deployment;
        let hash = template_hash(&deployment.template, self.status.collision_count);
        let template = deployment.template.with_hash(&hash);
        let mut annotations = Cow::Owned(Annotations::new());
        revision::copy_annotations(&self.annotations, &mut annotations);
        let mut annotations = annotations.into_owned();
        annotations.insert(keys::REVISION.to_owned(), revision.to_owned());
        self.limits.size_annotations().write_on(&mut annotations);
        let selector = deployment.selector.as_ref().unwrap_or(&Selector::Everything);
        ReplicaSetDraft {
            namespace: deployment.meta.namespace.clone(),
            name: set_name(&deployment.meta.name, &hash),
            labels: template.labels().cloned().unwrap_or_default(),
            annotations,
            owner: OwnerReference::to_controller(keys::APPS_V1, keys::DEPLOYMENT, &deployment.meta),
            replicas: size,
            selector: selector.with_label(keys::HASH_LABEL, &hash),
            template,
            min_ready_seconds: deployment.min_ready_seconds,
        }
    }

    fn take_refusal(&mut self, refusal: &Refusal, existing: Option<&ReplicaSet>) -> Result<(), SyncError> {
        let hash = template_hash(&self.deployment.template, self.status.collision_count);
        let name = set_name(&self.deployment.meta.name, &hash);
        match (refusal.kind, existing) {
            (RefusalKind::NamespaceTerminating, _) => Err(SyncError::NamespaceTerminating),
            (RefusalKind::AlreadyExists, None) => Err(SyncError::NotYetSeen(name)),
            (RefusalKind::AlreadyExists, Some(existing)) if self.is_ours(existing) => {
                self.new = Some(self.sets.len());
                self.sets.push(SetState::observed(Cow::Owned(ReplicaSet::clone(existing))));
                self.record_new_set(self.next_revision().to_string(), None);
                Ok(())
            }
            (RefusalKind::AlreadyExists, Some(_)) => Err(self.count_collision(name)),
            _ => Err(self.report_failed_create(&name, &refusal.message)),
        }
    }

    /// Whether the ReplicaSet of that name is the intended one: created by an earlier sync and not in the cache yet.
    fn is_ours(&self, existing: &ReplicaSet) -> bool {
        existing.meta.is_controlled_by(&self.deployment.meta.uid)
            && existing.template == self.deployment.template
    }

    /// Increases the collision count, so that the next sync computes another name.
    fn count_collision(&mut self, name: Name) -> SyncError {
        let mut status = self.status.clone();
        status.collision_count = Some(status.collision_count.unwrap_or(0).saturating_add(1));
        self.write_status(status, None, IfRefused::Ignore);
        SyncError::NameTaken(name)
    }

    fn report_failed_create(&mut self, name: &Name, error: &str) -> SyncError {
        let message = format!("Failed to create new replica set \"{name}\": {error}");
        if self.deployment.progress_deadline_seconds.is_some() {
            let mut status = self.status.clone();
            conditions::set(&mut status, Condition::create_failed(message.clone()), self.now);
            self.write_status(status, None, IfRefused::Ignore);
        }
        self.emit(events::create_failed(message));
        SyncError::CreateFailed(error.to_owned())
    }
}

/// `<deployment>-<hash>`, with the Deployment's name truncated where the whole would be too long.
fn set_name(deployment: &Name, hash: &str) -> Name {
    let length_max = NAME_LENGTH_MAX.saturating_sub(1 + hash.len());
    let deployment = deployment.as_str();
    let cut = deployment
        .char_indices()
        .map(|(start, c)| start + c.len_utf8())
        .take_while(|end| *end <= length_max)
        .last();
    let deployment = if length_max > 0 { &deployment[..cut.unwrap_or(0)] } else { deployment };
    Name::from(format!("{deployment}-{hash}"))
}
