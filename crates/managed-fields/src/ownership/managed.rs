//! The entries of `metadata.managedFields`: decoded, encoded and limited in number.

use std::collections::BTreeMap;

use gantry_json::{Map, Value, json};

use super::{FieldSet, OwnedFields};

/// The most managers that update; older ones are merged.
const UPDATERS_MAX: usize = 10;
/// The manager of merged entries.
const ANCIENT: &str = "ancient-changes";

/// The managed fields of one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedFields {
    entries: BTreeMap<Identity, Entry>,
}

/// The identity of an entry; its order is that in which conflicts are reported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// The field manager.
    pub manager: String,
    /// The operation.
    pub operation: Operation,
    /// The version that it writes, such as `apps/v1`; empty for appliers, which are the same in every version.
    pub api_version: String,
    /// The subresource that it writes; empty for the object itself.
    pub subresource: String,
}

/// How a manager writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Anything else.
    Update,
}

/// The fields of one manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The version of the paths.
    pub api_version: String,
    /// The last change of a value, in RFC 3339; `None` if there was none.
    pub time: Option<String>,
    /// The paths.
    pub fields: OwnedFields,
}

/// Why a value is not a list of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotManaged(pub String);

impl Identity {
    /// A manager that applies.
    pub fn applier(manager: &str, subresource: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            operation: Operation::Apply,
            api_version: String::new(),
            subresource: subresource.to_owned(),
        }
    }

    /// A manager that updates.
    pub fn updater(manager: &str, api_version: &str, subresource: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            operation: Operation::Update,
            api_version: api_version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }
}

