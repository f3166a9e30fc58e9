//! Evaluation of the rules in a schema, with Kubernetes' order and wording of errors.
//!
//! A rule that mentions `oldSelf` is evaluated where the old value is known. Violations of other rules are ratcheted:
//! if the value did not change, they are warnings.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use gantry_json::{Value, json};

use super::expressions::{Expression, Reason};
use super::outcome::place;
use super::validate::ValidationResult;
use super::{AdditionalProperties, ListType, SchemaType, StructuralSchema, lists};
use gantry_cel::{self as cel, CostMeter, EvaluationError, Input, Program, ValueSchema};
use gantry_primitives::Path;
use gantry_primitives::refusal::{ERROR_BYTES_MAX, FieldError, Wrong};

/// The most that all rules of an object may cost.
const BUDGET: u64 = 10_000_000;
/// The longest message of a `messageExpression`.
const LONGEST_MESSAGE: usize = 5 * 1024;
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// An evaluation in progress.
struct Evaluation {
    found: ValidationResult,
    /// The size of the errors found.
    error_bytes: usize,
    left: u64,
    /// Whether the types of rules are checked: those of a stored definition were checked when it was written.
    checks_types: bool,
}

/// A value and its old value, if that is known.
#[derive(Clone, Copy)]
struct Changed<'a> {
    value: &'a Value,
    old: Option<&'a Value>,
    /// Decides whether violations are ratcheted.
    ratchet: Ratchet<'a>,
}

/// The pairs of new and old value by which a violation is ratcheted: of the value itself, otherwise of its parent.
#[derive(Clone, Copy, Default)]
struct Ratchet<'a> {
    itself: Option<(&'a Value, &'a Value)>,
    around: Option<(&'a Value, &'a Value)>,
}

/// The schema with the rules, and the one with the types of the value: they differ within `allOf`.
#[derive(Clone, Copy)]
struct Ruled<'a> {
    by: &'a StructuralSchema,
    node: &'a StructuralSchema,
    is_resource: bool,
}

/// Evaluates the rules of an object.
pub(super) fn validate(
    structure: &StructuralSchema,
    object: &Value,
    old: Option<&Value>,
) -> ValidationResult {
    let mut evaluation =
        Evaluation { found: ValidationResult::default(), error_bytes: 0, left: BUDGET, checks_types: false };
    let ratchet = Ratchet { itself: old.map(|old| (object, old)), around: None };
    let ruled = Ruled { by: structure, node: structure, is_resource: true };
    // If evaluation stops early, the error is already in the result.
    let _ = evaluation.validate(ruled, &Path::root(), Changed { value: object, old, ratchet });
    evaluation.found
}

/// Evaluates the rules of a default, which is its own old value. Nothing is ratcheted.
pub(super) fn validate_default(
    structure: &StructuralSchema,
    default: &Value,
    is_resource: bool,
) -> Vec<FieldError> {
    let mut evaluation =
        Evaluation { found: ValidationResult::default(), error_bytes: 0, left: BUDGET, checks_types: true };
    let ruled = Ruled { by: structure, node: structure, is_resource };
    let changed = Changed { value: default, old: Some(default), ratchet: Ratchet::default() };
    // If evaluation stops early, the error is already in the result.
    let _ = evaluation.validate(ruled, &Path::root(), changed);
    evaluation.found.errors
}

impl Evaluation {
    fn validate(&mut self, ruled: Ruled<'_>, at: &Path<'_>, changed: Changed<'_>) -> ControlFlow<()> {
        // The parent decides whether a value may be null.
        if !ruled.by.has_rules || changed.value.is_null() {
            return ControlFlow::Continue(());
        }
        if let Some(constraints) = &ruled.by.constraints {
            self.obeys(&constraints.expressions, ruled, at, changed)?;
            for by in &constraints.all_of {
                let ratchet = Ratchet { itself: None, ..changed.ratchet };
                self.validate(Ruled { by, ..ruled }, at, Changed { ratchet, ..changed })?;
            }
        }
        match changed.value {
            Value::Array(elements) => self.validate_elements(ruled, at, elements, changed),
            Value::Object(_) => self.validate_members(ruled, at, changed),
            _ => ControlFlow::Continue(()),
        }
    }

