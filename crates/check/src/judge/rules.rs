//! The rules about single writes of Deployments and ReplicaSets.

use super::views::{DeploymentView, SetView};
use super::{DeploymentHistory, Followed, Judge, ObservedWrite, SetHistory, Writer};

impl Judge {
    /// Rules about a Deployment that was written.
    pub(super) fn check_deployment(
        &mut self,
        before: &Followed<DeploymentView, DeploymentHistory>,
        after: &DeploymentView,
        by: Writer,
    ) {
        if by != Writer::Controller {
            return;
        }
        let name = &after.name;
        // If the cache does not show the latest set yet, the controller treats the previous one as the new one, here as
        // in Kubernetes.
        let is_stale = !before.history.revision.is_constant(self.from());
        // Revisions are computed from the existing sets, here as in Kubernetes: when those with the latest are deleted
        // in the foreground one by one, or a paused Deployment without a set of its present template keeps none, the
        // count starts over.
        let is_latest = self.sets_of(after).all(|set| set.view.revision <= after.revision);
        if after.revision < before.history.highest_revision && !is_stale && !after.is_deleting && !is_latest {
            let (from, to) = (before.history.highest_revision, after.revision);
            self.find("the revision of a Deployment never decreases", format!("{name}: {from} -> {to}"));
        }
        self.check_observed(
            name,
            before.view.observed_generation,
            after.observed_generation,
            after.generation,
        );
        let [replicas, updated, ready, available] = after.counts;
        if !(updated <= replicas && available <= ready && ready <= replicas) {
            let found =
                format!("{name}: {replicas} pods, {updated} updated, {ready} ready, {available} available");
            self.find("the numbers of a Deployment's status nest", found);
        }
        // The condition stays when a later change begins, so only its first appearance is checked. A status of an older
        // generation may report the completion of that one.
        let is_new = after.claims_completion && !before.view.claims_completion;
        let is_complete = replicas == after.wanted && updated == after.wanted && available == after.wanted;
        if is_new && after.observed_generation == after.generation && !is_complete {
            let found = format!(
                "{name}: {replicas} pods, {updated} updated, {available} available of {}",
                after.wanted
            );
            self.find("a status says that a rollout is complete only if it is", found);
        }
    }

    /// Rules about a ReplicaSet that was created or changed.
    pub(super) fn check_set(
        &mut self,
        before: Option<&Followed<SetView, SetHistory>>,
        after: &SetView,
        by: Writer,
    ) {
        if by != Writer::Controller {
            return;
        }
        let size_before = before.map_or(0, |before| before.view.size);
        if after.size > size_before {
            self.check_ceiling(after);
            if size_before == 0 {
                self.check_recreate(after);
            }
        }
        let Some(before) = before else {
            self.check_new_set(after);
            return;
        };
        self.check_proportion(&before.view, after);
        if after.size < size_before {
            self.check_floor(after, size_before);
        }
        if after.revision < before.view.revision {
            let found = format!("{}: {} -> {}", after.name, before.view.revision, after.revision);
            self.find("the revision of a ReplicaSet never decreases", found);
        }
        let name = &after.name;
        self.check_observed(
            name,
            before.view.observed_generation,
            after.observed_generation,
            after.generation,
        );
        let [replicas, ready, available] = after.counts;
        if !(available <= ready && ready <= replicas) {
            let found = format!("{name}: {replicas} pods, {ready} ready, {available} available");
            self.find("the numbers of a ReplicaSet's status nest", found);
        }
        if after.counts != before.view.counts {
            let pods = &before.history.active_pods;
            let (least, most) = (pods.least(self.from()), pods.most(self.from()));
            if replicas < least || replicas > most {
                let found = format!("{name}: {replicas} pods reported, {least} to {most} existed");
                self.find("a ReplicaSet reports as many pods as it had lately", found);
            }
            self.check_available(after, most);
        }
    }