impl Operation {
    fn word(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

impl ManagedFields {
    /// No entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// The managed fields in an object's metadata; none if they cannot be decoded.
    pub fn of(object: &Value) -> Self {
        let stored = |fields: &Value| Ok(OwnedFields::stored(fields.clone()));
        object
            .pointer("/metadata/managedFields")
            .and_then(|entries| Self::decode_with(entries, stored).ok())
            .unwrap_or_default()
    }

    /// Decodes a list of entries; of two with the same identity the later is used.
    pub fn decode(entries: &Value) -> Result<Self, NotManaged> {
        Self::decode_with(entries, |fields| match FieldSet::decode(fields) {
            Ok(fields) => Ok(fields.into()),
            Err(problem) => Err(NotManaged(problem.0)),
        })
    }

    fn decode_with(entries: &Value, fields: DecodeFields) -> Result<Self, NotManaged> {
        let list = match entries {
            Value::Null => return Ok(Self::new()),
            Value::Array(list) => list,
            other => return Err(NotManaged(format!("no list: {other}"))),
        };
        let mut managed = Self::new();
        for entry in list {
            let (identity, entry) = decode_entry(entry, fields)?;
            managed.entries.insert(identity, entry);
        }
        Ok(managed)
    }

    /// Encodes the entries, sorted by operation, time, manager, version and subresource.
    pub fn encode(&self) -> Value {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by(|(a, x), (b, y)| {
            (a.operation, &x.time, &a.manager, &x.api_version, &a.subresource).cmp(&(
                b.operation,
                &y.time,
                &b.manager,
                &y.api_version,
                &b.subresource,
            ))
        });
        entries.into_iter().map(|(identity, entry)| encode_entry(identity, entry)).collect()
    }

    /// Stores the entries in an object's metadata; without entries the field is removed.
    pub fn store(&self, object: &mut Value) {
        let Some(root) = object.as_object_mut() else { return };
        if self.is_empty() {
            if let Some(metadata) = root.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove("managedFields");
            }
            return;
        }
        let metadata = root.entry("metadata").or_insert_with(|| json!({}));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("managedFields", self.encode());
        }
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry of an identity.
    pub fn get(&self, identity: &Identity) -> Option<&Entry> {
        self.entries.get(identity)
    }

    /// All entries.
    pub fn entries(&self) -> impl Iterator<Item = (&Identity, &Entry)> {
        self.entries.iter()
    }

    /// Sets an entry; one without fields is removed.
    pub fn set(&mut self, identity: Identity, entry: Entry) {
        if entry.fields.is_empty() {
            self.entries.remove(&identity);
        } else {
            self.entries.insert(identity, entry);
        }
    }

    /// Removes an entry.
    pub fn remove(&mut self, identity: &Identity) -> Option<Entry> {
        self.entries.remove(identity)
    }

    /// Changes the fields of all entries.
    pub(super) fn for_each_set(&mut self, change: impl Fn(&mut FieldSet)) {
        for entry in self.entries.values_mut() {
            entry.fields.change(&change);
        }
    }

    /// Removes these paths from one entry.
    pub(super) fn take_from(&mut self, identity: &Identity, paths: &FieldSet) {
        if let Some(entry) = self.entries.get_mut(identity).filter(|_| !paths.is_empty()) {
            entry.fields.subtract(paths);
        }
    }

    /// Removes these paths from all entries but one.
    pub(crate) fn take_from_others(&mut self, except: Option<&Identity>, paths: &FieldSet) {
        for (identity, entry) in &mut self.entries {
            if Some(identity) != except && !paths.is_empty() {
                entry.fields.subtract(paths);
            }
        }
        self.entries.retain(|_, entry| !entry.fields.is_empty());
    }

    /// Adds paths to an entry, at this time.
    pub(crate) fn add(&mut self, identity: Identity, api_version: &str, fields: FieldSet, now: &str) {
        let empty =
            || Entry { api_version: api_version.to_owned(), time: None, fields: OwnedFields::default() };
        let entry = self.entries.entry(identity).or_insert_with(empty);
        entry.fields.absorb(fields);
        entry.time = Some(now.to_owned());
    }

    /// Merges the oldest updating managers of a version until there are few enough.
    pub(crate) fn cap(&mut self) {
        if self.entries.len() <= UPDATERS_MAX {
            return;
        }
        let mut updaters: Vec<_> = self
            .entries
            .iter()
            .filter(|(identity, _)| identity.operation == Operation::Update)
            .map(|(identity, entry)| (entry.time.clone(), identity.clone()))
            .collect();
        let mut too_many = updaters.len().saturating_sub(UPDATERS_MAX);
        updaters.sort();
        let mut oldest: BTreeMap<String, Identity> = BTreeMap::new();
        for (time, identity) in updaters {
            if too_many == 0 {
                break;
            }
            let bucket = Identity::updater(ANCIENT, &identity.api_version, "");
            match oldest.get(&identity.api_version) {
                None => {
                    oldest.insert(identity.api_version.clone(), identity);
                }
                Some(first) => {
                    self.fold(&first.clone(), &bucket);
                    self.fold(&identity, &bucket);
                    if let Some(entry) = self.entries.get_mut(&bucket) {
                        entry.time = time;
                    }
                    oldest.insert(identity.api_version, bucket);
                    too_many -= 1;
                }
            }
        }
    }

    fn fold(&mut self, from: &Identity, into: &Identity) {
        if from == into {
            return;
        }
        let Some(entry) = self.entries.remove(from) else { return };
        match self.entries.get_mut(into) {
            Some(bucket) => bucket.fields.absorb(FieldSet::clone(&entry.fields)),
            None => {
                self.entries.insert(into.clone(), entry);
            }
        }
    }
}

/// Decodes `fieldsV1`.
type DecodeFields = fn(&Value) -> Result<OwnedFields, NotManaged>;

fn decode_entry(entry: &Value, fields: DecodeFields) -> Result<(Identity, Entry), NotManaged> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or("");
    let api_version = text("apiVersion");
    if api_version.is_empty() {
        return Err(NotManaged("apiVersion must not be empty".to_owned()));
    }
    if text("fieldsType") != "FieldsV1" {
        return Err(NotManaged(format!("invalid fieldsType `{}`", text("fieldsType"))));
    }
    let (manager, subresource) = (text("manager"), text("subresource"));
    let identity = match text("operation") {
        "Apply" => Identity::applier(manager, subresource),
        "Update" => Identity::updater(manager, api_version, subresource),
        other => return Err(NotManaged(format!("operation must be `Apply` or `Update`, not `{other}`"))),
    };
    let fields = fields(entry.get("fieldsV1").unwrap_or(&Value::Null))?;
    let time = entry.get("time").and_then(Value::as_str).map(str::to_owned);
    Ok((identity, Entry { api_version: api_version.to_owned(), time, fields }))
}

fn encode_entry(identity: &Identity, entry: &Entry) -> Value {
    let mut fields = Map::new();
    fields.insert("manager", identity.manager.as_str().into());
    fields.insert("operation", identity.operation.word().into());
    fields.insert("apiVersion", entry.api_version.as_str().into());
    if let Some(time) = &entry.time {
        fields.insert("time", time.as_str().into());
    }
    fields.insert("fieldsType", "FieldsV1".into());
    fields.insert("fieldsV1".to_owned(), entry.fields.encode());
    if !identity.subresource.is_empty() {
        fields.insert("subresource", identity.subresource.as_str().into());
    }
    if identity.manager.is_empty() {
        fields.remove("manager");
    }
    Value::Object(fields)
}
