//! Recorded applies and other writes, replayed on one object in memory and compared with the responses of Kubernetes.
//!
//! Defaults, admission and validation are not replayed: their results are taken from the recorded response. Compared
//! are the managed fields, every value that apply determines, conflicts and refusals.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use gantry_json::{Value, json};
use gantry_managed_fields::apply::{Applied, Change, OnConflict, apply};
use gantry_managed_fields::ownership::{FieldSet, ManagedFields, ReplicasField, Write, track_update};
use gantry_schema::decode;
use gantry_schema::schema::schema;

/// One recorded exchange.
struct Exchange {
    value: Value,
    at: usize,
}

/// One object, and how it is compared with the recording.
#[derive(Default)]
struct Replay {
    live: Option<Value>,
    /// Whether the order of entries is part of the recording.
    ordered: bool,
}

fn recorded(case: &str) -> Vec<Exchange> {
    let path = format!("{}/../registry/tests/recorded/apply.{case}.json", env!("CARGO_MANIFEST_DIR"));
    #[expect(clippy::disallowed_methods, reason = "a test reads its data")]
    let text = std::fs::read_to_string(path).unwrap();
    let list: Vec<Value> = gantry_json::from_str(&text).unwrap();
    list.into_iter().enumerate().map(|(at, value)| Exchange { value, at }).collect()
}

impl Exchange {
    fn request(&self) -> &str {
        self.value["request"].as_str().unwrap()
    }

    fn query(&self, key: &str) -> Option<&str> {
        let (_, query) = self.request().split_once('?')?;
        query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(name, _)| *name == key)
            .map(|(_, v)| v)
    }

    fn path(&self) -> &str {
        let path = self.request().split_once(' ').unwrap().1;
        path.split('?').next().unwrap()
    }

    fn subresource(&self) -> &'static str {
        match self.path().rsplit('/').next() {
            Some("status") => "status",
            Some("scale") => "scale",
            _ => "",
        }
    }

    /// The kind with its version: `apps/v1.Deployment`.
    fn kind(&self) -> &'static str {
        match self.path() {
            path if path.ends_with("/scale") => "autoscaling/v1.Scale",
            path if path.contains("deployments") => "apps/v1.Deployment",
            path if path.contains("statefulsets") => "apps/v1.StatefulSet",
            _ => "core/v1.ConfigMap",
        }
    }

    fn now(&self) -> String {
        format!("2026-01-01T00:00:{:02}Z", self.at)
    }

    fn is_apply(&self) -> bool {
        self.value["content-type"] == "application/apply-patch+yaml"
    }

    fn write<R>(&self, body: impl FnOnce(&Write<'_>) -> R) -> R {
        let nature = schema().find(self.kind()).unwrap().into();
        let (api_version, kind) = self.kind().trim_start_matches("core/").split_once('.').unwrap();
        let subresource = self.subresource();
        let reset = FieldSet::of_fields(if subresource == "status" { &["spec"] } else { &["status"] });
        let manager = self.query("fieldManager").unwrap_or("conformance");
        let now = self.now();
        body(&Write { kind, nature: &nature, api_version, subresource, manager, reset: &reset, now: &now })
    }

    fn apply_to(&self, live: Option<&Value>) -> Result<Applied, gantry_primitives::Refusal> {
        let on_conflict =
            if self.query("force") == Some("true") { OnConflict::Force } else { OnConflict::Refuse };
        let statement = match &self.value["send"] {
            Value::String(yaml) => decode::plain(yaml.as_bytes(), decode::Format::Yaml).unwrap().0,
            json => json.clone(),
        };
        self.write(|write| apply(live, &statement, write, on_conflict))
    }
}

impl Replay {
    fn play(case: &str) {
        Self::default().all(case);
    }

    fn all(mut self, case: &str) {
        for exchange in recorded(case) {
            let case = format!("{case} {}", exchange.at);
            match exchange.request().split(' ').next() {
                Some("GET") if exchange.value["status"] == 200 => {
                    let live = self.live.as_ref().unwrap();
                    self.compare_entries(&case, live, &exchange.value["body"]);
                }
                Some("GET") => assert_eq!(self.live, None, "{case}"),
                _ if exchange.is_apply() => self.applied(&case, &exchange),
                _ => self.written(&case, &exchange),
            }
        }
    }

