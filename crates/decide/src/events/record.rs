//! The event object that a server stores.

use gantry_model::{ApiVersion, EventType, KindName, Meta, Name, Namespace, ResourceVersion, Timestamp, Uid};

/// The namespace of events about cluster-scoped objects.
const NAMESPACE_OF_THE_CLUSTER: &str = "default";
const NAME_LENGTH_MAX: usize = 253;

/// The object an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Group and version of its kind.
    pub api_version: ApiVersion,
    /// Its kind.
    pub kind: KindName,
    /// `None` for cluster-scoped objects.
    pub namespace: Option<Namespace>,
    /// Its name.
    pub name: Name,
    /// Its identity.
    pub uid: Uid,
    /// The version that was observed.
    pub resource_version: ResourceVersion,
}

/// An event object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord {
    /// Unique among the events of its namespace.
    pub name: Name,
    /// Its namespace.
    pub namespace: Namespace,
    /// `involvedObject`.
    pub subject: Subject,
    /// `source.component`.
    pub source: &'static str,
    /// `reportingComponent`, the same component in the newer field; aggregated events have none.
    pub reporting_component: Option<&'static str>,
    /// `type`.
    pub event_type: EventType,
    /// One word in camel case.
    pub reason: &'static str,
    /// The message.
    pub message: String,
    /// The number of occurrences, dropped ones included.
    pub count: i32,
    /// `firstTimestamp`.
    pub first: Timestamp,
    /// `lastTimestamp`.
    pub last: Timestamp,
}

/// The write for an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Create this object.
    Create(EventRecord),
    /// Patch `count`, `lastTimestamp` and `message` of the event of this name.
    ///
    /// The event may not exist, because events expire, or because its creation was dropped or failed. Then create this
    /// object.
    Increase(EventRecord),
    /// Write nothing: the object exceeds its event rate.
    Drop,
}

impl Subject {
    /// A namespaced object as it was read.
    pub fn namespaced(api_version: &'static str, kind: &'static str, meta: &Meta) -> Self {
        Self {
            api_version: api_version.into(),
            kind: kind.into(),
            namespace: Some(meta.namespace.clone()),
            name: meta.name.clone(),
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.clone(),
        }
    }

    /// The namespace of events about it.
    pub(super) fn event_namespace(&self) -> Namespace {
        self.namespace.clone().unwrap_or_else(|| NAMESPACE_OF_THE_CLUSTER.into())
    }

    /// The name of an event about it: its own and the time in nanoseconds, in hex.
    ///
    /// If that is too long or invalid, the event is named after the uid; client-go generates a new uid there, which
    /// pure code cannot.
    pub(super) fn event_name(&self, unix_nanos: i64) -> Name {
        let sign = if unix_nanos < 0 { "-" } else { "" };
        let suffix = format!("{sign}{:x}", unix_nanos.unsigned_abs());
        let name = format!("{}.{suffix}", self.name);
        if is_dns_subdomain(&name) { name.into() } else { format!("{}.{suffix}", self.uid).into() }
    }
}

impl Recording {
    /// The event to write, if there is one.
    pub fn record(&self) -> Option<&EventRecord> {
        match self {
            Self::Create(record) | Self::Increase(record) => Some(record),
            Self::Drop => None,
        }
    }
}

fn is_dns_subdomain(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(is_inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    name.len() <= NAME_LENGTH_MAX && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use gantry_testkit::{NOON, meta};

    use super::*;

    fn subject(name: &str) -> Subject {
        let uid = "6ecd1d8e-3b4f-4a70-9d5c-2f5a0d1e7b11".into();
        Subject { uid, ..Subject::namespaced("apps/v1", "Deployment", &meta(name)) }
    }

    fn event_name_of(name: &str) -> String {
        subject(name).event_name(NOON.as_nanos()).to_string()
    }

    /// D17.2: the object's name and the time in nanoseconds, in hex.
    #[test]
    fn an_event_is_named_after_its_object_and_the_time() {
        assert_eq!(event_name_of("web"), "web.1886999c36a18000");
    }

    /// D17.2: an invalid event name is replaced by the uid.
    #[test]
    fn the_name_of_an_event_may_use_the_uid() {
        let by_uid = "6ecd1d8e-3b4f-4a70-9d5c-2f5a0d1e7b11.1886999c36a18000";
        assert_eq!(event_name_of("system:node"), by_uid);
        assert_eq!(event_name_of(&"a".repeat(237)), by_uid);
        assert_eq!(event_name_of(&"a".repeat(236)).len(), 253);
    }

    /// D17.2: events about cluster-scoped objects are in `default`.
    #[test]
    fn an_event_is_in_the_namespace_of_its_object() {
        let mut subject = subject("web");
        subject.namespace = Some("shop".into());
        assert_eq!(subject.event_namespace(), "shop".into());
        subject.namespace = None;
        assert_eq!(subject.event_namespace(), "default".into());
    }

    #[test]
    fn names_are_checked_label_by_label() {
        assert!(["a", "web-1.x9", "0.0"].iter().all(|name| is_dns_subdomain(name)));
        assert!(
            ["", "Web", "-web", "web-", "a..b", "a.-b", "a_b"].iter().all(|name| !is_dns_subdomain(name))
        );
    }
}
