//! Validation of a value by its schema, with Kubernetes' order and wording of errors.
//!
//! Errors of alternatives (`oneOf` etc.) have no path: Kubernetes writes `<nil>`. Rules are evaluated last, and only
//! if no error prevents that.

use std::collections::BTreeSet;

use gantry_json::{Map, Value, json};

use super::constraints::{Constraints, Count};
use super::formats::Format;
use super::numbers::{self, Read};
use super::outcome::{NOWHERE, Outcome, each_once, place};
use super::{AdditionalProperties, ListType, SchemaType, StructuralSchema};
use super::{alternatives, evaluation, lists};
use gantry_primitives::Path;
use gantry_primitives::refusal::{FieldError, Wrong};

/// The result of validating an object.
#[derive(Debug, Default, PartialEq)]
pub struct ValidationResult {
    /// The errors.
    pub errors: Vec<FieldError>,
    /// Rules that the object broke before the change too; they become warnings.
    pub ratcheted: Vec<FieldError>,
}

impl StructuralSchema {
    /// Validates the types, formats and limits of a value.
    pub fn validate_values(&self, value: &Value) -> Vec<FieldError> {
        each_once(self.outcome(&Path::root(), value, None).errors)
    }

    /// The same for the status of a changed object, the rest of which did not change.
    ///
    /// In this case Kubernetes validates the status alone, and the paths in its messages start there.
    pub fn validate_changed_status(&self, old: &Value, new: &Value) -> Vec<FieldError> {
        let mut errors = match (self.properties.get("status"), new.get("status")) {
            (Some(declared), Some(status)) => declared.validate_changed_values(&old["status"], status),
            _ => Vec::new(),
        };
        for error in &mut errors {
            error.field = match error.field.as_str() {
                NOWHERE => "status".to_owned(),
                field => format!("status.{field}"),
            };
        }
        errors
    }

    /// The same for a changed value; errors in unchanged parts are ratcheted.
    pub fn validate_changed_values(&self, old: &Value, new: &Value) -> Vec<FieldError> {
        let root = Path::root();
        let outcome = self.outcome(&root, new, None);
        // Usually there are no errors, and the old value does not matter.
        if outcome.errors.is_empty() {
            return outcome.errors;
        }
        each_once(self.outcome(&root, new, Some(old)).errors)
    }

    /// Reports duplicates in lists that are sets or maps.
    pub fn validate_lists(&self, object: &Value) -> Vec<FieldError> {
        lists::validate(self, object)
    }

    /// The same for a changed object; duplicates that it had before are ratcheted.
    pub fn validate_changed_lists(&self, old: &Value, new: &Value) -> Vec<FieldError> {
        let errors = lists::validate(self, new);
        if errors.is_empty() || lists::validate(self, old).is_empty() { errors } else { Vec::new() }
    }

    /// Adds the errors of the rules in the schema to those found before.
    ///
    /// Certain errors keep rules from being evaluated, and Kubernetes reports that.
    pub fn validate_rules(
        &self,
        mut errors: Vec<FieldError>,
        object: &Value,
        old: Option<&Value>,
    ) -> ValidationResult {
        let mut ratcheted = Vec::new();
        if !self.has_rules {
            return ValidationResult { errors, ratcheted };
        }
        let blocks = |error: &FieldError| {
            matches!(
                error.wrong,
                Wrong::NotSupported { .. }
                    | Wrong::Required(_)
                    | Wrong::TooLong { .. }
                    | Wrong::TooMany { .. }
                    | Wrong::TypeInvalid { .. }
            )
        };
        if errors.iter().any(blocks) {
            let why = "some validation rules were not checked because the object was invalid; correct the existing \
                       errors to complete validation";
            errors.push(FieldError::invalid(NOWHERE, &Value::Null, why));
        } else {
            let result = evaluation::validate(self, object, old);
            errors.extend(result.errors);
            ratcheted = result.ratcheted;
        }
        ValidationResult { errors, ratcheted }
    }

    /// Evaluates the rules of a default of this schema; paths in errors start at the default.
    pub fn validate_default_rules(&self, default: &Value, is_resource: bool) -> Vec<FieldError> {
        evaluation::validate_default(self, default, is_resource)
    }

    /// Validates a value; there are no errors if it equals the old value.
    fn outcome(&self, at: &Path<'_>, value: &Value, before: Option<&Value>) -> Outcome {
        let mut outcome = self.unratcheted(at, value, before);
        if !outcome.errors.is_empty() && before == Some(value) {
            outcome.errors.clear();
        }
        outcome
    }