    fn applied(&mut self, case: &str, exchange: &Exchange) {
        let body = &exchange.value["body"];
        let applied = match exchange.apply_to(self.live.as_ref()) {
            Ok(applied) => applied,
            Err(refusal) => return assert_eq!(refusal.status(), *body, "{case}"),
        };
        assert!(exchange.value["status"].as_u64().unwrap() < 300, "{case}: {body}");
        let mut next = applied.object;
        if body.get("metadata").is_some() {
            self.compare_entries(case, &next, body);
            contained(case, &next, body);
            if exchange.path().contains("configmaps") {
                contained(case, &without_what_servers_set(body), &next);
            }
            let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
            let before = self.live.as_ref().map(version);
            let stays = before.is_some_and(|before| before == version(body));
            if exchange.query("dryRun").is_none() {
                assert_eq!(applied.change == Change::Nothing, stays, "{case}: {:?}", applied.change);
            }
            let record = next["metadata"]["managedFields"].take();
            next = seed(body, &record);
        } else {
            // Only a list was recorded, for its order.
            contained(case, body, &picked(&next, body));
        }
        if exchange.query("dryRun").is_none() {
            self.live = Some(next);
        }
    }

    /// Replays another write: the response is the object that was decoded, patched and defaulted.
    fn written(&mut self, case: &str, exchange: &Exchange) {
        let (sent, body) = (&exchange.value["send"], &exchange.value["body"]);
        let by_hand = sent.pointer("/metadata/managedFields").or_else(|| {
            (sent.pointer("/0/path") == Some(&json!("/metadata/managedFields"))).then(|| &sent[0]["value"])
        });
        let record = by_hand.or_else(|| self.live.as_ref()?.pointer("/metadata/managedFields"));
        let mut new = seed(body, record.unwrap_or(&Value::Null));
        exchange.write(|write| track_update(self.live.as_ref(), &mut new, write));
        self.compare_entries(case, &new, body);
        self.live = Some(new);
    }

    fn compare_entries(&self, case: &str, ours: &Value, theirs: &Value) {
        let entries = |object: &Value| {
            let mut entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
            for entry in &mut entries {
                if entry["time"].as_str().is_some_and(|time| time.starts_with("2026")) {
                    entry["time"] = json!("<time>");
                } else if entry["time"].is_null() {
                    entry.as_object_mut().unwrap().remove("time");
                }
            }
            if !self.ordered {
                entries.sort_by_key(ToString::to_string);
            }
            entries
        };
        let (ours, theirs) = (entries(ours), entries(theirs));
        assert_eq!(ours, theirs, "{case}: {:#?}\n{:#?}", json!(ours), json!(theirs));
    }
}

/// The recorded object without masked values, and with these managed fields.
fn seed(body: &Value, record: &Value) -> Value {
    let mut object = body.clone();
    if object["status"] == "<hidden>" {
        object.as_object_mut().unwrap().remove("status");
    }
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.remove("managedFields");
    if !record.is_null() {
        metadata.insert("managedFields".to_owned(), record.clone());
    }
    object
}

fn without_what_servers_set(body: &Value) -> Value {
    let mut object = body.clone();
    let metadata = object["metadata"].as_object_mut().unwrap();
    for field in ["uid", "resourceVersion", "creationTimestamp", "namespace", "generation", "managedFields"] {
        metadata.remove(field);
    }
    object
}

/// Asserts that every value of the smaller is in the larger, and that lists have the same length.
fn contained(case: &str, small: &Value, large: &Value) {
    match (small, large) {
        (Value::Object(small), Value::Object(large)) => {
            let not_ours = ["managedFields", "resourceVersion", "generation"];
            for (key, value) in small.iter().filter(|(key, _)| !not_ours.contains(&key.as_str())) {
                let found = large.get(key).unwrap_or(&Value::Null);
                contained(&format!("{case}.{key}"), value, found);
            }
        }
        (Value::Array(small), Value::Array(large)) => {
            assert_eq!(small.len(), large.len(), "{case}: {small:?} {large:?}");
            small.iter().zip(large).for_each(|(small, large)| contained(case, small, large));
        }
        (Value::Object(small), Value::Null) if small.is_empty() => {}
        (_, Value::String(hidden)) if hidden == "<hidden>" => {}
        _ => assert_eq!(small, large, "{case}"),
    }
}

