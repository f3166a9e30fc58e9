//! The names of signers: a domain and a path, such as `example.com/signer`.

use gantry_json::json;
use gantry_primitives::names::{NameValidator, label, subdomain};

use crate::validation::error_list::{ErrorList, Path};

const DOMAIN_MAX_BYTES: usize = 253;
/// A name may hold a namespace and the name of a service account, with a dot between them.
const PATH_MAX_BYTES: usize = 253 + 1 + 63;

/// Validates the name of a signer.
pub(crate) fn validate(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    if name.is_empty() {
        return errors.required(at, "");
    }
    let parts: Vec<&str> = name.split('/').collect();
    let [domain, path] = parts[..] else {
        let why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return errors.invalid(at, &json!(name), why);
    };
    if domain.len() > DOMAIN_MAX_BYTES {
        errors.too_long(at, DOMAIN_MAX_BYTES);
    }
    validate_parts(errors, at, domain, label);
    if domain.split('.').count() < 2 {
        errors.invalid(at, &json!(domain), "should be a domain with at least two segments separated by dots");
    }
    validate_parts(errors, at, path, subdomain);
    let most = DOMAIN_MAX_BYTES + 1 + PATH_MAX_BYTES;
    if name.len() > most {
        errors.too_long(at, most);
    }
}

/// Reports the first part between dots that is wrong.
fn validate_parts(errors: &mut ErrorList, at: &Path<'_>, name: &str, validator: NameValidator) {
    let wrong =
        name.split('.').find_map(|part| Some((part, validator(part))).filter(|(_, why)| !why.is_empty()));
    let (part, reasons) = wrong.unwrap_or_default();
    for why in reasons {
        errors.invalid(at, &json!(name), format!("validating label {}: {why}", json!(part)));
    }
}
