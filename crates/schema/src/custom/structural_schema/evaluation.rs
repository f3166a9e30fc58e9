//! Whether an object obeys the rules that its schema writes as expressions, in the order and the words of Kubernetes.
//!
//! A rule that compares with what was before is evaluated where that is known. What breaks another rule is ratcheted where it
//! is as it was.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::{Value, json};

use super::expressions::{Expression, Reason};
use super::outcome::place;
use super::validate::ValidationResult;
use super::{Basic, Lists, Structure, Values, lists};
use gantry_cel::{self as cel, Fault, Meter, Program, Subject};
use gantry_primitives::Path;
use gantry_primitives::refusal::{FieldError, Wrong};

/// What all rules of an object may cost together.
const BUDGET: u64 = 10_000_000;
/// How long a message may be that is evaluated.
const LONGEST_MESSAGE: usize = 5 * 1024;
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// What is found while rules are evaluated.
struct Evaluation {
    found: ValidationResult,
    left: u64,
}

/// A value, and what it was before, if that is known.
#[derive(Clone, Copy)]
struct Changed<'a> {
    value: &'a Value,
    old: Option<&'a Value>,
    /// What excuses it if it is the same as before.
    excuse: Excuse<'a>,
}

/// By what a value is known again: itself, or what it is in.
#[derive(Clone, Copy, Default)]
struct Excuse<'a> {
    itself: Option<(&'a Value, &'a Value)>,
    around: Option<(&'a Value, &'a Value)>,
}

/// The schema that has rules, and the one that says what the value looks like: they differ within `allOf`.
#[derive(Clone, Copy)]
struct Ruled<'a> {
    by: &'a Structure,
    node: &'a Structure,
    is_resource: bool,
}

/// What breaks the rules of an object, and what does but did before.
pub(super) fn validate(structure: &Structure, object: &Value, old: Option<&Value>) -> ValidationResult {
    let mut evaluation = Evaluation { found: ValidationResult::default(), left: BUDGET };
    let excuse = Excuse { itself: old.map(|old| (object, old)), around: None };
    let ruled = Ruled { by: structure, node: structure, is_resource: true };
    // Where it breaks off it has said why.
    let _ = evaluation.validate(ruled, &Path::root(), Changed { value: object, old, excuse });
    evaluation.found
}