    /// The total size of all sets is not raised above the desired number and the surge.
    ///
    /// This limits the number of pods: those of a set are limited by its size, and old ones may take long to end.
    /// Scaling writes one set after the other, so one that is written later counts with its share of the new total.
    /// Recreate is left out: after a rollback by annotation, Kubernetes creates the new set at its full size.
    fn check_ceiling(&mut self, set: &SetView) {
        let from = self.from();
        let Some(owner) = self.owner_of(set) else { return };
        if owner.history.rolling.least(from) == 0 {
            return;
        }
        let others = self.sets_of(&owner.view).filter(|other| other.view.uid != set.uid);
        let share = |other: &SetView| match (other.sized_max, set.sized_max) {
            (Some(before @ 1..), Some(most)) if other.sized_for != set.sized_for => {
                other.size * most / before
            }
            _ => other.size,
        };
        let others: i64 = others.map(|other| other.history.size.least(from).min(share(&other.view))).sum();
        let ceiling = owner.history.ceiling.most(from);
        if others + set.size > ceiling {
            let found =
                format!("{} to {}, with {others} in other sets, of at most {ceiling}", set.name, set.size);
            self.find("no set is raised above the wanted number and the surge of all sets", found);
        }
    }

    /// No set is made smaller if fewer pods than the desired number less `maxUnavailable` would be available.
    ///
    /// Scaling is left out: Kubernetes then keeps the proportions of the sets, not their availability. Unavailable pods
    /// are removed from old sets first, so the set may also have been read with the lowest recent number of available
    /// pods.
    fn check_floor(&mut self, set: &SetView, size_before: i64) {
        let from = self.from();
        let Some(owner) = self.owner_of(set) else { return };
        let deployment = &owner.view;
        let is_settled = owner.history.generation.is_constant(from) && deployment.is_rolling;
        let is_scaling = self.sets_of(deployment).any(|other| {
            other.view.size > 0
                && other.view.sized_for.is_some_and(|sized_for| sized_for != deployment.wanted)
        });
        if !is_settled || is_scaling || deployment.is_deleting {
            return;
        }
        let available = |size: i64| {
            let sets = self.sets_of(deployment).map(|other| {
                let lately = &other.history.available;
                let is_own = other.view.uid == set.uid;
                if is_own { lately.least(from).min(size) } else { lately.most(from).min(other.view.size) }
            });
            sets.sum::<i64>()
        };
        let (before, after, floor) = (available(size_before), available(set.size), deployment.floor());
        if after < before.min(floor) {
            let found = format!(
                "{} {size_before} -> {}: {before} -> {after} available of at least {floor}",
                set.name, set.size
            );
            self.find("no set is scaled down below the availability floor", found);
        }
    }

    /// A Deployment that has been paused for a while gets no new set, because its rollout does not continue.
    fn check_new_set(&mut self, set: &SetView) {
        let from = self.from();
        let Some(owner) = self.owner_of(set) else { return };
        if owner.history.paused.least(from) == 1 {
            let found = format!("{} is created for {}", set.name, owner.view.name);
            self.find("a paused Deployment gets no new set", found);
        }
    }

    /// With Recreate, the set of the present template is raised from zero only when the pods of all others have ended.
    ///
    /// A rollback by annotation is left out, as in `check_ceiling`, and so is a paused Deployment, whose latest set is
    /// scaled regardless of others. The pods that the other sets had all the time count: a cache may show fewer.
    fn check_recreate(&mut self, set: &SetView) {
        let from = self.from();
        let Some(owner) = self.owner_of(set) else { return };
        let DeploymentHistory { paused, rolling, rollback, .. } = &owner.history;
        let is_excepted = [paused, rolling, rollback].iter().any(|recent| recent.most(from) > 0);
        if is_excepted || set.template != owner.view.template {
            return;
        }
        let others = self.sets_of(&owner.view).filter(|other| other.view.uid != set.uid);
        let pods: i64 = others.map(|other| other.history.unfinished_pods.least(from)).sum();
        if pods > 0 {
            let found = format!("{} to {}, beside {pods} pods of other sets", set.name, set.size);
            self.find("Recreate creates no pod before the old ones have ended", found);
        }
    }