/// The part of a Deployment that was recorded: names of containers, ports or resources.
fn picked(object: &Value, like: &Value) -> Value {
    let containers = &object["spec"]["template"]["spec"]["containers"];
    match like.as_array().and_then(|list| list.first()) {
        Some(Value::String(_)) => {
            containers.as_array().unwrap().iter().map(|container| container["name"].clone()).collect()
        }
        Some(_) => containers[0]["ports"].clone(),
        None => containers[0]["resources"].clone(),
    }
}

/// A3.22, A3.24, A3.26: an applier owns the fields that it applies, and removes those that it no longer applies.
#[test]
fn applying_owns_changes_and_removes_fields() {
    for case in
        ["create", "create_deployment", "update", "remove_by_omission", "remove_falls_back_to_default"]
    {
        Replay::play(case);
    }
}

/// A3.16: an object without tracked fields has no entries.
#[test]
fn an_object_without_tracked_fields_has_no_entries() {
    Replay::play("nothing_to_own");
}

/// A3.23: conflicts are reported by manager and path; A3.22: force takes over, and equal values are shared.
#[test]
fn conflicts_are_reported_forced_or_shared() {
    for case in ["conflict", "conflict_several", "conflict_with_update", "force", "shared", "dry_run"] {
        Replay::play(case);
    }
}

/// A3.22 and Appendix B: lists by name, by two keys, sets, atomics, and maps by key.
#[test]
fn lists_maps_and_atomics_merge_by_the_schema() {
    for case in ["list_by_name", "list_of_ports", "list_set", "atomic", "resources_granular"] {
        Replay::play(case);
    }
}

/// A3.15: updaters own the fields that they change, and other managers lose them.
#[test]
fn updates_own_the_fields_that_they_change() {
    for case in [
        "ownership_of_updates",
        "ownership_of_deployment_lists",
        "update_takes_ownership",
        "update_removes_ownership",
    ] {
        Replay::play(case);
    }
}

/// A3.16, A3.24: a write to `/status` has its own entry and does not own the spec.
#[test]
fn status_is_applied_separately() {
    Replay::play("status");
}

/// A3.17: entries are sorted by operation, then by time.
#[test]
fn entries_are_in_order() {
    Replay { ordered: true, ..Replay::default() }.all("order_of_entries");
}

/// A3.18, A3.20: clients may write managed fields; without any the first apply conflicts with `before-first-apply`.
#[test]
fn managed_fields_can_be_written_by_clients() {
    Replay::play("managed_fields_by_hand");
}

/// A3.25: kubectl has no conflicts with its own client-side apply, and the annotation is updated.
#[test]
fn kubectl_migrates_from_client_side_apply() {
    Replay::play("after_client_side_apply");
}

/// A3.20: an applied resource version is merged into the object, so that the following update can check it.
#[test]
fn an_applied_resource_version_is_passed_on() {
    let exchanges = recorded("optimistic");
    let first = exchanges[0].apply_to(None).unwrap();
    let live = seed(&exchanges[0].value["body"], &first.object["metadata"]["managedFields"]);
    let second = exchanges[1].apply_to(Some(&live)).unwrap();
    assert_eq!(second.object["metadata"]["resourceVersion"], "rv1");
    assert_eq!(second.object["data"]["k"], "2");
    let third = exchanges[2].apply_to(Some(&seed(&exchanges[1].value["body"], &Value::Null)));
    let stale = third.unwrap_err();
    assert_eq!(stale.reason.code(), 409, "owned by before-first-apply: {stale}");
}

