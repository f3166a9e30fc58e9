//! Validates FlowSchemas and PriorityLevelConfigurations.

use gantry_json::{Value, json};

use crate::flow_control::{EXEMPT, FLOW_SCHEMA, PRIORITY_LEVEL, mandatory_spec};
use crate::validation::error_list::{ErrorList, Path, is_set, list, number, text};
use crate::validation::go_format::with_go_names;
use crate::validation::names::{label, subdomain};

const PRECEDENCE_MAX: i64 = 10_000;
const QUEUES_MAX: i64 = 10_000_000;
/// The bits of a flow's hash that are dealt into a hand of queues.
const HASH_BITS_MAX: f64 = 60.0;
const VERBS: [&str; 9] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

/// Validates a FlowSchema.
pub(super) fn flow_schema(errors: &mut ErrorList, object: &Value) {
    let (at, spec, name) = (Path::new("spec"), &object["spec"], text(&object["metadata"], "name"));
    precedence(errors, &at.child("matchingPrecedence"), spec, name);
    let method = &spec["distinguisherMethod"];
    if !method.is_null() && !matches!(text(method, "type"), "ByNamespace" | "ByUser") {
        let shown = with_go_names("flowcontrol/v1.FlowDistinguisherMethod", method);
        errors.unsupported_formatted(
            &at.child("distinguisherMethod").child("type"),
            shown,
            &["ByNamespace", "ByUser"],
        );
    }
    let (level_at, level) =
        (at.child("priorityLevelConfiguration"), text(&spec["priorityLevelConfiguration"], "name"));
    match level {
        "" => errors.required(&level_at.child("name"), "must reference a priority level"),
        level => errors.invalid_text(&level_at.child("name"), level, subdomain(level)),
    }
    for (index, one) in list(spec, "rules").iter().enumerate() {
        rule(errors, &at.child("rules").index(index), one);
    }
    if mandatory_spec(FLOW_SCHEMA, name).is_some_and(|mandatory| mandatory != *spec) {
        let shown = with_go_names("flowcontrol/v1.FlowSchemaSpec", spec);
        errors.invalid_formatted(&at, shown, &format!("spec of '{name}' must equal the fixed value"));
    }
    conditions(errors, object);
}

/// Validates a PriorityLevelConfiguration.
pub(super) fn priority_level(errors: &mut ErrorList, object: &Value) {
    let (at, spec, name) = (Path::new("spec"), &object["spec"], text(&object["metadata"], "name"));
    let preserved = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
    if is_set(&object["metadata"]["annotations"], preserved) {
        let metadata = Path::new("metadata");
        errors.forbidden(&metadata.child("annotations"), format!("annotation '{preserved}' is forbidden"));
    }
    if (name == EXEMPT) != (text(spec, "type") == "Exempt") {
        let why = "must be 'Exempt' if and only if `name` is 'exempt'";
        errors.invalid(&at.child("type"), &json!(text(spec, "type")), why);
    }
    contents(errors, &at, spec);
    if let Some(mandatory) = mandatory_spec(PRIORITY_LEVEL, name) {
        fixed_level(errors, &at, spec, name, &mandatory);
    }
    conditions(errors, object);
    structure(errors, &at, spec);
}

/// Validates the conditions of a status.
pub(super) fn conditions(errors: &mut ErrorList, object: &Value) {
    let status = Path::new("status");
    let at = status.child("conditions");
    let conditions = list(&object["status"], "conditions");
    for (index, condition) in conditions.iter().enumerate() {
        let kind = text(condition, "type");
        if conditions[..index].iter().any(|earlier| text(earlier, "type") == kind) {
            errors.duplicate(&at.index(index).child("type"), &json!(kind));
        }
        if kind.is_empty() {
            errors.required(&at.index(index).child("type"), "");
        }
    }
}

