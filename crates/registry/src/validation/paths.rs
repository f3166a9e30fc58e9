//! Validates paths.

use gantry_json::json;
use gantry_primitives::names::subdomain;

use super::error_list::{ErrorList, Path};

/// Validates a path that begins with a domain.
pub(crate) fn domain_prefixed_path(errors: &mut ErrorList, at: &Path<'_>, path: &str) {
    let Some((domain, rest)) =
        path.split_once('/').filter(|(domain, rest)| !domain.is_empty() && !rest.is_empty())
    else {
        return errors.invalid(at, &json!(path), "must be a domain-prefixed path (such as \"acme.io/foo\")");
    };
    errors.invalid_text(at, domain, subdomain(domain));
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/-._~!$&'()*+,;=:%@".contains(letter);
    if !rest.chars().all(is_plain) {
        let why = "Invalid path (regex used for validation is '^[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+$')";
        errors.invalid(at, &json!(path), why);
    }
}
