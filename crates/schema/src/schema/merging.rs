//! The merge rules of fields: for strategic merge patches, and for server-side apply.

/// How a field merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merging {
    /// In a strategic merge patch.
    pub strategic: StrategicMerge,
    /// Under server-side apply.
    pub owning: Owning,
}

/// How a strategic merge patch merges a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategicMerge {
    /// Objects and maps merge by key; anything else is replaced.
    Default,
    /// A list of objects: elements with the same value of this key merge.
    ByKey {
        /// The merge key.
        key: &'static str,
        /// Whether `$retainKeys` is honoured in its elements.
        retain_keys: bool,
    },
    /// A list of primitives: values are added.
    Primitives,
    /// An object in which `$retainKeys` is honoured.
    RetainKeys,
    /// An object that is replaced as a whole.
    Replace,
}

/// The granularity of ownership under server-side apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owning {
    /// Each member separately.
    Granular,
    /// The field as a whole.
    Atomic,
    /// Each element of a list, identified by the values of these keys.
    MapList(&'static [&'static str]),
    /// As `MapList`, each element owned as a whole.
    AtomicMapList(&'static [&'static str]),
    /// Each value of a list.
    Set,
}
