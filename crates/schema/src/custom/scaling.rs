//! The subresource `scale` of a custom kind: the paths of replicas and selector.

use std::collections::BTreeMap;

use gantry_json::{Value, json};

use super::FieldPath;
use super::paths::TypeMismatch;
use gantry_primitives::{FieldError, Refusal};

/// The paths of the subresource `scale` in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaling {
    spec_replicas: FieldPath,
    status_replicas: FieldPath,
    selector: Option<FieldPath>,
}

/// The replicas of a Scale whose parent has none: a write must set them.
const NONE_YET: i64 = i32::MIN as i64;

impl Scaling {
    /// Reads the `subresources.scale` of a version, if it has one.
    pub fn read(version: &Value) -> Option<Self> {
        let scale = version["subresources"]["scale"].as_object()?;
        let path = |name: &str| scale.get(name).and_then(Value::as_str).map(FieldPath::read);
        Some(Self {
            spec_replicas: path("specReplicasPath")?,
            status_replicas: path("statusReplicasPath")?,
            selector: path("labelSelectorPath"),
        })
    }

    /// The path of the replicas in every served version; `None` in versions without a scale.
    ///
    /// The keys are the `apiVersion` of objects: `example.com/v1`.
    pub fn replicas_by_version(definition: &Value) -> BTreeMap<String, Option<FieldPath>> {
        let spec = &definition["spec"];
        let group = spec["group"].as_str().unwrap_or("");
        let versions = spec["versions"].as_array().into_iter().flatten();
        let of_version = |version: &Value| {
            let name = version["name"].as_str()?;
            Some((format!("{group}/{name}"), Self::read(version).map(|scaling| scaling.spec_replicas)))
        };
        versions.filter_map(of_version).collect()
    }

    /// The path of the desired replicas.
    pub fn replicas(&self) -> &FieldPath {
        &self.spec_replicas
    }

    /// The Scale of an object, which must have desired replicas.
    pub fn scale_of(&self, object: &Value) -> Result<Value, Refusal> {
        match self.spec_replicas.integer(object).map_err(server_error)? {
            Some(replicas) => self.shown(object, replicas),
            None => Err(Refusal::internal(format!(
                "the spec replicas field \"{}\" does not exist",
                self.spec_replicas
            ))),
        }
    }

    /// The Scale of an object before a write; the object need not have desired replicas if the write sets them.
    pub fn scale_to_change(&self, object: &Value) -> Result<Value, Refusal> {
        let replicas = self.spec_replicas.integer(object).map_err(server_error)?;
        self.shown(object, replicas.unwrap_or(NONE_YET))
    }

    /// Applies a Scale to an object. Called before the Scale is validated: a Scale without replicas has its own error.
    pub fn resize(&self, object: &mut Value, scale: &Value) -> Result<(), Refusal> {
        let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
        if replicas == NONE_YET {
            let path = &self.spec_replicas;
            return Err(Refusal::bad_request(format!("the spec replicas field \"{path}\" cannot be empty")));
        }
        self.spec_replicas.set(object, json!(replicas)).map_err(server_error)
    }

    /// Validates the replicas in spec and status, for every write except to the status.
    pub fn wrong(&self, object: &Value) -> Vec<FieldError> {
        [self.wrong_spec(object), self.wrong_status(object)].concat()
    }

    fn wrong_spec(&self, object: &Value) -> Vec<FieldError> {
        wrong_replicas(&self.spec_replicas, object).into_iter().collect()
    }

    /// Validates the replicas and the selector in the status, for every write.
    pub fn wrong_status(&self, object: &Value) -> Vec<FieldError> {
        let selector = self.selector.as_ref().and_then(|path| {
            let mismatch = path.text(object).err()?;
            Some(FieldError::invalid(path.to_string(), &Value::from(""), mismatch.to_string()))
        });
        wrong_replicas(&self.status_replicas, object).into_iter().chain(selector).collect()
    }

    fn shown(&self, object: &Value, replicas: i64) -> Result<Value, Refusal> {
        let reported = self.status_replicas.integer(object).map_err(server_error)?.unwrap_or(0);
        let selector = self.selector.as_ref().map_or(Ok(None), |path| path.text(object));
        let selector = selector.map_err(server_error)?.filter(|selector| !selector.is_empty());
        let mut scale = json!({
            "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {}, "spec": {},
            "status": {"replicas": reported},
        });
        for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
            if let Some(value) = object["metadata"].get(field) {
                scale["metadata"][field] = value.clone();
            }
        }
        if replicas != 0 {
            scale["spec"]["replicas"] = json!(replicas);
        }
        if let Some(selector) = selector {
            scale["status"]["selector"] = json!(selector);
        }
        Ok(scale)
    }
}

