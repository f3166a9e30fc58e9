//! Rules for names, labels, keys and ports. Each returns the errors with Kubernetes' wording; none if the name is
//! valid.

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;
const LABEL_FORM: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_FORM: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const SEARCH_PART: &str = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const SEARCH_DOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
const QUALIFIED_FORM: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/// A rule: returns the errors of a name.
pub type NameValidator = fn(&str) -> Vec<String>;

/// DNS subdomains such as `web` and `web.example.com`.
pub fn subdomain(name: &str) -> Vec<String> {
    let mut wrong = longer_than(SUBDOMAIN_MAX, "characters", name);
    if !is_subdomain(name) {
        wrong.push(with_examples(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character",
            &["example.com"],
            SUBDOMAIN_FORM,
        ));
    }
    wrong
}

/// Wildcard subdomains such as `*.example.com`.
pub fn wildcard_subdomain(name: &str) -> Vec<String> {
    let mut wrong = longer_than(SUBDOMAIN_MAX, "characters", name);
    if !name.strip_prefix("*.").is_some_and(is_subdomain) {
        wrong.push(with_examples(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist \
             of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
            &["*.example.com"],
            &format!("\\*\\.{SUBDOMAIN_FORM}"),
        ));
    }
    wrong
}

/// DNS labels such as `web`.
pub fn label(name: &str) -> Vec<String> {
    label_in("characters", name)
}

/// DNS labels in fields with the format `k8s-short-name`, whose errors differ in a word.
pub fn short_name(name: &str) -> Vec<String> {
    label_in("bytes", name)
}

fn label_in(unit: &str, name: &str) -> Vec<String> {
    let mut wrong = longer_than(LABEL_MAX, unit, name);
    if !is_label(name) {
        wrong.push(if is_subdomain(name) {
            "must not contain dots".to_owned()
        } else {
            with_examples(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
                 and end with an alphanumeric character",
                &["my-name", "123-abc"],
                LABEL_FORM,
            )
        });
    }
    wrong
}

/// DNS labels that start with a letter (RFC 1035).
pub fn label_from_a_letter(name: &str) -> Vec<String> {
    let mut wrong = longer_than(LABEL_MAX, "characters", name);
    if !is_label(name) || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        wrong.push(with_examples(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character",
            &["my-name", "abc-123"],
            "[a-z]([-a-z0-9]*[a-z0-9])?",
        ));
    }
    wrong
}

/// DNS search domains, which may have underscores.
pub fn search_domain(name: &str) -> Vec<String> {
    let mut wrong = longer_than(SUBDOMAIN_MAX, "characters", name);
    let part = |part: &str| consists_of(is_lowercase_or_digit, b"-_", part.strip_prefix('_').unwrap_or(part));
    if !name.split('.').all(part) {
        let form = format!("{SEARCH_PART}(\\.{SEARCH_PART})*");
        wrong.push(with_examples(SEARCH_DOMAIN, &["example.com"], &form));
    }
    wrong
}

/// Names of HTTP headers, such as `X-Header-Name`.
pub fn header_name(name: &str) -> Vec<String> {
    if !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-') {
        return Vec::new();
    }
    let what = "a valid HTTP header must consist of alphanumeric characters or '-'";
    vec![with_examples(what, &["X-Header-Name"], "[-A-Za-z0-9]+")]
}

/// Names that must only be valid path segments.
pub fn path_segment(name: &str) -> Vec<String> {
    let whole = [".", ".."].into_iter().filter(|bad| name == *bad).map(|bad| format!("may not be '{bad}'"));
    let part =
        ["/", "%"].into_iter().filter(|bad| name.contains(bad)).map(|bad| format!("may not contain '{bad}'"));
    whole.chain(part).collect()
}