impl Evaluation {
    fn validate(&mut self, ruled: Ruled<'_>, at: &Path<'_>, changed: Changed<'_>) -> ControlFlow<()> {
        // Whether something may be null is for what is around it to say.
        if !ruled.by.is_ruled || changed.value.is_null() {
            return ControlFlow::Continue(());
        }
        if let Some(rules) = &ruled.by.rules {
            self.obeys(&rules.expressions, ruled, at, changed)?;
            for by in &rules.all_of {
                let excuse = Excuse { itself: None, ..changed.excuse };
                self.validate(Ruled { by, ..ruled }, at, Changed { excuse, ..changed })?;
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
        let excuses = Keyed::of(&ruled.node.lists, changed.excuse.itself.map(|(_, old)| old));
        for (index, value) in elements.iter().enumerate() {
            let excuse = changed.excuse.within(value, || excuses.get(value));
            let changed = Changed { value, old: keyed.get(value), excuse };
            self.validate(ruled_items, &at.index(index), changed)?;
        }
        ControlFlow::Continue(())
    }

    fn validate_members(&mut self, ruled: Ruled<'_>, at: &Path<'_>, changed: Changed<'_>) -> ControlFlow<()> {
        let members = changed.value.as_object().into_iter().flatten();
        for (name, value) in members {
            let old = changed.old.and_then(|old| old.get(name));
            // Two versions of an object differ in these without anybody having written it.
            let excuse = if changed.excuse.around.is_none() && matches!(name.as_str(), "apiVersion" | "kind")
            {
                Excuse::default()
            } else {
                let before = changed.excuse.itself.and_then(|(_, old)| old.get(name));
                changed.excuse.within(value, || before)
            };
            let changed = Changed { value, old, excuse };
            if let (Values::Like(by), Values::Like(node)) = (&ruled.by.values, &ruled.node.values) {
                let ruled = Ruled { by, node, is_resource: node.embedded };
                self.validate(ruled, &at.key(name), changed)?;
            }
            if let (Some(by), Some(node)) = (ruled.by.properties.get(name), ruled.node.properties.get(name))
                && cel::sees(node, node.embedded)
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
        let subject =
            Subject { value: changed.value, old, schema: ruled.node, is_resource: ruled.is_resource };
        for rule in expressions {
            let program = match &rule.program {
                Ok(program) => program,
                Err(why) => {
                    self.cannot(at, ruled, format!("rule compile error: compilation failed: {why}"));
                    continue;
                }
            };
            if rule.is_transition && old.is_none() && rule.before == cel::Before::Value {
                continue;
            }
            let mut meter = Meter::default();
            let obeyed = program.truth(subject, rule.before, &mut meter);
            if obeyed == Err(Fault::Exhausted) {
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

    /// Says that a rule is broken.
    fn broken(
        &mut self,
        rule: &Expression,
        subject: Subject<'_>,
        ruled: Ruled<'_>,
        at: &Path<'_>,
        changed: Changed<'_>,
    ) -> ControlFlow<()> {
        let why = match &rule.message {
            Some(message) => self.message(message, rule, subject, ruled, at)?,
            None => None,
        };
        let why = why.unwrap_or_else(|| rule.said());
        let field = match (at.is_root(), rule.place.as_str()) {
            (_, "") => place(at),
            (true, inner) => inner.to_owned(),
            (false, inner) => format!("{at}.{inner}"),
        };
        let shown = match ruled.node.basic {
            Some(Basic::Object | Basic::Array) => None,
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
        if !rule.is_transition && changed.excuse.is_same() {
            self.found.ratcheted.push(error);
        } else {
            self.found.errors.push(error);
        }
        ControlFlow::Continue(())
    }

    /// A message that is evaluated; `None` if that makes none.
    fn message(
        &mut self,
        message: &Program,
        rule: &Expression,
        subject: Subject<'_>,
        ruled: Ruled<'_>,
        at: &Path<'_>,
    ) -> ControlFlow<(), Option<String>> {
        let mut meter = Meter::default();
        let evaluated = message.text(subject, rule.before, &mut meter);
        if evaluated == Err(Fault::Exhausted) {
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
        let said = evaluated.ok().map(|text| text.trim().to_owned());
        let fits = |text: &String| !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
        ControlFlow::Continue(said.filter(fits))
    }

    /// Takes what an evaluation cost from what is left, or says that it is too much.
    fn pay(
        &mut self,
        meter: &Meter,
        why: impl Fn() -> String,
        at: &Path<'_>,
        ruled: Ruled<'_>,
    ) -> ControlFlow<()> {
        let Some(left) = self.left.checked_sub(meter.spent()) else {
            self.cannot(at, ruled, why());
            return ControlFlow::Break(());
        };
        self.left = left;
        ControlFlow::Continue(())
    }

    /// Says that a rule could not be evaluated; Kubernetes shows the type in the place of the value.
    fn cannot(&mut self, at: &Path<'_>, ruled: Ruled<'_>, why: String) {
        let shown = match ruled.node.basic {
            None | Some(Basic::IntOrString) => "",
            Some(basic) => basic.name(),
        };
        self.found.errors.push(FieldError::invalid(place(at), &json!(shown), why));
    }
}

fn unevaluated(fault: &Fault, rule: &Expression) -> String {
    let why = match fault {
        Fault::Failed(why) => why.as_str(),
        Fault::Exhausted => "operation cancelled: actual cost limit exceeded",
    };
    if why.starts_with("no such overload") {
        return format!(
            "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {}",
            rule.name()
        );
    }
    format!("{why} evaluating rule: {}", rule.name())
}

impl<'a> Excuse<'a> {
    /// The excuse of a part that was like this before, if that is known.
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

/// The elements of a list from before, which are known by their keys only.
struct Keyed<'a> {
    keys: &'a [String],
    elements: BTreeMap<String, &'a Value>,
}

impl<'a> Keyed<'a> {
    fn of(lists: &'a Lists, old: Option<&'a Value>) -> Self {
        match (lists, old.and_then(Value::as_array)) {
            (Lists::Map(keys), Some(old)) => Self { keys, elements: lists::by_keys(old, keys) },
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