    fn validate_elements(
        &mut self,
        ruled: Ruled<'_>,
        at: &Path<'_>,
        elements: &[Value],
        changed: Changed<'_>,
    ) -> ControlFlow<()> {
        let (Some(by), Some(node)) = (&ruled.by.items, &ruled.node.items) else {
            return ControlFlow::Continue(());
        };
        let ruled_items = Ruled { by, node, is_resource: node.embedded };
        let keyed = Keyed::of(&ruled.node.lists, changed.old);
        let excuses = Keyed::of(&ruled.node.lists, changed.ratchet.itself.map(|(_, old)| old));
        for (index, value) in elements.iter().enumerate() {
            let ratchet = changed.ratchet.within(value, || excuses.get(value));
            let changed = Changed { value, old: keyed.get(value), ratchet };
            self.validate(ruled_items, &at.index(index), changed)?;
        }
        ControlFlow::Continue(())
    }

    fn validate_members(&mut self, ruled: Ruled<'_>, at: &Path<'_>, changed: Changed<'_>) -> ControlFlow<()> {
        let members = changed.value.as_object().into_iter().flatten();
        for (name, value) in members {
            let old = changed.old.and_then(|old| old.get(name));
            // These fields differ between versions of an object without a write.
            let ratchet =
                if changed.ratchet.around.is_none() && matches!(name.as_str(), "apiVersion" | "kind") {
                    Ratchet::default()
                } else {
                    let before = changed.ratchet.itself.and_then(|(_, old)| old.get(name));
                    changed.ratchet.within(value, || before)
                };
            let changed = Changed { value, old, ratchet };
            if let (AdditionalProperties::Schema(by), AdditionalProperties::Schema(node)) =
                (&ruled.by.values, &ruled.node.values)
            {
                let ruled = Ruled { by, node, is_resource: node.embedded };
                self.validate(ruled, &at.key(name), changed)?;
            }
            if let (Some(by), Some(node)) =
                (ruled.by.properties.get(name.as_str()), ruled.node.properties.get(name.as_str()))
                && cel::is_visible(node, node.embedded)
            {
                let ruled = Ruled { by, node, is_resource: node.embedded };
                self.validate(ruled, &at.child(name), changed)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Evaluates the rules of one value.
    fn obeys(
        &mut self,
        expressions: &[Arc<Expression>],
        ruled: Ruled<'_>,
        at: &Path<'_>,
        changed: Changed<'_>,
    ) -> ControlFlow<()> {
        if expressions.is_empty() {
            return ControlFlow::Continue(());
        }
        if self.left == 0 {
            self.cannot(at, ruled, OUT_OF_BUDGET.to_owned());
            return ControlFlow::Break(());
        }
        let old = changed.old.filter(|old| !old.is_null());
        let subject = Input { value: changed.value, old, schema: ruled.node, is_resource: ruled.is_resource };
        for rule in expressions {
            let schema: (&dyn ValueSchema, bool) = (ruled.node, ruled.is_resource);
            let program = match rule.compiled(self.checks_types.then_some(schema)) {
                Ok(program) => program,
                Err(why) => {
                    self.cannot(at, ruled, format!("rule compile error: {why}"));
                    continue;
                }
            };
            if rule.is_transition && old.is_none() && rule.before == cel::OldSelf::Required {
                continue;
            }
            let mut meter = CostMeter::default();
            let obeyed = program.evaluate_bool(subject, rule.before, &mut meter);
            if obeyed == Err(EvaluationError::CostExceeded) {
                let why = format!(
                    "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to \
                     call cost exceeds limit for rule: {}",
                    rule.name()
                );
                self.cannot(at, ruled, why);
                return ControlFlow::Break(());
            }
            self.pay(&meter, || OUT_OF_BUDGET.to_owned(), at, ruled)?;
            match obeyed {
                Ok(true) => {}
                Ok(false) => self.broken(rule, subject, ruled, at, changed)?,
                Err(fault) => self.cannot(at, ruled, unevaluated(&fault, rule)),
            }
        }
        ControlFlow::Continue(())
    }

    /// Reports a violated rule.
    fn broken(
        &mut self,
        rule: &Expression,
        subject: Input<'_>,
        ruled: Ruled<'_>,
        at: &Path<'_>,
        changed: Changed<'_>,
    ) -> ControlFlow<()> {
        let why = match &rule.message {
            Some(message) => self.message(message, rule, subject, ruled, at)?,
            None => None,
        };
        let why = why.unwrap_or_else(|| rule.error_message());
        let field = match (at.is_root(), rule.place.as_str()) {
            (_, "") => place(at),
            (true, inner) => inner.to_owned(),
            (false, inner) => format!("{at}.{inner}"),
        };
        let shown = match ruled.node.schema_type {
            Some(SchemaType::Object | SchemaType::Array) => None,
            _ => Some(changed.value),
        };
        let error = match (rule.reason, shown) {
            (Reason::Forbidden, _) => FieldError::forbidden(field, why),
            (Reason::Required, _) => FieldError::required(field, why),
            (Reason::Duplicate, Some(value)) => FieldError::duplicate(field, value),
            (Reason::Duplicate, None) => {
                FieldError { field, wrong: Wrong::Duplicate { value: String::new() } }
            }
            (Reason::Invalid, Some(value)) => FieldError::invalid(field, value, why),
            (Reason::Invalid, None) => {
                FieldError { field, wrong: Wrong::Invalid { value: String::new(), why } }
            }
        };
        self.error_bytes += error.shown_bytes();
        if !rule.is_transition && changed.ratchet.is_same() {
            self.found.ratcheted.push(error);
        } else {
            self.found.errors.push(error);
        }
        if self.error_bytes > ERROR_BYTES_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Evaluates the `messageExpression` of a rule; `None` if it has no usable result.
    fn message(
        &mut self,
        message: &Program,
        rule: &Expression,
        subject: Input<'_>,
        ruled: Ruled<'_>,
        at: &Path<'_>,
    ) -> ControlFlow<(), Option<String>> {
        let mut meter = CostMeter::default();
        let evaluated = message.evaluate_string(subject, rule.before, &mut meter);
        if evaluated == Err(EvaluationError::CostExceeded) {
            let why = "no further validation rules will be run due to call cost exceeds limit for messageExpression";
            self.cannot(at, ruled, why.to_owned());
            return ControlFlow::Break(());
        }
        let spent = || {
            "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be \
             run"
            .to_owned()
        };
        self.pay(&meter, spent, at, ruled)?;
        let message = evaluated.ok().map(|text| text.trim().to_owned());
        let fits = |text: &String| !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
        ControlFlow::Continue(message.filter(fits))
    }

    /// Subtracts the cost of an evaluation from the budget, or reports that it is exceeded.
    fn pay(
        &mut self,
        meter: &CostMeter,
        why: impl Fn() -> String,
        at: &Path<'_>,
        ruled: Ruled<'_>,
    ) -> ControlFlow<()> {
        let Some(left) = self.left.checked_sub(meter.cost()) else {
            self.cannot(at, ruled, why());
            return ControlFlow::Break(());
        };
        self.left = left;
        ControlFlow::Continue(())
    }

    /// Reports that a rule cannot be evaluated. Kubernetes shows the type instead of the value.
    fn cannot(&mut self, at: &Path<'_>, ruled: Ruled<'_>, why: String) {
        let shown = match ruled.node.schema_type {
            None | Some(SchemaType::IntOrString) => "",
            Some(schema_type) => schema_type.name(),
        };
        self.found.errors.push(FieldError::invalid(place(at), &json!(shown), why));
    }
}

fn unevaluated(fault: &EvaluationError, rule: &Expression) -> String {
    let why = match fault {
        EvaluationError::Failed(why) => why.as_str(),
        EvaluationError::CostExceeded => "operation cancelled: actual cost limit exceeded",
    };
    if why.starts_with("no such overload") {
        return format!(
            "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {}",
            rule.name()
        );
    }
    format!("{why} evaluating rule: {}", rule.name())
}

impl<'a> Ratchet<'a> {
    /// The ratchet of a part with this old value, if it is known.
    fn within(self, value: &'a Value, before: impl FnOnce() -> Option<&'a Value>) -> Self {
        match self.itself {
            None => self,
            Some(_) => Self { itself: before().map(|old| (value, old)), around: self.itself },
        }
    }

    fn is_same(self) -> bool {
        self.itself.or(self.around).is_some_and(|(value, old)| value == old)
    }
}

/// The old elements of a list by their keys.
struct Keyed<'a> {
    keys: &'a [String],
    elements: BTreeMap<String, &'a Value>,
}

impl<'a> Keyed<'a> {
    fn of(lists: &'a ListType, old: Option<&'a Value>) -> Self {
        match (lists, old.and_then(Value::as_array)) {
            (ListType::Map(keys), Some(old)) => Self { keys, elements: lists::by_keys(old, keys) },
            _ => Self { keys: &[], elements: BTreeMap::new() },
        }
    }

    fn get(&self, element: &Value) -> Option<&'a Value> {
        if self.elements.is_empty() {
            return None;
        }
        self.elements.get(&lists::keys_of(element, self.keys).to_string()).copied()
    }
}
