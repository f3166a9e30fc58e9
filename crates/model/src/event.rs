//! Events that the rules record.

gantry_formats::text_enum! {
    /// The type of an event.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum EventType {
        /// Normal operation.
        Normal = "Normal",
        /// A problem that may require action.
        Warning = "Warning",
    }

    /// The value on the wire.
    pub fn as_str(self) -> &'static str;
}

/// An event about the object of a decision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// The type.
    pub event_type: EventType,
    /// One word in camel case.
    pub reason: &'static str,
    /// A message.
    pub message: String,
}

impl Event {
    /// A normal event.
    pub fn normal(reason: &'static str, message: String) -> Self {
        Self { event_type: EventType::Normal, reason, message }
    }

    /// A warning.
    pub fn warning(reason: &'static str, message: String) -> Self {
        Self { event_type: EventType::Warning, reason, message }
    }
}
