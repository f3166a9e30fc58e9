//! Paths in a definition, such as `.spec.replicas`: property names only, without indices and quotes.

use std::fmt;

use gantry_json::{Map, Value};

use gantry_primitives::go_print::{as_go_prints, type_as_go_prints};

/// The path of a field: the names of the properties on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(Vec<String>);

/// A value on a path has the wrong type; displays Kubernetes' message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMismatch(String);

impl FieldPath {
    /// Parses a path such as `.spec.replicas`; every text is one.
    pub fn read(text: &str) -> Self {
        Self(text.strip_prefix('.').unwrap_or(text).split('.').map(str::to_owned).collect())
    }

    /// The `selectableFields` of a version.
    pub fn selectable(version: &Value) -> Vec<Self> {
        let fields = version["selectableFields"].as_array().into_iter().flatten();
        fields.filter_map(|field| field["jsonPath"].as_str()).map(Self::read).collect()
    }

    /// The path without the first dot, as in field selectors.
    pub fn label(&self) -> String {
        self.0.join(".")
    }

    /// The names of the properties on the path.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The value of the field, if it exists.
    pub fn get<'o>(&self, object: &'o Value) -> Option<&'o Value> {
        self.0.iter().try_fold(object, |value, name| value.get(name))
    }

    /// The integer in the field.
    pub fn integer(&self, object: &Value) -> Result<Option<i64>, TypeMismatch> {
        let Some(value) = self.find(object)? else { return Ok(None) };
        whole(value).map(Some).ok_or_else(|| self.type_mismatch(self.0.len(), value, "int64"))
    }

    /// The string in the field.
    pub fn text<'o>(&self, object: &'o Value) -> Result<Option<&'o str>, TypeMismatch> {
        let Some(value) = self.find(object)? else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| self.type_mismatch(self.0.len(), value, "string"))
    }

    /// Sets the field, and creates missing objects on the path.
    pub fn set(&self, object: &mut Value, value: Value) -> Result<(), TypeMismatch> {
        let mut here = object;
        for (nth, name) in self.0.iter().enumerate() {
            let Value::Object(members) = here else {
                let way = self.up_to(nth);
                return Err(TypeMismatch(format!(
                    "value cannot be set because {way} is not a map[string]interface{{}}"
                )));
            };
            here = members.entry(name.as_str()).or_insert_with(|| Value::Object(Map::new()));
        }
        *here = value;
        Ok(())
    }

    /// Finds the field. A missing or `null` parent is no error; one that is not an object is.
    fn find<'o>(&self, object: &'o Value) -> Result<Option<&'o Value>, TypeMismatch> {
        let mut here = object;
        for (nth, name) in self.0.iter().enumerate() {
            here = match here {
                Value::Null => return Ok(None),
                Value::Object(members) => match members.get(name) {
                    None => return Ok(None),
                    Some(value) => value,
                },
                other => return Err(self.type_mismatch(nth + 1, other, "map[string]interface{}")),
            };
        }
        Ok(Some(here))
    }

    fn type_mismatch(&self, steps: usize, value: &Value, wanted: &str) -> TypeMismatch {
        TypeMismatch(format!(
            "{} accessor error: {} is of the type {}, expected {wanted}",
            self.up_to(steps),
            as_go_prints(value),
            type_as_go_prints(value)
        ))
    }

    fn up_to(&self, steps: usize) -> String {
        format!(".{}", self.0[..steps].join("."))
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.up_to(self.0.len()))
    }
}

impl fmt::Display for TypeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number as an integer, if it has no fraction.
fn whole(value: &Value) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "it is in range, and has no fraction")]
    value.as_i64().or_else(|| {
        value.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 1e15).map(|float| float as i64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// Appendix E: paths of a definition consist of property names.
    #[test]
    fn paths_find_fields() {
        let object = json!({"spec": {"n": 3, "f": 2.0, "text": "x", "none": null, "list": [1]}});
        let integer =
            |path: &str| FieldPath::read(path).integer(&object).map_err(|mismatch| mismatch.to_string());
        let cases = [
            (".spec.n", Ok(Some(3))),
            ("spec.n", Ok(Some(3))),
            (".spec.f", Ok(Some(2))),
            (".spec.nope", Ok(None)),
            (".nope.n", Ok(None)),
            (".spec.none.n", Ok(None)),
            (".spec.text", Err(".spec.text accessor error: x is of the type string, expected int64")),
            (".spec.none", Err(".spec.none accessor error: <nil> is of the type <nil>, expected int64")),
            (
                ".spec.list.n.m",
                Err(".spec.list.n accessor error: [1] is of the type []interface {}, expected \
                     map[string]interface{}"),
            ),
        ];
        for (path, expected) in cases {
            assert_eq!(integer(path), expected.map_err(str::to_owned), "{path}");
        }
        assert_eq!(FieldPath::read(".spec.text").text(&object), Ok(Some("x")));
        assert!(FieldPath::read(".spec.n").text(&object).is_err());
        assert_eq!(FieldPath::read(".spec.a.b").to_string(), ".spec.a.b");
    }

    /// Appendix E: setting a field creates its parents.
    #[test]
    fn paths_set_fields() {
        let set = |mut object: Value| {
            let result = FieldPath::read(".spec.size.n").set(&mut object, json!(5));
            result.map(|()| object).map_err(|mismatch| mismatch.to_string())
        };
        assert_eq!(set(json!({})), Ok(json!({"spec": {"size": {"n": 5}}})));
        assert_eq!(
            set(json!({"spec": {"size": {"n": 1, "m": 1}}})),
            Ok(json!({"spec": {"size": {"n": 5, "m": 1}}}))
        );
        let why = "value cannot be set because .spec.size is not a map[string]interface{}";
        for blocked in [json!("x"), json!(null), json!([])] {
            assert_eq!(set(json!({"spec": {"size": blocked}})), Err(why.to_owned()));
        }
    }
}
