//! The pod that a ReplicaSet creates.

use std::collections::BTreeMap;
use std::fmt;

use gantry_model::{PodDraft, ReplicaSet};

const NAME_MAX_LEN: usize = 253;

/// The template has no labels, so no selector would match the pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLabels;

/// The pod to create for a set; the API server generates its name.
pub fn pod_draft(set: &ReplicaSet) -> Result<PodDraft, NoLabels> {
    if set.template.labels().is_none_or(BTreeMap::is_empty) {
        return Err(NoLabels);
    }
    Ok(PodDraft {
        namespace: set.meta.namespace.clone(),
        generate_name: generate_name(set.meta.name.as_str()),
        owner: set.reference(),
        template: set.template.clone(),
    })
}

/// The prefix of the pods' names: the set's name and a dash, if that is a valid prefix.
fn generate_name(set: &str) -> String {
    let prefix = format!("{set}-");
    if is_name_prefix(&prefix) { prefix } else { set.to_owned() }
}

/// Whether a name prefix is valid: a DNS subdomain, except that it may end in a dash.
///
/// Kubernetes validates a prefix that ends in a dash with its last two characters replaced by one letter. So the dash
/// does not count, and a set with the longest possible name keeps it.
fn is_name_prefix(prefix: &str) -> bool {
    let masked = match prefix.as_bytes() {
        [head @ .., _, b'-'] => [head, b"a"].concat(),
        bytes => bytes.to_vec(),
    };
    masked.len() <= NAME_MAX_LEN && masked.split(|byte| *byte == b'.').all(is_dns_label)
}

/// Lower case letters, digits and inner dashes.
fn is_dns_label(label: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    label.first().is_some_and(is_plain)
        && label.last().is_some_and(is_plain)
        && label.iter().all(|byte| is_plain(byte) || *byte == b'-')
}

impl fmt::Display for NoLabels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unable to create pods, no labels")
    }
}

impl std::error::Error for NoLabels {}