fn wrong_replicas(path: &FieldPath, object: &Value) -> Option<FieldError> {
    let most = i64::from(i32::MAX);
    let (value, why) = match path.integer(object) {
        Err(mismatch) => (0, mismatch.to_string()),
        Ok(Some(replicas)) if replicas < 0 => (replicas, "should be a non-negative integer".to_owned()),
        Ok(Some(replicas)) if replicas > most => {
            (replicas, format!("should be less than or equal to {most}"))
        }
        Ok(_) => return None,
    };
    Some(FieldError::invalid(path.to_string(), &json!(value), why))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn server_error(mismatch: TypeMismatch) -> Refusal {
    Refusal::server_error(mismatch.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(selector: Option<&str>) -> Value {
        let mut version = json!({"name": "v1", "subresources": {"scale": {
            "specReplicasPath": ".spec.size.wanted", "statusReplicasPath": ".status.size",
        }}});
        if let Some(selector) = selector {
            version["subresources"]["scale"]["labelSelectorPath"] = json!(selector);
        }
        version
    }

    fn scaling() -> Scaling {
        Scaling::read(&version(Some(".status.selector"))).unwrap()
    }

    /// Appendix E: a Scale has the values at the paths of the definition.
    #[test]
    fn a_scale_has_the_values_at_its_paths() {
        let object = json!({
            "kind": "Web", "metadata": {"name": "a", "namespace": "n", "uid": "u", "labels": {"x": "y"}},
            "spec": {"size": {"wanted": 3}}, "status": {"size": 2, "selector": "app=a"},
        });
        let scale = json!({
            "kind": "Scale", "apiVersion": "autoscaling/v1",
            "metadata": {"name": "a", "namespace": "n", "uid": "u"},
            "spec": {"replicas": 3}, "status": {"replicas": 2, "selector": "app=a"},
        });
        assert_eq!(scaling().scale_of(&object), Ok(scale.clone()));
        assert_eq!(scaling().scale_to_change(&object), Ok(scale));
        let without = Scaling::read(&version(None)).unwrap().scale_of(&object).unwrap();
        assert_eq!(without["status"], json!({"replicas": 2}));
        let nothing = scaling().scale_of(&json!({"spec": {"size": {"wanted": 0}}})).unwrap();
        assert_eq!((&nothing["spec"], &nothing["status"]), (&json!({}), &json!({"replicas": 0})));
        for version in [json!({}), json!({"subresources": {"status": {}}})] {
            assert_eq!(Scaling::read(&version), None);
        }
    }

    /// Appendix E: an object whose fields have other types has no Scale.
    #[test]
    fn an_object_that_does_not_fit_has_no_scale() {
        let missing = "Internal error occurred: the spec replicas field \".spec.size.wanted\" does not exist";
        let cases = [
            (json!({}), "InternalError", missing),
            (json!({"spec": {"size": null}}), "InternalError", missing),
            (
                json!({"spec": {"size": {"wanted": "3"}}}),
                "",
                ".spec.size.wanted accessor error: 3 is of the type string, expected int64",
            ),
            (
                json!({"spec": {"size": 3}}),
                "",
                ".spec.size.wanted accessor error: 3 is of the type int64, expected map[string]interface{}",
            ),
            (
                json!({"spec": {"size": {"wanted": 1}}, "status": {"selector": {"a": "b"}}}),
                "",
                ".status.selector accessor error: map[a:b] is of the type map[string]interface {}, expected \
                 string",
            ),
        ];
        for (object, reason, message) in cases {
            let refusal = scaling().scale_of(&object).unwrap_err();
            assert_eq!(
                (refusal.reason.code(), refusal.reason.name(), refusal.message.as_str()),
                (500, reason, message)
            );
        }
    }

    /// Appendix E: a changed Scale sets the replicas at the path of the definition.
    #[test]
    fn a_changed_scale_resizes_its_object() {
        let mut object = json!({"metadata": {"name": "a"}, "spec": {"other": 1}});
        let mut scale = scaling().scale_to_change(&object).unwrap();
        assert_eq!(scale["spec"]["replicas"], json!(i32::MIN));
        let empty = scaling().resize(&mut object, &scale).unwrap_err();
        let why = "the spec replicas field \".spec.size.wanted\" cannot be empty";
        assert_eq!((empty.reason.code(), empty.message.as_str()), (400, why));
        scale["spec"]["replicas"] = json!(4);
        scaling().resize(&mut object, &scale).unwrap();
        assert_eq!(object["spec"], json!({"other": 1, "size": {"wanted": 4}}));
        scaling().resize(&mut object, &json!({"spec": {}})).unwrap();
        assert_eq!(object["spec"]["size"]["wanted"], 0);
        let blocked = scaling().resize(&mut json!({"spec": []}), &json!({})).unwrap_err();
        let why = "value cannot be set because .spec is not a map[string]interface{}";
        assert_eq!((blocked.reason.code(), blocked.message.as_str()), (500, why));
    }

    /// Appendix E: each version has its own path of replicas.
    #[test]
    fn each_version_has_its_own_paths() {
        let definition = json!({"spec": {"group": "e.com", "versions": [version(None), {"name": "v2"}]}});
        let paths = Scaling::replicas_by_version(&definition).into_iter();
        let paths: Vec<_> =
            paths.map(|(version, path)| (version, path.map(|path| path.to_string()))).collect();
        let of_v1 = Some(".spec.size.wanted".to_owned());
        assert_eq!(paths, [("e.com/v1".to_owned(), of_v1), ("e.com/v2".to_owned(), None)]);
    }

    /// Appendix E: replicas are integers from 0 to 2147483647.
    #[test]
    fn replicas_are_counts() {
        let messages = |errors: Vec<FieldError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>();
        let spec =
            |wanted: Value| messages(scaling().wrong_spec(&json!({"spec": {"size": {"wanted": wanted}}})));
        assert_eq!(messages(scaling().wrong_spec(&json!({}))), [""; 0]);
        assert_eq!(spec(json!(3)), [""; 0]);
        assert_eq!(
            spec(json!(-1)),
            [".spec.size.wanted: Invalid value: -1: should be a non-negative integer"]
        );
        assert_eq!(
            spec(json!(1_i64 << 31)),
            [".spec.size.wanted: Invalid value: 2147483648: should be less than or equal to 2147483647"]
        );
        assert_eq!(
            messages(scaling().wrong_status(&json!({"status": {"size": "x", "selector": 1}}))),
            [
                ".status.size: Invalid value: 0: .status.size accessor error: x is of the type string, expected int64",
                ".status.selector: Invalid value: \"\": .status.selector accessor error: 1 is of the type int64, \
                 expected string",
            ]
        );
    }
}