    fn unratcheted(&self, at: &Path<'_>, value: &Value, before: Option<&Value>) -> Outcome {
        let constraints = self.constraints.as_deref().unwrap_or_else(|| Constraints::none());
        let mut outcome = Outcome::default();
        if value.is_null() {
            self.validate_null(&mut outcome, at, constraints);
            return outcome;
        }
        // Kubernetes has a validator for each of these, and counts them.
        if self.schema_type.is_some() || constraints.format.is_some() {
            self.validate_type(&mut outcome, at, value, constraints.format.as_ref());
            outcome.matched += 1;
        }
        outcome.matched += 2;
        outcome
            .merge(alternatives::validate(constraints, at, |schema| schema.unratcheted(at, value, before)));
        match value {
            Value::String(text) => {
                outcome.matched += 1 + usize::from(matches!(constraints.format, Some(Format::Text(..))));
                validate_text(&mut outcome, at, text, constraints);
            }
            Value::Number(number) => {
                outcome.matched += 2;
                let (schema_type, format) = match self.schema_type {
                    Some(SchemaType::Integer | SchemaType::Number) => {
                        (self.schema_type, constraints.format.as_ref())
                    }
                    _ => (None, None),
                };
                numbers::validate(
                    &mut outcome,
                    at,
                    Read::of(number),
                    schema_type,
                    format,
                    &constraints.number,
                );
            }
            Value::Array(elements) => {
                outcome.matched += 2;
                self.validate_elements(&mut outcome, at, elements, before);
                validate_list(&mut outcome, at, elements, constraints);
            }
            Value::Null | Value::Bool(_) | Value::Object(_) => {}
        }
        outcome.matched += 1;
        validate_choice(&mut outcome, at, value, constraints);
        if let Value::Object(members) = value {
            outcome.matched += 1;
            self.validate_members(&mut outcome, at, members, before, constraints);
        }
        outcome.matched += 1;
        outcome
    }

    fn validate_null(&self, outcome: &mut Outcome, at: &Path<'_>, constraints: &Constraints) {
        match self.schema_type {
            Some(schema_type) if !self.nullable => outcome.wrong_type(at, schema_type.name(), "null"),
            _ => outcome.matched += 1,
        }
        validate_choice(outcome, at, &Value::Null, constraints);
    }

    fn validate_type(&self, outcome: &mut Outcome, at: &Path<'_>, value: &Value, format: Option<&Format>) {
        let (is, number_format) = match value {
            Value::Null => ("null", ""),
            Value::Bool(_) => ("boolean", ""),
            Value::String(_) => ("string", ""),
            Value::Array(_) => ("array", ""),
            Value::Object(_) => ("object", ""),
            Value::Number(number) => match Read::of(number) {
                Read::Whole(_) => ("integer", "int64"),
                Read::Real(_) => ("number", "float64"),
            },
        };
        let fits = match (self.schema_type, value) {
            (Some(SchemaType::Integer | SchemaType::IntOrString), Value::Number(number)) => {
                Read::of(number).is_whole()
            }
            (Some(SchemaType::Number), Value::Number(_))
            | (Some(SchemaType::IntOrString), Value::String(_)) => true,
            (Some(schema_type), _) => schema_type.name() == is,
            (None, _) => false,
        };
        let is_numeric = matches!(
            self.schema_type,
            Some(SchemaType::Integer | SchemaType::Number | SchemaType::IntOrString)
        );
        match (format, value) {
            // Kubernetes accepts lists if a string must have a format.
            (Some(_), Value::String(_) | Value::Array(_)) if !is_numeric => outcome.matched += 1,
            _ if fits => outcome.matched += 1,
            (None, _) | (_, Value::String(_) | Value::Array(_)) => {
                outcome.wrong_type(at, self.schema_type.map_or("", SchemaType::name), is);
            }
            (Some(format), _) => outcome.wrong_type(at, format.name(), number_format),
        }
    }

