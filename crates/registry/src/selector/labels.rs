//! Label selectors: `app in (web, db), tier != 1, !canary`.
//!
//! Strings and objects parse to the same value, which prints in a canonical form: requirements by key, values sorted.

use std::collections::BTreeSet;

use gantry_json::Value;

use super::tokens::{Token, Tokens};
use super::wording::{key_error, value_error};
use crate::{FieldError, Refusal};

/// Requirements on labels; without any, everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

/// A requirement on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operator {
    Equal(String),
    /// Like the other negative forms, matches an absent label, too.
    NotEqual(String),
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Present,
    Absent,
    Above(i64),
    Below(i64),
}

impl LabelSelector {
    /// Parses a `labelSelector` parameter.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        read(&mut Tokens::of(text)).map(Self::by_key).map_err(Refusal::bad_request)
    }

    /// Parses a `LabelSelector` object.
    pub fn from_object(selector: &Value) -> Result<Self, FieldError> {
        let mut requirements = equalities(&selector["matchLabels"]).collect::<Result<Vec<_>, _>>()?;
        for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
            requirements.push(from_expression(expression)?);
        }
        Ok(Self::by_key(requirements))
    }

    /// Parses a map of labels, as Services and ReplicationControllers have.
    pub fn from_labels(labels: &Value) -> Result<Self, FieldError> {
        equalities(labels).collect::<Result<_, _>>().map(Self::by_key)
    }

    /// Whether an object matches.
    pub fn matches(&self, object: &Value) -> bool {
        self.requirements.is_empty() || self.matches_labels(&object["metadata"]["labels"])
    }

    /// Whether these labels, a map or null, match.
    pub fn matches_labels(&self, labels: &Value) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.operator.allows(labels[&requirement.key].as_str()))
    }

    /// Whether every object matches.
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Sorts by key; the sort is stable.
    fn by_key(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|one, other| one.key.cmp(&other.key));
        Self { requirements }
    }
}

impl Requirement {
    fn new(key: &str, operator: Operator) -> Self {
        Self { key: key.to_owned(), operator }
    }
}

