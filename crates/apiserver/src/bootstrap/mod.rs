//! Creates the default objects of a cluster on startup, where they are missing.
//!
//! Bindings share transactions to make the first start fast; all other objects get a revision each, in the order in
//! which Kubernetes creates them. Existing objects are unchanged, except for fields that follow this server's
//! settings. Nothing is written if nothing is missing.

mod default_objects;
mod flow_control;
mod roles;

pub(crate) use flow_control::is_default;

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use gantry_json::{Value, json};
use gantry_managed_fields::ownership::{FieldSet, Write, track_update};
use gantry_registry::access::AccessRule;
use gantry_registry::flow_control::GROUP as FLOW_CONTROL;
use gantry_registry::lifecycle::{self, Part, ServerAssignedMetadata, Updated};
use gantry_registry::{admission, defaults};
use gantry_schema::kinds::Kind;
use gantry_store::{Error, Item, Key, ListRequest, Op, Transaction};

use crate::ApiServer;
use crate::error::ApiError;
use crate::handlers::reset_fields;
use crate::metadata::Metadata;
use crate::objects::{ObjectRef, Objects, key};
use crate::storage_codec;

/// An object that must exist.
struct DefaultObject {
    kind: &'static Kind,
    object: Value,
    /// The field manager.
    manager: &'static str,
    updates: UpdateSource,
    /// The condition that it has from its creation, without its time.
    condition: Option<Value>,
}

/// The source of updates of an object after it is created.
#[derive(Clone, Copy)]
enum UpdateSource {
    /// These fields follow the server's settings.
    Settings(&'static [&'static str]),
    /// The object follows its default, as far as the rules of priority and fairness require it.
    FlowControl { is_mandatory: bool },
}

/// The maximum number of objects in one transaction: below a store's limit, to leave space for allocated addresses.
const OBJECTS_MAX: usize = 100;
/// The field manager of default objects; kube-apiserver's name.
const FIELD_MANAGER: &str = "kube-apiserver";
const RBAC: &str = "rbac.authorization.k8s.io";
/// The maximum number of attempts while another server on the same store creates the same objects.
const ATTEMPTS_MAX: usize = 8;

/// Creates the missing objects.
pub(crate) async fn prepare(server: &ApiServer) -> Result<(), ApiError> {
    let wanted = default_objects::all(&server.settings).into_iter().chain(roles::all()?);
    ensure(server, &wanted.chain(flow_control::all()).collect::<Vec<_>>()).await
}

/// Creates the missing objects of priority and fairness, and updates those that follow their defaults.
pub(crate) async fn prepare_flow_control(server: &ApiServer) -> Result<(), ApiError> {
    ensure(server, &flow_control::all()).await
}

async fn ensure(server: &ApiServer, wanted: &[DefaultObject]) -> Result<(), ApiError> {
    let mut met = None;
    for _ in 0..ATTEMPTS_MAX {
        match write(server, &missing(server, wanted).await?).await {
            Ok(()) => return Ok(()),
            Err(error @ Error::Conflict { .. }) => met = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    Err(met.map_or_else(|| ApiError::unclassified("no attempt was made"), ApiError::from))
}

/// The rules of a default ClusterRole; empty if there is no role of that name.
pub(crate) fn rules_of(cluster_role: &str) -> Vec<AccessRule> {
    let is_meant = |role: &DefaultObject| {
        role.kind.kind == "ClusterRole" && Metadata::of(&role.object).name() == cluster_role
    };
    let role = roles::all().ok().and_then(|all| all.into_iter().find(is_meant));
    let rules = role.as_ref().and_then(|role| role.object["rules"].as_array());
    rules.into_iter().flatten().map(AccessRule::parse).collect()
}

/// A write that is to be committed.
struct PendingObject<'a> {
    wanted: &'a DefaultObject,
    object: Value,
    key: Key,
    op: Op,
}

/// Returns the writes that make all objects exist.
async fn missing<'a>(
    server: &ApiServer,
    wanted: &'a [DefaultObject],
) -> Result<Vec<PendingObject<'a>>, ApiError> {
    let mut found = BTreeMap::new();
    let places: BTreeSet<_> = wanted.iter().map(|wanted| (wanted.kind.segment, wanted.namespace())).collect();
    for (segment, namespace) in places {
        let Some(kind) = wanted.iter().map(|wanted| wanted.kind).find(|kind| kind.segment == segment) else {
            continue;
        };
        let request = ListRequest::all(Objects::prefix(kind, namespace));
        let page = server.objects.store.list(request).await?;
        found.extend(page.items.into_iter().map(|item| (item.key.clone(), item)));
    }
    let mut missing = Vec::new();
    for wanted in wanted {
        let key = key(wanted.object_ref())?;
        let op = match found.get(&key) {
            None => Some(wanted.create(server)),
            Some(item) => wanted.update(server, item)?,
        };
        missing.extend(op.map(|(object, op)| PendingObject { wanted, object, key, op }));
    }
    Ok(missing)
}