/// Qualified names, such as keys of labels, with an optional domain before a slash.
pub fn qualified_name(key: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let parts: Vec<_> = key.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                wrong.push("prefix part must be non-empty".to_owned());
            } else {
                wrong.extend(subdomain(prefix).into_iter().map(|why| format!("prefix part {why}")));
            }
            *name
        }
        _ => {
            let form = with_examples(QUALIFIED, &["MyName", "my.name", "123-abc"], QUALIFIED_FORM);
            wrong.push(format!(
                "a valid label key {form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ));
            return wrong;
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_MAX {
        wrong.push(format!("name part must be no more than {LABEL_MAX} bytes"));
    }
    if !is_qualified(name) {
        let form = with_examples(QUALIFIED, &["MyName", "my.name", "123-abc"], QUALIFIED_FORM);
        wrong.push(format!("name part {form}"));
    }
    wrong
}

/// Values of labels.
pub fn label_value(value: &str) -> Vec<String> {
    let mut wrong = longer_than(LABEL_MAX, "bytes", value);
    if !value.is_empty() && !is_qualified(value) {
        wrong.push(with_examples(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character",
            &["MyValue", "my_value", "12345"],
            "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
        ));
    }
    wrong
}

/// Keys of ConfigMaps and Secrets.
pub fn config_key(key: &str) -> Vec<String> {
    let mut wrong = longer_than(SUBDOMAIN_MAX, "characters", key);
    if key.is_empty() || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)) {
        wrong.push(with_examples(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
            &["key.name", "KEY_NAME", "key-name"],
            "[-._a-zA-Z0-9]+",
        ));
    }
    match key {
        "." => wrong.push("must not be '.'".to_owned()),
        ".." => wrong.push("must not be '..'".to_owned()),
        _ if key.starts_with("..") => wrong.push("must not start with '..'".to_owned()),
        _ => {}
    }
    wrong
}

/// Names of environment variables.
pub fn variable_name(name: &str) -> Vec<String> {
    if name.chars().all(|c| (' '..='~').contains(&c) && c != '=') {
        return Vec::new();
    }
    let why =
        "a valid environment variable name must consist only of printable ASCII characters other than '='";
    vec![why.to_owned()]
}

/// Port numbers.
pub fn port_number(port: i64) -> Vec<String> {
    within(port, 1, 65535)
}

/// Port names.
pub fn port_name(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut refuse = |is_wrong: bool, why: &str| {
        if is_wrong {
            wrong.push(why.to_owned());
        }
    };
    refuse(name.len() > 15, "must be no more than 15 characters");
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    refuse(
        name.is_empty() || !name.bytes().all(plain),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    refuse(!name.bytes().any(|b| b.is_ascii_lowercase()), "must contain at least one letter (a-z)");
    refuse(name.contains("--"), "must not contain consecutive hyphens");
    refuse(name.starts_with('-') || name.ends_with('-'), "must not begin or end with a hyphen");
    wrong
}

/// User and group ids.
pub fn user_id(id: i64) -> Vec<String> {
    within(id, 0, i64::from(i32::MAX))
}

/// Numbers in a range.
pub fn within(number: i64, least: i64, most: i64) -> Vec<String> {
    if (least..=most).contains(&number) {
        return Vec::new();
    }
    vec![format!("must be between {least} and {most}, inclusive")]
}

/// Percentages such as `25%`.
pub fn percent(text: &str) -> Vec<String> {
    if percentage(text).is_some() {
        return Vec::new();
    }
    let why = "a valid percent string must be a numeric string followed by an ending '%'";
    vec![with_examples(why, &["1%", "93%"], "[0-9]+%")]
}

/// The number of a percentage, saturating.
pub fn percentage(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(i64::MAX))
}

/// Reasons of conditions, such as `NewReplicaSetAvailable`.
pub fn condition_reason(reason: &str) -> Vec<String> {
    let is_inner = |b: &u8| b.is_ascii_alphanumeric() || b"_,:".contains(b);
    let is_end = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let bytes = reason.as_bytes();
    let is_valid = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(is_end)
        && bytes.iter().all(is_inner);
    if is_valid {
        return Vec::new();
    }
    let why = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric \
               characters or '_,:', and must end with an alphanumeric character or '_'";
    let examples = ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];
    vec![with_examples(why, &examples, "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")]
}

/// Returns the error of a name that is longer than this.
fn longer_than(most: usize, unit: &str, name: &str) -> Vec<String> {
    if name.len() > most { vec![format!("must be no more than {most} {unit}")] } else { Vec::new() }
}

fn with_examples(why: &str, examples: &[&str], form: &str) -> String {
    let quoted: Vec<_> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{why} (e.g. {}regex used for validation is '{form}')", quoted.join(" or "))
}

/// Whether a name consists of plain bytes and punctuation, and starts and ends with a plain byte.
fn consists_of(is_plain: fn(u8) -> bool, punctuation: &[u8], name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|b| is_plain(*b))
        && bytes.last().is_some_and(|b| is_plain(*b))
        && bytes.iter().all(|b| is_plain(*b) || punctuation.contains(b))
}

fn is_lowercase_or_digit(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

fn is_label(name: &str) -> bool {
    consists_of(is_lowercase_or_digit, b"-", name)
}

fn is_subdomain(name: &str) -> bool {
    name.split('.').all(is_label)
}

fn is_qualified(name: &str) -> bool {
    consists_of(|b| b.is_ascii_alphanumeric(), b"-_.", name)
}
