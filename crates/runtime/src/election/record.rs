//! The content of a lease, and the decision about it.

use std::time::Duration;

use gantry_model::{Name, Namespace, Timestamp};
use k8s_openapi::api::coordination::v1 as wire;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff;

/// The duration of a released lease; as in client-go.
const RELEASED: Duration = Duration::from_secs(1);

/// The content of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The holder; empty if it was released.
    pub holder: String,
    /// How long it is valid.
    pub duration: Duration,
    /// When this holder acquired it.
    pub acquired: Timestamp,
    /// When it was last renewed.
    pub renewed: Timestamp,
    /// The number of changes of the holder.
    pub transitions: i32,
}

/// A lease as it was last seen to change, and when that was by the own clock.
#[derive(Clone, Debug, Default)]
pub(super) struct ObservedLease {
    seen: Option<(Lease, Timestamp)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum LeaseDecision {
    /// Another holder has it.
    Wait,
    /// It does not exist: create it.
    Create(Lease),
    /// Renew or take over the existing one.
    Update(Lease, Box<wire::Lease>),
}

impl ObservedLease {
    /// Decides about the lease, by the monotonic and by the system clock.
    pub(super) fn decide(
        &mut self,
        found: Option<wire::Lease>,
        identity: &str,
        duration: Duration,
        steady: Timestamp,
        system_time: Timestamp,
    ) -> LeaseDecision {
        let fresh = |transitions, acquired| Lease {
            holder: identity.to_owned(),
            duration,
            acquired,
            renewed: system_time,
            transitions,
        };
        let Some(found) = found else { return LeaseDecision::Create(fresh(0, system_time)) };
        let lease = Lease::parse(&found);
        if self.seen.as_ref().is_none_or(|(seen, _)| *seen != lease) {
            self.seen = Some((lease.clone(), steady));
        }
        let since = self.seen.as_ref().map_or(steady, |(_, since)| *since);
        if lease.holder == identity {
            return LeaseDecision::Update(fresh(lease.transitions, lease.acquired), Box::new(found));
        }
        if !lease.holder.is_empty() && steady.since(since) < lease.duration {
            return LeaseDecision::Wait;
        }
        LeaseDecision::Update(fresh(lease.transitions.saturating_add(1), system_time), Box::new(found))
    }

    /// Records a successful write.
    pub(super) fn wrote(&mut self, stored: &wire::Lease, steady: Timestamp) {
        self.seen = Some((Lease::parse(stored), steady));
    }

    /// The lease without a holder, if this candidate holds it.
    pub(super) fn released(&self, identity: &str, system_time: Timestamp) -> Option<Lease> {
        let (lease, _) = self.seen.as_ref().filter(|(lease, _)| lease.holder == identity)?;
        let (holder, duration) = (String::new(), RELEASED);
        Some(Lease { holder, duration, acquired: system_time, renewed: system_time, ..lease.clone() })
    }
}

impl Lease {
    /// Parses a lease.
    pub fn parse(lease: &wire::Lease) -> Self {
        let spec = lease.spec.clone().unwrap_or_default();
        let seconds = u64::try_from(spec.lease_duration_seconds.unwrap_or(0)).unwrap_or(0);
        Self {
            holder: spec.holder_identity.unwrap_or_default(),
            duration: Duration::from_secs(seconds),
            acquired: instant(spec.acquire_time.as_ref()),
            renewed: instant(spec.renew_time.as_ref()),
            transitions: spec.lease_transitions.unwrap_or(0),
        }
    }

    /// The lease in its wire format, over the existing object.
    pub(super) fn render(
        &self,
        namespace: &Namespace,
        name: &Name,
        found: Option<wire::Lease>,
    ) -> wire::Lease {
        let metadata = found.map_or_else(
            || ObjectMeta {
                namespace: Some(namespace.to_string()),
                name: Some(name.to_string()),
                ..ObjectMeta::default()
            },
            |found| found.metadata,
        );
        let seconds = i32::try_from(self.duration.as_secs()).unwrap_or(i32::MAX);
        let spec = wire::LeaseSpec {
            holder_identity: Some(self.holder.clone()),
            lease_duration_seconds: Some(seconds),
            acquire_time: Some(micro_time(self.acquired)),
            renew_time: Some(micro_time(self.renewed)),
            lease_transitions: Some(self.transitions),
            ..wire::LeaseSpec::default()
        };
        wire::Lease { metadata, spec: Some(spec) }
    }
}

fn micro_time(instant: Timestamp) -> MicroTime {
    let micros = instant.as_nanos().div_euclid(1000);
    MicroTime(jiff::Timestamp::from_microsecond(micros).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
}

fn instant(time: Option<&MicroTime>) -> Timestamp {
    let micros = time.map_or(0, |time| time.0.as_microsecond());
    Timestamp::from_nanos(micros.saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(15);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_secs(seconds)
    }

    fn held(holder: &str, renewed: i64) -> wire::Lease {
        let lease = Lease {
            holder: holder.into(),
            duration: LEASE,
            acquired: at(0),
            renewed: at(renewed),
            transitions: 3,
        };
        lease.render(&"kube-system".into(), &"it".into(), None)
    }

    fn decide(observed: &mut ObservedLease, found: Option<wire::Lease>, now: i64) -> LeaseDecision {
        observed.decide(found, "me", LEASE, at(now), at(now))
    }

    #[test]
    fn a_lease_without_holder_is_acquired() {
        let mut observed = ObservedLease::default();
        assert!(
            matches!(decide(&mut observed, None, 0), LeaseDecision::Create(lease) if lease.holder == "me" && lease.transitions == 0)
        );
        let LeaseDecision::Update(lease, _) = decide(&mut observed, Some(held("", 0)), 1) else {
            panic!("a released lease must be acquired")
        };
        assert_eq!((lease.holder.as_str(), lease.transitions, lease.acquired), ("me", 4, at(1)));
    }

    /// Only the time counts in which the lease has not changed, whatever the clock of the holder.
    #[test]
    fn a_lease_is_acquired_when_it_has_not_changed_for_its_duration() {
        let mut observed = ObservedLease::default();
        assert_eq!(decide(&mut observed, Some(held("you", -1000)), 100), LeaseDecision::Wait);
        assert_eq!(decide(&mut observed, Some(held("you", -1000)), 114), LeaseDecision::Wait);
        assert_eq!(
            decide(&mut observed, Some(held("you", -998)), 114),
            LeaseDecision::Wait,
            "the lease was renewed"
        );
        assert_eq!(decide(&mut observed, Some(held("you", -998)), 128), LeaseDecision::Wait);
        assert!(
            matches!(decide(&mut observed, Some(held("you", -998)), 129), LeaseDecision::Update(lease, _) if lease.holder == "me")
        );
    }

    #[test]
    fn renewing_a_lease_keeps_its_acquire_time() {
        let mut observed = ObservedLease::default();
        let LeaseDecision::Update(lease, _) = decide(&mut observed, Some(held("me", 5)), 7) else {
            panic!("the own lease must be renewed")
        };
        assert_eq!((lease.acquired, lease.renewed, lease.transitions), (at(0), at(7), 3));
    }

    #[test]
    fn a_released_lease_has_no_holder_and_expires_at_once() {
        let mut observed = ObservedLease::default();
        observed.wrote(&held("me", 5), at(5));
        let released = observed.released("me", at(9)).unwrap();
        assert_eq!((released.holder.as_str(), released.duration, released.transitions), ("", RELEASED, 3));
        observed.wrote(&held("you", 5), at(5));
        assert_eq!(observed.released("me", at(9)), None);
    }
}