fn precedence(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, name: &str) {
    let (value, precedence) = (&spec["matchingPrecedence"], number(spec, "matchingPrecedence").unwrap_or(0));
    if precedence <= 0 {
        errors.invalid(at, value, "must be a positive value");
    }
    if precedence > PRECEDENCE_MAX {
        errors.invalid(at, value, format!("must not be greater than {PRECEDENCE_MAX}"));
    }
    if precedence == 1 && name != EXEMPT {
        errors.invalid(at, value, "only the schema named 'exempt' may have matchingPrecedence 1");
    }
}

fn rule(errors: &mut ErrorList, at: &Path<'_>, rule: &Value) {
    let subjects = list(rule, "subjects");
    for (index, one) in subjects.iter().enumerate() {
        subject(errors, &at.child("subjects").index(index), one);
    }
    if subjects.is_empty() {
        errors.required(&at.child("subjects"), "subjects must contain at least one value");
    }
    let (resources, paths) = (list(rule, "resourceRules"), list(rule, "nonResourceRules"));
    if resources.is_empty() && paths.is_empty() {
        errors.required(at, "at least one of resourceRules and nonResourceRules has to be non-empty");
    }
    for (index, one) in resources.iter().enumerate() {
        resource_rule(errors, &at.child("resourceRules").index(index), one);
    }
    for (index, one) in paths.iter().enumerate() {
        path_rule(errors, &at.child("nonResourceRules").index(index), one);
    }
}

fn subject(errors: &mut ErrorList, at: &Path<'_>, subject: &Value) {
    let fields = [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")];
    let kind = text(subject, "kind");
    let Some((_, own)) = fields.iter().find(|(known, _)| *known == kind) else {
        let supported = ["Group", "ServiceAccount", "User"];
        return errors.unsupported(&at.child("kind"), &json!(kind), &supported);
    };
    let named = &subject[*own];
    if named.is_null() {
        errors.required(&at.child(own), &format!("{own} is required when subject kind is '{kind}'"));
    } else if *own == "serviceAccount" {
        service_account(errors, &at.child(own), named);
    } else if text(named, "name").is_empty() {
        errors.required(&at.child(own).child("name"), "");
    }
    for (other, field) in fields.iter().filter(|(other, field)| *other != kind && is_set(subject, field)) {
        errors
            .forbidden(&at.child(field), format!("{field} is forbidden when subject kind is not '{other}'"));
    }
}

fn service_account(errors: &mut ErrorList, at: &Path<'_>, account: &Value) {
    match text(account, "name") {
        "" => errors.required(&at.child("name"), ""),
        "*" => {}
        name => errors.invalid_text(&at.child("name"), name, subdomain(name)),
    }
    match text(account, "namespace") {
        "" => errors.required(&at.child("namespace"), "must specify namespace for service account"),
        namespace => errors.invalid_text(&at.child("namespace"), namespace, label(namespace)),
    }
}

fn resource_rule(errors: &mut ErrorList, at: &Path<'_>, rule: &Value) {
    verbs(errors, at, rule);
    for (field, one, many) in
        [("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")]
    {
        let values = list(rule, field);
        if values.is_empty() {
            errors.required(&at.child(field), &format!("resource rules must supply at least one {one}"));
        } else if values.len() > 1 && has_wildcard(values) {
            not_alone(errors, &at.child(field), &rule[field], many);
        }
    }
    let (at, namespaces) = (at.child("namespaces"), list(rule, "namespaces"));
    if namespaces.is_empty() && rule["clusterScope"] != true {
        let why = "resource rules that are not cluster scoped must supply at least one namespace";
        errors.required(&at, why);
    } else if has_wildcard(namespaces) {
        if namespaces.len() > 1 {
            not_alone(errors, &at, &rule["namespaces"], "namespaces");
        }
    } else {
        for (index, namespace) in namespaces.iter().enumerate() {
            for why in label(namespace.as_str().unwrap_or_default()) {
                let why = format!("each member of this list must be '*' or a DNS-1123 label; {why}");
                errors.invalid(&at.index(index), namespace, why);
            }
        }
    }
}

fn path_rule(errors: &mut ErrorList, at: &Path<'_>, rule: &Value) {
    verbs(errors, at, rule);
    let (at, urls) = (at.child("nonResourceURLs"), list(rule, "nonResourceURLs"));
    if urls.is_empty() {
        errors.required(&at, "nonResourceURLs must contain at least one value");
    } else if has_wildcard(urls) {
        if urls.len() > 1 {
            not_alone(errors, &at, &rule["nonResourceURLs"], "non-resource URLs");
        }
    } else {
        for (index, url) in urls.iter().enumerate() {
            if let Some(why) = wrong_path(url.as_str().unwrap_or_default()) {
                errors.invalid(&at.index(index), url, why);
            }
        }
    }
}

/// Returns the error in a non-resource path.
fn wrong_path(path: &str) -> Option<&'static str> {
    let wildcards = path.matches('*').count();
    match path {
        "" => Some("must not be empty"),
        "/" => None,
        _ if !path.starts_with('/') => Some("must start with slash"),
        _ if path.contains(' ') => Some("must not contain white-space"),
        _ if path.contains("//") => Some("must not contain double slash"),
        _ if wildcards > 1 || (wildcards == 1 && !path.ends_with("/*")) => {
            Some("wildcard can only do suffix matching")
        }
        _ => None,
    }
}