    fn validate_elements(
        &self,
        outcome: &mut Outcome,
        at: &Path<'_>,
        elements: &[Value],
        before: Option<&Value>,
    ) {
        let Some(items) = &self.items else { return };
        // Only elements with keys have known old values.
        let before = match (&self.lists, before.and_then(Value::as_array)) {
            (ListType::Map(keys), Some(old)) => Some((keys, lists::by_keys(old, keys))),
            _ => None,
        };
        for (index, element) in elements.iter().enumerate() {
            if outcome.is_full() {
                return;
            }
            let before = before
                .as_ref()
                .and_then(|(keys, old)| old.get(&lists::keys_of(element, keys).to_string()).copied());
            outcome.merge(items.outcome(&at.index(index), element, before));
        }
    }

    fn validate_members(
        &self,
        outcome: &mut Outcome,
        at: &Path<'_>,
        members: &Map,
        before: Option<&Value>,
        constraints: &Constraints,
    ) {
        validate_count(outcome, at, members.len(), constraints.members, "properties");
        // These differ between versions of an object without a write.
        let before = |name: &str| {
            before.filter(|_| !(at.is_root() && matches!(name, "apiVersion" | "kind")))?.get(name)
        };
        if let AdditionalProperties::Schema(values) = &self.values {
            for (name, member) in
                members.iter().filter(|(name, _)| !self.properties.contains_key(name.as_str()))
            {
                if outcome.is_full() {
                    return;
                }
                outcome.merge(values.outcome(&at.child(name), member, before(name)));
            }
        }
        for (name, member) in members {
            if let Some(declared) = self.properties.get(name.as_str()) {
                outcome.merge(declared.outcome(&at.child(name), member, before(name)));
            }
        }
        for name in constraints.required.iter().filter(|name| !members.contains_key(name.as_str())) {
            outcome.add(FieldError::required(at.child(name).to_string(), ""));
        }
    }
}

fn validate_text(outcome: &mut Outcome, at: &Path<'_>, text: &str, constraints: &Constraints) {
    let length = constraints.text.length;
    let letters = if length == Count::default() { 0 } else { text.chars().count() };
    if let Some(most) = length.most.filter(|most| letters > *most) {
        // Kubernetes counts characters and writes bytes.
        let unit = if most == 1 { "byte" } else { "bytes" };
        let wrong = Wrong::TooLong { most: format!("{most} {unit}") };
        outcome.add(FieldError { field: place(at), wrong });
    } else if let Some(least) = length.least.filter(|least| letters < *least) {
        let why = format!("{at} in body should be at least {least} chars long");
        outcome.invalid(at, &json!(text), why);
    } else if let Some(Err(wanted)) = constraints.text.pattern.as_ref().map(|pattern| pattern.check(text)) {
        outcome.invalid(at, &json!(text), format!("{at} in body should match '{wanted}'"));
    }
    if let Some(Format::Text(format, name)) = &constraints.format
        && !format.accepts(text)
    {
        outcome.wrong_type(at, name, text);
    }
}

fn validate_list(outcome: &mut Outcome, at: &Path<'_>, elements: &[Value], constraints: &Constraints) {
    validate_count(outcome, at, elements.len(), constraints.items, "items");
    let mut seen = BTreeSet::new();
    if constraints.unique_items && elements.iter().any(|element| !seen.insert(element.to_string())) {
        outcome.invalid(at, &json!(""), format!("{at} in body shouldn't contain duplicates"));
    }
}

fn validate_count(outcome: &mut Outcome, at: &Path<'_>, actual: usize, count: Count, what: &str) {
    if let Some(least) = count.least.filter(|least| actual < *least) {
        let why = format!("{at} in body should have at least {least} {what}");
        outcome.invalid(at, &json!(actual), why);
    }
    if let Some(most) = count.most.filter(|most| actual > *most) {
        outcome.add(FieldError { field: place(at), wrong: Wrong::TooMany { actual, most } });
    }
}

fn validate_choice(outcome: &mut Outcome, at: &Path<'_>, value: &Value, constraints: &Constraints) {
    let is_same = |choice: &Value| match (choice, value) {
        // `null` equals no value of an enum.
        (_, Value::Null) => false,
        (Value::Number(choice), Value::Number(value)) => choice == value || choice.as_f64() == value.as_f64(),
        _ => choice == value,
    };
    if !constraints.choices.is_empty() && !constraints.choices.iter().any(is_same) {
        let words: Vec<_> = constraints.choices.iter().map(word).collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        outcome.add(FieldError::not_supported(place(at), value, &words));
    }
}

/// A value of an enum in an error: strings without quotes, everything else as JSON.
fn word(choice: &Value) -> String {
    choice.as_str().map_or_else(|| choice.to_string(), str::to_owned)
}
