//! Validates LimitRanges.

use std::collections::BTreeSet;

use gantry_formats::quantity::Quantity;
use gantry_json::{Value, json};

use crate::validation::error_list::{ErrorList, Path, list, members, text};
use crate::validation::names::qualified_name;
use crate::validation::resource_names::{can_overcommit, for_container, known, parse};

const TYPES: [&str; 3] = ["Pod", "Container", "PersistentVolumeClaim"];
const BILLION: i128 = 1_000_000_000;
const MILLION: i128 = 1_000_000;
/// The largest quantity whose thousandths fit into 64 bits.
const MOST_IN_THOUSANDTHS: i128 = (i64::MAX / 1000) as i128;

/// Validates a LimitRange.
pub(crate) fn limit_range(errors: &mut ErrorList, object: &Value) {
    let at = Path::new("spec");
    let at = at.child("limits");
    let mut seen = BTreeSet::new();
    for (index, limit) in list(&object["spec"], "limits").iter().enumerate() {
        let at = at.index(index);
        let name = text(limit, "type");
        type_name(errors, &at.child("type"), name);
        if !seen.insert(name) {
            errors.duplicate(&at.child("type"), &json!(name));
        }
        resources(errors, &at, limit);
        for name in named(limit) {
            Amounts::of(limit, name).check(errors, &at, name);
        }
    }
}

fn type_name(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    let wrong = qualified_name(name);
    if wrong.is_empty() && !name.contains('/') && !TYPES.contains(&name) {
        errors.invalid(at, &json!(name), "must be a standard limit type or fully qualified");
    }
    errors.invalid_text(at, name, wrong);
}

fn resources(errors: &mut ErrorList, at: &Path<'_>, limit: &Value) {
    let is_pod = text(limit, "type") == "Pod";
    for field in ["max", "min"] {
        names(errors, at, limit, field);
    }
    for field in ["default", "defaultRequest"] {
        if !is_pod {
            names(errors, at, limit, field);
        } else if members(limit, field).next().is_some() {
            errors.forbidden(&at.child(field), "may not be specified when `type` is 'Pod'");
        }
    }
    let has_storage = |field: &str| !limit[field]["storage"].is_null();
    if text(limit, "type") == "PersistentVolumeClaim" && !has_storage("min") && !has_storage("max") {
        let why = "either minimum or maximum storage value is required, but neither was provided";
        errors.required(&at.child("limits"), why);
    }
    names(errors, at, limit, "maxLimitRequestRatio");
}

fn names(errors: &mut ErrorList, at: &Path<'_>, limit: &Value, field: &str) {
    let at = at.child(field);
    for (name, _) in errors.members(&at, limit, field) {
        match text(limit, "type") {
            "Pod" | "Container" => for_container(errors, &at.key(name), name),
            _ => known(errors, &at.key(name), name),
        }
    }
}

/// Returns all resource names; ignores fields that limits of pods cannot have.
fn named(limit: &Value) -> BTreeSet<&str> {
    let fields: &[&str] = if text(limit, "type") == "Pod" {
        &["max", "min", "maxLimitRequestRatio"]
    } else {
        &["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"]
    };
    fields.iter().flat_map(|field| members(limit, field)).map(|(name, _)| name.as_str()).collect()
}

/// The quantities of one resource in a limit.
struct Amounts<'a> {
    min: Option<Amount<'a>>,
    max: Option<Amount<'a>>,
    default: Option<Amount<'a>>,
    request: Option<Amount<'a>>,
    ratio: Option<Amount<'a>>,
}

#[derive(Clone, Copy)]
struct Amount<'a> {
    written: &'a Value,
    quantity: Quantity,
}

impl<'a> Amounts<'a> {
    fn of(limit: &'a Value, name: &str) -> Self {
        let amount = |field: &str| {
            let written = &limit[field][name];
            parse(written).map(|quantity| Amount { written, quantity })
        };
        let unless_pod = |field: &str| amount(field).filter(|_| text(limit, "type") != "Pod");
        Self {
            min: amount("min"),
            max: amount("max"),
            default: unless_pod("default"),
            request: unless_pod("defaultRequest"),
            ratio: amount("maxLimitRequestRatio"),
        }
    }

    fn check(&self, errors: &mut ErrorList, at: &Path<'_>, name: &str) {
        let Self { min, max, default, request, .. } = *self;
        // Pairs of which the left must not be greater, with the field and the quantity in the error.
        let pairs = [
            (min, max, "min", min, ["min value", "max value"]),
            (min, request, "defaultRequest", request, ["min value", "default request value"]),
            (request, max, "defaultRequest", request, ["default request value", "max value"]),
            (request, default, "defaultRequest", request, ["default request value", "default limit value"]),
            (min, default, "default", min, ["min value", "default value"]),
            (default, max, "default", max, ["default value", "max value"]),
        ];
        for (left, right, field, shown, [left_name, right_name]) in pairs {
            let (Some(left), Some(right), Some(shown)) = (left, right, shown) else { continue };
            if left.billionths() > right.billionths() {
                let why =
                    format!("{left_name} {} is greater than {right_name} {}", left.shown(), right.shown());
                errors.invalid(&at.child(field).key(name), shown.written, why);
            }
        }
        self.check_ratio(errors, &at.child("maxLimitRequestRatio").key(name));
        if let (Some(default), Some(request)) = (default, request)
            && !can_overcommit(name)
            && default.billionths() != request.billionths()
        {
            let why = format!(
                "default value {} must equal to defaultRequest value {} in {name}",
                default.shown(),
                request.shown()
            );
            errors.invalid(&at.child("defaultRequest").key(name), request.written, why);
        }
    }

    fn check_ratio(&self, errors: &mut ErrorList, at: &Path<'_>) {
        let Some(ratio) = self.ratio else { return };
        if ratio.billionths() < BILLION {
            errors.invalid(at, ratio.written, format!("ratio {} is less than 1", ratio.shown()));
        }
        let (Some(min), Some(max)) = (self.min, self.max) else { return };
        let is_exact = [ratio, min, max].iter().all(|amount| amount.rounded(BILLION) < MOST_IN_THOUSANDTHS);
        let unit = if is_exact { MILLION } else { BILLION };
        #[expect(clippy::cast_precision_loss, reason = "the ratio is printed with six digits")]
        let as_float = |amount: Amount<'_>| amount.rounded(unit) as f64;
        let most = as_float(max) / as_float(min);
        let given = if is_exact { as_float(ratio) / 1000.0 } else { as_float(ratio) };
        if given > most {
            let why = format!("ratio {} is greater than max/min = {most:.6}", ratio.shown());
            errors.invalid(at, ratio.written, why);
        }
    }
}

impl Amount<'_> {
    fn billionths(self) -> i128 {
        self.quantity.billionths()
    }

    /// Returns the quantity in a unit of so many billionths, rounded up.
    fn rounded(self, unit: i128) -> i128 {
        let (whole, rest) = (self.billionths() / unit, self.billionths() % unit);
        whole + i128::from(rest > 0)
    }

    fn shown(self) -> String {
        self.quantity.to_string()
    }
}