/// A3.20, A3.21: wrong kinds, applied managed fields, undeclared fields, duplicate keys, wrong types.
#[test]
fn invalid_apply_configurations_are_refused() {
    let ours = [("refusals", &[1, 2, 3, 4, 8, 9][..]), ("invalid", &[3][..])];
    for (case, places) in ours {
        let exchanges = recorded(case);
        for at in places {
            let exchange = &exchanges[*at];
            let refusal = exchange.apply_to(None).unwrap_err();
            assert_eq!(refusal.status(), exchange.value["body"], "{case} {at}");
        }
    }
    let list = recorded("refusals")[7].apply_to(None).unwrap_err();
    assert!(list.message.starts_with("error decoding patch: error unmarshaling JSON: "), "{list}");
    assert_eq!(list.reason.code(), 400);
}

/// A3.17: the oldest of more than ten updaters are merged.
#[test]
fn the_oldest_of_too_many_writers_are_merged() {
    let exchange = &recorded("too_many_updaters")[0];
    let mut live: Option<Value> = None;
    for writer in 0..12 {
        let mut new = live.clone().unwrap_or_else(|| json!({"metadata": {"name": "a"}, "data": {}}));
        new["data"][format!("k{writer:02}")] = json!("1");
        let (manager, now) = (format!("w{writer:02}"), format!("2026-01-01T00:00:{writer:02}Z"));
        exchange.write(|write| {
            track_update(live.as_ref(), &mut new, &Write { manager: &manager, now: &now, ..*write });
        });
        live = Some(new);
    }
    let replay = Replay { ordered: true, live: None };
    replay.compare_entries("too many", &live.unwrap(), &exchange.value["body"]);
}

/// A3.18, A3.24: replicas written through `/scale` are owned in the parent, with the subresource and without a time.
#[test]
fn scaling_is_recorded_on_the_parent() {
    let exchanges = recorded("scale");
    let stored = &exchanges[3].value["body"];
    let mut parent = seed(stored, &Value::Null);
    parent["spec"]["replicas"] = json!(1);
    exchanges[0].write(|write| track_update(None, &mut parent, write));
    let owners = ManagedFields::of(&parent);
    let mut scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "db"}, "spec": {"replicas": 1}});
    ReplicasField::Usual.to_scale(&owners).store(&mut scale);

    let refusal = exchanges[1].apply_to(Some(&scale)).unwrap_err();
    assert_eq!(refusal.status(), exchanges[1].value["body"]);
    let forced = exchanges[2].apply_to(Some(&scale)).unwrap();
    assert_eq!(forced.object["spec"]["replicas"], 3);
    ReplicasField::Usual.to_parent(&owners, &ManagedFields::of(&forced.object), "apps/v1").store(&mut parent);
    Replay::default().compare_entries("scale", &parent, stored);
}

/// A3.18: writes to `/status` and to `/scale` have their own entries, beside the first entry of the writer.
#[test]
fn subresource_writes_have_separate_entries() {
    let exchanges = recorded("ownership_of_status_and_scale");
    let stored = &exchanges[3].value["body"];
    let mut parent = seed(stored, &Value::Null);
    (parent["spec"]["replicas"], parent["status"]["replicas"]) = (json!(1), json!(0));
    exchanges[0].write(|write| track_update(None, &mut parent, write));

    let mut reported = parent.clone();
    reported["status"]["replicas"] = json!(1);
    exchanges[1].write(|write| track_update(Some(&parent), &mut reported, write));
    let picked = json!({"metadata": exchanges[1].value["body"]});
    Replay::default().compare_entries("status", &reported, &picked);

    let owners = ManagedFields::of(&reported);
    let mut scale = json!({"metadata": {"name": "db"}, "spec": {"replicas": 1}});
    ReplicasField::Usual.to_scale(&owners).store(&mut scale);
    let mut scaled = scale.clone();
    scaled["spec"]["replicas"] = json!(3);
    exchanges[2].write(|write| track_update(Some(&scale), &mut scaled, write));
    ReplicasField::Usual.to_parent(&owners, &ManagedFields::of(&scaled), "apps/v1").store(&mut reported);
    Replay::default().compare_entries("scale", &reported, stored);
}
