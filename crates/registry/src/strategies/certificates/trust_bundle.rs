//! The strategy of ClusterTrustBundles.

use gantry_json::{Value, json};
use gantry_primitives::names::subdomain;

use super::validate_signer_name;
use crate::admission::AdmissionCheck;
use crate::selector::fields::{self, SelectableFields};
use crate::strategies::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, column};
use crate::validation::error_list::{ErrorList, Path, text};

const COLUMNS: &[TableColumn] =
    &[column::NAME, column::text("SignerName").text_or("spec.signerName", "<none>")];

pub(crate) const STRATEGY: KindStrategy = KindStrategy {
    admission_checks: &[AdmissionCheck::TrustBundle],
    validate: |errors, _, _, new| validate(errors, new),
    validate_change: |errors, old, new| {
        let (old, new) = (&old["spec"]["signerName"], &new["spec"]["signerName"]);
        let at = Path::new("spec");
        errors.immutable(&at.child("signerName"), old == new, new);
    },
    rows: Rows::new(COLUMNS),
    selectable: SelectableFields::new(&[fields::NAME, fields::text("spec.signerName")]),
    ..KindStrategy::DEFAULT
};

/// Validates a bundle; the certificates in it are validated by the API server.
fn validate(errors: &mut ErrorList, bundle: &Value) {
    let (name, signer) = (text(&bundle["metadata"], "name"), text(&bundle["spec"], "signerName"));
    let at = Path::new("metadata");
    let at = at.child("name");
    if signer.is_empty() {
        if name.contains(':') {
            let why = "ClusterTrustBundle without signer name must not have \":\" in its name";
            errors.invalid(&at, &json!(name), why);
        }
        return errors.invalid_text(&at, name, if name.contains(':') { Vec::new() } else { subdomain(name) });
    }
    let prefix = format!("{}:", signer.replacen('/', ":", 1));
    if let Some(rest) = name.strip_prefix(&prefix) {
        errors.invalid_text(&at, name, subdomain(rest));
    } else {
        let why = format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}");
        errors.invalid(&at, &json!(name), why);
    }
    let at = Path::new("spec");
    validate_signer_name(errors, &at.child("signerName"), signer);
}
