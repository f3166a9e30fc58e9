//! The elements of a path: a field, an element by its keys, a value, an index.

use std::fmt::{self, Write as _};

use gantry_json::{SmolStr, Value};

/// An element of a path. Paths are reported in this order: fields, keys, values, indices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathElement {
    /// A field of an object, or a key of a map.
    Field(SmolStr),
    /// An element of a list by the values of its keys; sorted by key.
    Key(Box<[(SmolStr, Scalar)]>),
    /// An element of a set by its value.
    Value(Scalar),
    /// An element of a list by its index.
    Index(u64),
}

/// A value in a path; numbers are in numerical order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar {
    /// An integer.
    Int(i64),
    /// A string.
    Text(SmolStr),
    /// `true` or `false`.
    Bool(bool),
    /// Anything else, as JSON.
    Other(Box<str>),
}

/// A path element that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl PathElement {
    /// A field of this name.
    pub fn field(name: &str) -> Self {
        Self::Field(name.into())
    }

    /// The element with these keys, in any order.
    pub fn key(fields: impl IntoIterator<Item = (SmolStr, Scalar)>) -> Self {
        let mut fields: Vec<_> = fields.into_iter().collect();
        fields.sort();
        Self::Key(fields.into())
    }

    /// The element in `fieldsV1`: `f:name`, `k:{"name":"c"}`, `v:"x"`, `i:0`.
    pub fn encode(&self) -> SmolStr {
        match self {
            Self::Field(name) => ["f:", name].into_iter().collect(),
            Self::Key(fields) => {
                let mut text = String::from("k:{");
                for (index, (name, value)) in fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    // Writing to a string cannot fail.
                    let _ = write!(text, "{comma}{}:{value}", quoted(name));
                }
                text.push('}');
                text.into()
            }
            Self::Value(value) => format!("v:{value}").into(),
            Self::Index(index) => format!("i:{index}").into(),
        }
    }

    /// Decodes an element of `fieldsV1`; `None` for unknown prefixes of future versions.
    pub fn decode(text: &str) -> Result<Option<Self>, Malformed> {
        let malformed = |problem: &str| Malformed(format!("{problem}: {text}"));
        let Some((prefix, rest)) = text.split_once(':') else { return Ok(None) };
        Ok(Some(match prefix {
            "f" => Self::field(rest),
            "v" => {
                let value: Value = gantry_json::from_str(rest).map_err(|_| malformed("no JSON value"))?;
                Self::Value(Scalar::of(&value))
            }
            "i" => Self::Index(rest.parse().map_err(|_| malformed("no index"))?),
            "k" => match gantry_json::from_str(rest) {
                Ok(Value::Object(fields)) => {
                    Self::key(fields.iter().map(|(name, value)| (name.clone(), Scalar::of(value))))
                }
                _ => return Err(malformed("no JSON object")),
            },
            _ => return Ok(None),
        }))
    }
}

impl Scalar {
    /// Converts a JSON value.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text.clone()),
            Value::Bool(yes) => Self::Bool(*yes),
            Value::Number(number) => match number.as_i64() {
                Some(number) => Self::Int(number),
                None => Self::Other(value.to_string().into()),
            },
            other => Self::Other(other.to_string().into()),
        }
    }
}

/// The element in conflicts: `.name`, `[name="c"]`, `[="x"]`, `[0]`.
impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                f.write_str("[")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma}{name}={value}")?;
                }
                f.write_str("]")
            }
            Self::Value(value) => write!(f, "[={value}]"),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// As JSON; an object is its members as `name=value`, without braces or separators.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Bool(yes) => write!(f, "{yes}"),
            Self::Other(json) => match gantry_json::from_str(json) {
                Ok(value @ (Value::Object(_) | Value::Array(_))) => f.write_str(&structure(&value)),
                _ => f.write_str(json),
            },
        }
    }
}

fn structure(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let shown = members.iter().map(|(name, value)| [name.as_str(), "=", &structure(value)].concat());
            shown.collect()
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(structure).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    gantry_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// A3.14: keys are sorted, and their values keep their types.
    #[test]
    fn an_element_is_written_with_sorted_typed_keys() {
        let port = PathElement::key([
            ("protocol".into(), Scalar::Text("TCP".into())),
            ("containerPort".into(), Scalar::Int(80)),
        ]);
        assert_eq!(port.encode(), r#"k:{"containerPort":80,"protocol":"TCP"}"#);
        assert_eq!(port.to_string(), r#"[containerPort=80,protocol="TCP"]"#);
        assert_eq!(PathElement::decode(r#"k:{"protocol":"TCP","containerPort":80}"#), Ok(Some(port)));
        let finalizer = PathElement::Value(Scalar::Text("example.com/f".into()));
        assert_eq!(finalizer.encode(), r#"v:"example.com/f""#);
    }

    #[test]
    fn an_object_in_place_of_a_key_is_shown_as_its_members() {
        let shown = |json: Value| PathElement::key([("name".into(), Scalar::of(&json))]).to_string();
        assert_eq!(shown(json!({})), "[name=]");
        assert_eq!(shown(json!({"b": {"c": "x"}})), r#"[name=b=c="x"]"#);
        assert_eq!(shown(json!([1, "x", {"c": "x"}, null, true])), r#"[name=[1,"x",c="x",null,true]]"#);
    }

    #[test]
    fn invalid_elements_are_errors_and_unknown_ones_are_ignored() {
        assert!(PathElement::decode("k:[1]").is_err());
        assert!(PathElement::decode("k:{").is_err());
        assert!(PathElement::decode("v:").is_err());
        assert!(PathElement::decode("i:-1").is_err());
        assert_eq!(PathElement::decode("x:y"), Ok(None));
        assert_eq!(PathElement::decode("plain"), Ok(None));
    }
}