fn verbs(errors: &mut ErrorList, at: &Path<'_>, rule: &Value) {
    let (at, verbs) = (at.child("verbs"), list(rule, "verbs"));
    if verbs.is_empty() {
        errors.required(&at, "verbs must contain at least one value");
    } else if has_wildcard(verbs) {
        if verbs.len() > 1 {
            not_alone(errors, &at, &rule["verbs"], "verbs");
        }
    } else if verbs.iter().any(|verb| verb.as_str().is_none_or(|verb| !VERBS.contains(&verb))) {
        errors.unsupported(&at, &rule["verbs"], &VERBS);
    }
}

fn has_wildcard(values: &[Value]) -> bool {
    values.iter().any(|value| value == "*")
}

fn not_alone(errors: &mut ErrorList, at: &Path<'_>, values: &Value, what: &str) {
    errors.invalid(at, values, format!("if '*' is present, must not specify other {what}"));
}

/// Validates the contents of the level; [`structure`] validates which of them are set.
fn contents(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let (exempt, limited) = (&spec["exempt"], &spec["limited"]);
    match text(spec, "type") {
        "Exempt" => {
            shares(errors, &at.child("exempt"), exempt);
            lendable_percent(errors, &at.child("exempt"), exempt);
        }
        "Limited" => {
            if !limited.is_null() {
                limited_level(errors, &at.child("limited"), limited);
            }
        }
        "" => {}
        kind => errors.unsupported(&at.child("type"), &json!(kind), &["Exempt", "Limited"]),
    }
}

/// Validates that exactly the fields that the types of the level and of its response require are set. Kubernetes
/// reports these errors last and without a reason.
fn structure(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let (kind, limited) = (text(spec, "type"), &spec["limited"]);
    if is_set(spec, "exempt") && kind != "Exempt" {
        errors.forbidden(&at.child("exempt"), "");
    }
    match (kind, limited.is_null()) {
        ("Limited", true) => errors.required(&at.child("limited"), ""),
        ("Limited", false) | (_, true) => {}
        (_, false) => errors.forbidden(&at.child("limited"), ""),
    }
    if kind.is_empty() {
        errors.required(&at.child("type"), "");
    }
    if limited.is_null() {
        return;
    }
    let (limited_at, response) = (at.child("limited"), &limited["limitResponse"]);
    let at = limited_at.child("limitResponse");
    match (text(response, "type"), is_set(response, "queuing")) {
        ("Queue", false) => errors.required(&at.child("queuing"), ""),
        ("Queue", true) | (_, false) => {}
        (_, true) => errors.forbidden(&at.child("queuing"), ""),
    }
    if text(response, "type").is_empty() {
        errors.required(&at.child("type"), "");
    }
}