async fn write(server: &ApiServer, missing: &[PendingObject<'_>]) -> Result<(), Error> {
    // There are many bindings, and the objects of flow control take effect together. All other objects get a revision each, in the order in which Kubernetes creates them.
    let (own, shared): (Vec<_>, Vec<_>) = missing.iter().partition(|one| one.wanted.has_own_version());
    let mut transactions = Vec::new();
    for some in own.chunks(1).chain(shared.chunks(OBJECTS_MAX)) {
        let mut transaction: Option<Transaction> = None;
        for one in some {
            let with_it = match transaction {
                None => Transaction::single(one.key.clone(), one.op.clone()),
                // A name that occurs twice in the table is written once.
                Some(transaction) => {
                    transaction.clone().and(one.key.clone(), one.op.clone()).unwrap_or(transaction)
                }
            };
            let is_new = matches!(one.op, Op::Create { .. });
            let before = (!is_new).then_some(&one.object);
            let object_ref = one.wanted.object_ref();
            transaction =
                Some(server.objects.with_allocations(object_ref, with_it, before, Some(&one.object)).await?);
        }
        transactions.extend(transaction);
    }
    // Sent in this order and all at once, so that they share syncs of the disk.
    let commits = join_all(transactions.into_iter().map(|some| server.objects.store.commit(some)));
    commits.await.into_iter().try_for_each(|committed| committed.map(drop))
}

impl DefaultObject {
    /// Whether the object is written in a separate transaction.
    fn has_own_version(&self) -> bool {
        match self.kind.group {
            RBAC => self.kind.kind == "ClusterRole",
            group => group != FLOW_CONTROL,
        }
    }

    fn namespace(&self) -> Option<&str> {
        Metadata::of(&self.object).namespace()
    }

    fn object_ref(&self) -> ObjectRef<'_> {
        ObjectRef::of(self.kind, &self.object)
    }

    fn create(&self, server: &ApiServer) -> (Value, Op) {
        let mut object = self.object.clone();
        defaults::apply(self.kind, &mut object);
        let (uid, now) = (server.environment.uid(), server.environment.now());
        let (time, reset) = (now.to_string(), reset_fields(self.kind, Part::Main));
        track_update(None, &mut object, &self.write(&time, &reset));
        let mut object =
            lifecycle::create(object, self.kind, &ServerAssignedMetadata { uid: &uid, now, name_suffix: "" });
        admission::admit_create(self.kind, &mut object);
        defaults::set_initial_status(self.kind, &mut object);
        if let UpdateSource::FlowControl { .. } = self.updates {
            object = flow_control::with_status(self.kind, object, now);
        }
        if let Some(condition) = &self.condition {
            object["status"]["conditions"] = json!([condition]);
            object["status"]["conditions"][0]["lastTransitionTime"] = json!(time);
        }
        let value = storage_codec::encode(self.kind, &mut object);
        (object, Op::Create { value })
    }

    /// Returns the update of an existing object that differs from its default or from the settings.
    fn update(&self, server: &ApiServer, item: &Item) -> Result<Option<(Value, Op)>, ApiError> {
        match self.updates {
            UpdateSource::Settings(&[]) => Ok(None),
            UpdateSource::Settings(fields) => self.follow_settings(fields, item),
            UpdateSource::FlowControl { is_mandatory } => {
                let before = storage_codec::decode(self.kind, &item.value, item.revision)?;
                let revised = crate::flow_control::revised(&before, &self.object, is_mandatory);
                let stored = revised.and_then(|mut object| {
                    let now = server.environment.now().to_string();
                    track_update(
                        Some(&before),
                        &mut object,
                        &self.write(&now, &reset_fields(self.kind, Part::Main)),
                    );
                    match lifecycle::update(&before, object, Part::Main, self.kind) {
                        Updated::Store(object) => Some(object),
                        Updated::Unchanged | Updated::Remove(_) => None,
                    }
                });
                Ok(stored.map(|mut object| {
                    let value = storage_codec::encode(self.kind, &mut object);
                    (object, Op::Update { value, seen: item.revision })
                }))
            }
        }
    }

    /// The write, for the managed fields.
    fn write<'a>(&self, now: &'a str, reset: &'a FieldSet) -> Write<'a> {
        Write {
            kind: self.kind.kind,
            nature: &self.kind.nature,
            api_version: self.kind.api_version,
            subresource: "",
            manager: self.manager,
            reset,
            now,
        }
    }

    /// Returns the update of an existing object whose fields differ from the settings.
    fn follow_settings(&self, fields: &[&str], item: &Item) -> Result<Option<(Value, Op)>, ApiError> {
        let mut wanted = self.object.clone();
        defaults::apply(self.kind, &mut wanted);
        let before = storage_codec::decode(self.kind, &item.value, item.revision)?;
        let mut object = before.clone();
        for field in fields {
            let value = field.split('.').fold(&wanted, |value, step| &value[step]);
            if !value.is_null() {
                *field.split('.').fold(&mut object, |value, step| &mut value[step]) = value.clone();
            }
        }
        if object == before {
            return Ok(None);
        }
        let value = storage_codec::encode(self.kind, &mut object);
        Ok(Some((object, Op::Update { value, seen: item.revision })))
    }
}