    /// Scaling up in the middle of a rolling update keeps the proportions of the sets.
    ///
    /// A set records the maximum number of pods of all sets together, so its share before and after follows from it
    /// alone. Shares are rounded, and the remainder is added to one of the sets, so a set that grows beyond its share
    /// breaks no rule. Nor does one set that is scaled alone, to the size of the Deployment, or to zero when the new
    /// set is complete. If the limits were changed meanwhile, the shares do not add up, and nothing is checked.
    fn check_proportion(&mut self, before: &SetView, after: &SetView) {
        let from = self.from();
        let (Some(most_before), Some(most)) = (before.sized_max, after.sized_max) else { return };
        let is_scaled = before.sized_for != after.sized_for && before.size > 0 && most > most_before;
        let is_alone = after.sized_for == Some(after.size) || after.size == 0;
        let Some(owner) = self.owner_of(after) else { return };
        if !is_scaled || is_alone || owner.history.rolling.least(from) == 0 {
            return;
        }
        let (mut sets, mut total) = (1, before.size);
        for other in self.sets_of(&owner.view).filter(|other| other.view.uid != after.uid) {
            let Followed { view, history } = other;
            let (size, sized_max) = match history.scaled_from {
                // It was sized for another total.
                Some(_) if view.sized_for == after.sized_for && view.sized_max != after.sized_max => return,
                Some(scaled_from) if view.sized_for == after.sized_for => scaled_from,
                _ => (view.size, view.sized_max),
            };
            let is_known = history.size.least(from) >= size.min(view.size)
                && history.size.most(from) <= size.max(view.size);
            if !is_known || size > 0 && sized_max != Some(most_before) {
                return;
            }
            (sets, total) = (sets + i64::from(size > 0), total + size);
        }
        // Twice the sizes: half a pod is rounded up or down for this set, and for each that was sized before.
        let is_too_small = 2 * after.size * most_before < 2 * before.size * most - sets * most_before;
        if total <= most_before && is_too_small {
            let found = format!(
                "{} {} -> {} in {sets} sets of at most {most_before} -> {most} pods",
                after.name, before.size, after.size
            );
            self.find("scaling in the middle of a rollout keeps the proportions", found);
        }
    }

    /// The observed generation exists, and does not decrease.
    fn check_observed(&mut self, name: &str, before: i64, after: i64, generation: i64) {
        if after < before || after > generation {
            let found = format!("{name}: {before} -> {after} of {generation}");
            self.find("the observed generation grows up to the generation", found);
        }
    }

    /// A set that is removed while its Deployment exists was empty, old, and beyond the history limit.
    pub(super) fn check_removed_set(&mut self, set: &Followed<SetView, SetHistory>, by: Writer) {
        if by == Writer::Other {
            return;
        }
        let from = self.from();
        let owner = self.owner_of(&set.view);
        let was_in_foreground = owner.is_some_and(|owner| owner.history.foreground.most(from) > 0);
        let is_orphaned = self.orphaned.contains(&set.view.uid) && !was_in_foreground;
        if is_orphaned && by == Writer::GarbageCollector {
            self.find("an orphaned ReplicaSet is not collected", set.view.name.clone());
        }
        let Some(owner) = self.owner_of(&set.view) else { return };
        if owner.view.is_deleting || by != Writer::Controller {
            return;
        }
        let (name, size) = (&set.view.name, set.view.size);
        let pods = set.history.active_pods.least(from);
        let is_new = set.view.template == owner.view.template
            && owner.history.generation.is_constant(from)
            && !self.has_adopted_new_set(&owner.view);
        let old =
            self.sets_of(&owner.view).filter(|other| other.view.template != owner.view.template).count();
        let kept = owner.history.kept_sets.least(from);
        let is_beyond =
            i64::try_from(old).unwrap_or(i64::MAX) >= kept || !owner.history.generation.is_constant(from);
        if size > 0 || pods > 0 || is_new || !is_beyond {
            let found = format!(
                "{name} of size {size} with {pods} pods, {old} old sets are left of {kept}; new: {is_new}"
            );
            self.find("only empty old sets beyond the history limit are removed", found);
        }
    }

    /// The garbage collector deletes only objects without a solid owner. An owner that is deleted in the foreground is
    /// not solid, nor one that was until a user changed that: the deletion of its dependents may be in progress, here
    /// as in Kubernetes.
    pub(super) fn check_collection(&mut self, write: &ObservedWrite<'_>) {
        if write.by != Writer::GarbageCollector {
            return;
        }
        let owners = self.owners.get(write.key).cloned().unwrap_or_default();
        let solid = owners.into_iter().find(|owner| self.is_solid(owner));
        if let Some(owner) = solid {
            self.find(
                "the garbage collector deletes nothing with a living owner",
                format!("{}, owned by {owner}", write.key),
            );
        }
    }

    fn is_solid(&self, uid: &str) -> bool {
        let from = self.from();
        let deployments = self.deployments.values().map(|one| (&one.view.uid, &one.history.foreground));
        let sets = self.sets.values().map(|one| (&one.view.uid, &one.history.foreground));
        deployments.chain(sets).any(|(known, foreground)| known == uid && foreground.most(from) == 0)
    }
}
