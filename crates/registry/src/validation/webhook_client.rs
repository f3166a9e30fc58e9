//! Validates the client configuration of webhooks.

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, number, text};
use super::names::{port_number, subdomain};

const URL_FORM: &str = "; desired format: https://host[/path]";

/// Validates the URL of a webhook.
pub(crate) fn url(errors: &mut ErrorList, at: &Path<'_>, link: &str) {
    let (scheme, rest) = link.split_once("://").unwrap_or(("", link));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = if scheme.is_empty() { "" } else { rest.split('/').next().unwrap_or_default() };
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    if scheme != "https" {
        let why = format!("'https' is the only allowed URL scheme{URL_FORM}");
        errors.invalid(at, &json!(scheme), why);
    }
    if host.is_empty() {
        errors.invalid(at, &json!(host), format!("host must be specified{URL_FORM}"));
    }
    if let Some(user) = user {
        errors.invalid(at, &json!(user), "user information is not permitted in the URL");
    }
    if !fragment.is_empty() {
        errors.invalid(at, &json!(fragment), "fragments are not permitted in the URL");
    }
    if !query.is_empty() {
        errors.invalid(at, &json!(query), "query parameters are not permitted in the URL");
    }
}

/// Validates the port and the path of the Service of a webhook.
pub(crate) fn port_and_path(errors: &mut ErrorList, at: &Path<'_>, service: &Value) {
    let wrong = port_number(number(service, "port").unwrap_or(0));
    if !wrong.is_empty() {
        let why = format!("port is not valid: {}", wrong.join(", "));
        errors.invalid(&at.child("port"), &service["port"], why);
    }
    path(errors, &at.child("path"), text(service, "path"));
}

fn path(errors: &mut ErrorList, at: &Path<'_>, path: &str) {
    let mut wrong = |why: String| errors.invalid(at, &json!(path), why);
    match path {
        "" | "/" => return,
        "//" => return wrong("segment[0] may not be empty".to_owned()),
        _ if !path.starts_with('/') => wrong("must start with a '/'".to_owned()),
        _ => {}
    }
    let mut letters = path.chars();
    letters.next();
    let inner = letters.as_str();
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    for (index, step) in inner.split('/').enumerate() {
        if step.is_empty() {
            wrong(format!("segment[{index}] may not be empty"));
            continue;
        }
        for why in subdomain(step) {
            wrong(format!("segment[{index}]: {why}"));
        }
    }
}