fn limited_level(errors: &mut ErrorList, at: &Path<'_>, limited: &Value) {
    shares(errors, at, limited);
    limit_response(errors, &at.child("limitResponse"), &limited["limitResponse"]);
    lendable_percent(errors, at, limited);
    if number(limited, "borrowingLimitPercent").is_some_and(|percent| percent < 0) {
        let why = "if specified, must be a non-negative integer";
        errors.invalid(&at.child("borrowingLimitPercent"), &limited["borrowingLimitPercent"], why);
    }
}

fn shares(errors: &mut ErrorList, at: &Path<'_>, level: &Value) {
    if number(level, "nominalConcurrencyShares").is_some_and(|shares| shares < 0) {
        let at = at.child("nominalConcurrencyShares");
        errors.invalid(&at, &level["nominalConcurrencyShares"], "must be a non-negative integer");
    }
}

fn lendable_percent(errors: &mut ErrorList, at: &Path<'_>, level: &Value) {
    if number(level, "lendablePercent").is_some_and(|percent| !(0..=100).contains(&percent)) {
        let why = "must be between 0 and 100, inclusive";
        errors.invalid(&at.child("lendablePercent"), &level["lendablePercent"], why);
    }
}

fn limit_response(errors: &mut ErrorList, at: &Path<'_>, response: &Value) {
    match text(response, "type") {
        "Queue" if is_set(response, "queuing") => queues(errors, &at.child("queuing"), &response["queuing"]),
        "Queue" | "Reject" | "" => {}
        kind => errors.unsupported(&at.child("type"), &json!(kind), &["Queue", "Reject"]),
    }
}

fn queues(errors: &mut ErrorList, at: &Path<'_>, queuing: &Value) {
    let of = |field: &str| number(queuing, field).unwrap_or(0);
    let (queues, hand) = (of("queues"), of("handSize"));
    if of("queueLengthLimit") <= 0 {
        errors.invalid(&at.child("queueLengthLimit"), &queuing["queueLengthLimit"], "must be positive");
    }
    if queues <= 0 {
        errors.invalid(&at.child("queues"), &queuing["queues"], "must be positive");
    } else if queues > QUEUES_MAX {
        let why = format!("must not be greater than {QUEUES_MAX}");
        errors.invalid(&at.child("queues"), &queuing["queues"], why);
    }
    let hand_at = at.child("handSize");
    if hand <= 0 {
        errors.invalid(&hand_at, &queuing["handSize"], "must be positive");
    } else if hand > queues {
        let why = format!("should not be greater than queues ({queues})");
        errors.invalid(&hand_at, &queuing["handSize"], why);
    } else if entropy_bits(queues, hand) > HASH_BITS_MAX {
        let why = format!(
            "required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {HASH_BITS_MAX}"
        );
        errors.invalid(&hand_at, &queuing["handSize"], why);
    }
}

/// Returns the number of bits of a hash that dealing a hand of this many queues needs.
#[expect(clippy::cast_precision_loss, reason = "both are at most 10^7")]
fn entropy_bits(queues: i64, hand: i64) -> f64 {
    ((queues as f64).log2() * hand as f64).ceil()
}

/// Compares a mandatory level with its spec; the seats of the exempt level may change.
fn fixed_level(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, name: &str, mandatory: &Value) {
    let mut compared = spec.clone();
    let except = if name == EXEMPT {
        compared["exempt"] = mandatory["exempt"].clone();
        " except the 'spec.exempt' field"
    } else {
        ""
    };
    if compared != *mandatory {
        let shown = with_go_names("flowcontrol/v1.PriorityLevelConfigurationSpec", spec);
        let why = format!("spec of '{name}'{except} must equal the fixed value");
        errors.invalid_formatted(at, shown, &why);
    }
}