impl Operator {
    fn allows(&self, label: Option<&str>) -> bool {
        let number = || label.and_then(|text| text.parse::<i64>().ok());
        match self {
            Operator::Equal(value) => label == Some(value),
            Operator::NotEqual(value) => label != Some(value),
            Operator::In(values) => label.is_some_and(|text| values.contains(text)),
            Operator::NotIn(values) => !label.is_some_and(|text| values.contains(text)),
            Operator::Present => label.is_some(),
            Operator::Absent => label.is_none(),
            Operator::Above(bound) => number().is_some_and(|number| number > *bound),
            Operator::Below(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

fn read(tokens: &mut Tokens<'_>) -> Result<Vec<Requirement>, String> {
    let mut requirements = Vec::new();
    match tokens.peek() {
        Token::End => return Ok(requirements),
        Token::Word(_) | Token::Sign("!") => {}
        Token::Sign(sign) => {
            return Err(format!("found '{sign}', expected: !, identifier, or 'end of string'"));
        }
    }
    loop {
        let requirement =
            read_requirement(tokens).map_err(|wrong| format!("unable to parse requirement: {wrong}"))?;
        requirements.push(requirement);
        match tokens.take() {
            Token::End => return Ok(requirements),
            Token::Sign(",") => {}
            other => return Err(format!("found '{}', expected: ',' or 'end of string'", other.text())),
        }
        match tokens.peek() {
            Token::Word(_) | Token::Sign("!") => {}
            other => return Err(format!("found '{}', expected: identifier after ','", other.text())),
        }
    }
}

fn read_requirement(tokens: &mut Tokens<'_>) -> Result<Requirement, String> {
    let absent = tokens.peek() == Token::Sign("!");
    if absent {
        tokens.take();
    }
    let key = match tokens.take() {
        Token::Word(key) => key,
        other => return Err(format!("found '{}', expected: identifier", other.text())),
    };
    if let Some(why) = key_error(key) {
        // Kubernetes has no field path here.
        return Err(FieldError::invalid("<nil>", &Value::from(key), why).to_string());
    }
    let operator = match tokens.peek() {
        _ if absent => Operator::Absent,
        Token::End | Token::Sign(",") => Operator::Present,
        _ => read_operator(key, tokens)?,
    };
    Ok(Requirement::new(key, operator))
}

fn read_operator(key: &str, tokens: &mut Tokens<'_>) -> Result<Operator, String> {
    let operator = tokens.take();
    let operator = match operator.text() {
        "in" => Operator::In(read_values(tokens)?),
        "notin" => Operator::NotIn(read_values(tokens)?),
        "=" | "==" => Operator::Equal(read_value(tokens)?.to_owned()),
        "!=" => Operator::NotEqual(read_value(tokens)?.to_owned()),
        ">" => return bound(key, read_value(tokens)?).map(Operator::Above),
        "<" => return bound(key, read_value(tokens)?).map(Operator::Below),
        other => return Err(format!("found '{other}', expected: in, notin, =, ==, !=, gt, lt")),
    };
    match &operator {
        Operator::In(values) | Operator::NotIn(values) => check(key, values.iter().map(String::as_str))?,
        Operator::Equal(value) | Operator::NotEqual(value) => check(key, std::iter::once(value.as_str()))?,
        _ => {}
    }
    Ok(operator)
}

/// Parses a value, which may be empty.
fn read_value<'t>(tokens: &mut Tokens<'t>) -> Result<&'t str, String> {
    if matches!(tokens.peek(), Token::End | Token::Sign(",")) {
        return Ok("");
    }
    match tokens.take() {
        Token::Word(value) => Ok(value),
        other => Err(format!("found '{}', expected: identifier", other.text())),
    }
}

/// Parses a list in parentheses; missing values are empty.
fn read_values(tokens: &mut Tokens<'_>) -> Result<BTreeSet<String>, String> {
    match tokens.take() {
        Token::Sign("(") => {}
        other => return Err(format!("found '{}' expected: '('", other.text())),
    }
    match tokens.peek() {
        Token::Word(_) | Token::Sign("," | ")") => {}
        other => return Err(format!("found '{}', expected: ',', ')' or identifier", other.text())),
    }
    let mut values = BTreeSet::new();
    let mut after_value = false;
    loop {
        match tokens.take() {
            Token::Word(value) if !after_value => {
                values.insert(value.to_owned());
                after_value = true;
            }
            Token::Sign(sign @ ("," | ")")) => {
                if !after_value {
                    values.insert(String::new());
                }
                if sign == ")" {
                    return Ok(values);
                }
                after_value = false;
            }
            other if after_value => return Err(format!("found '{}', expected: ',' or ')'", other.text())),
            other => return Err(format!("found '{}', expected: ',', or identifier", other.text())),
        }
    }
}

fn bound(key: &str, value: &str) -> Result<i64, String> {
    let number = value.parse::<i64>().map_err(|_| {
        let why = "for 'Gt', 'Lt' operators, the value must be an integer";
        FieldError::invalid("values[0]", &Value::from(value), why).to_string()
    });
    match (number, check(key, std::iter::once(value))) {
        (Ok(number), Ok(())) => Ok(number),
        (Err(wrong), Ok(())) | (Ok(_), Err(wrong)) => Err(wrong),
        (Err(one), Err(other)) => Err(format!("[{one}, {other}]")),
    }
}

fn check<'v>(key: &str, values: impl Iterator<Item = &'v str>) -> Result<(), String> {
    let wrong: Vec<_> = values
        .enumerate()
        .filter_map(|(index, value)| {
            let why = value_error(value)?;
            let field = format!("values[{index}][{key}]");
            Some(FieldError::invalid(field, &Value::from(value), why).to_string())
        })
        .collect();
    match wrong.as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}

fn equalities(labels: &Value) -> impl Iterator<Item = Result<Requirement, FieldError>> {
    let pairs = labels.as_object().into_iter().flatten();
    pairs.map(|(key, value)| {
        valid_key(key)?;
        let text = valid_value(value)?;
        Ok(Requirement::new(key, Operator::Equal(text.to_owned())))
    })
}

fn from_expression(expression: &Value) -> Result<Requirement, FieldError> {
    let key = expression["key"].as_str().unwrap_or("");
    valid_key(key)?;
    let values = || {
        let listed = expression["values"].as_array().map_or(&[][..], Vec::as_slice);
        listed.iter().map(|value| valid_value(value).map(str::to_owned)).collect::<Result<BTreeSet<_>, _>>()
    };
    let some = |values: BTreeSet<String>| {
        let why = "for 'in', 'notin' operators, values set can't be empty";
        let none = || FieldError::invalid("values", &Value::Array(Vec::new()), why);
        if values.is_empty() { Err(none()) } else { Ok(values) }
    };
    let operator = match expression["operator"].as_str().unwrap_or("") {
        "In" => Operator::In(some(values()?)?),
        "NotIn" => Operator::NotIn(some(values()?)?),
        "Exists" => Operator::Present,
        "DoesNotExist" => Operator::Absent,
        other => {
            return Err(FieldError::invalid(
                "operator",
                &Value::from(other),
                "not a valid selector operator",
            ));
        }
    };
    Ok(Requirement::new(key, operator))
}

fn valid_key(key: &str) -> Result<(), FieldError> {
    key_error(key).map_or(Ok(()), |why| Err(FieldError::invalid("key", &Value::from(key), why)))
}

fn valid_value(value: &Value) -> Result<&str, FieldError> {
    let text = value.as_str().ok_or_else(|| FieldError::invalid("values", value, "must be a string"))?;
    value_error(text).map_or(Ok(text), |why| Err(FieldError::invalid("values", value, why)))
}

impl std::fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            f.write_str(if index > 0 { "," } else { "" })?;
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = &self.key;
        let list =
            |values: &BTreeSet<String>| values.iter().map(String::as_str).collect::<Vec<_>>().join(",");
        match &self.operator {
            Operator::Equal(value) => write!(f, "{key}={value}"),
            Operator::NotEqual(value) => write!(f, "{key}!={value}"),
            Operator::In(values) => write!(f, "{key} in ({})", list(values)),
            Operator::NotIn(values) => write!(f, "{key} notin ({})", list(values)),
            Operator::Present => f.write_str(key),
            Operator::Absent => write!(f, "!{key}"),
            Operator::Above(bound) => write!(f, "{key}>{bound}"),
            Operator::Below(bound) => write!(f, "{key}<{bound}"),
        }
    }
}
