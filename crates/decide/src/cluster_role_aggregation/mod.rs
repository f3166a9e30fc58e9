//! Aggregated ClusterRoles: their rules are those of the roles that they select.

#[cfg(test)]
mod tests;
pub mod triggers;

use gantry_model::{ClusterRole, InvalidSelector, PolicyRule};

/// How many roles are synced concurrently; Kubernetes' number.
pub const WORKERS: usize = 5;

/// Returns the rules that a role is to have, or `None` if it has them already or is not aggregated.
///
/// The selectors are taken in their order and the roles of each by name; a rule that was copied already is not copied
/// again. A role never copies from itself.
pub fn decide(role: &ClusterRole, all: &[&ClusterRole]) -> Result<Option<Vec<PolicyRule>>, InvalidSelector> {
    let Some(selectors) = &role.aggregates else { return Ok(None) };
    let mut rules = Vec::new();
    for selector in selectors {
        let selector = selector.as_ref().map_err(Clone::clone)?;
        let is_source = |other: &&ClusterRole| other.name != role.name && selector.matches(&other.labels);
        let mut sources: Vec<_> = all.iter().copied().filter(is_source).collect();
        sources.sort_by(|one, other| one.name.cmp(&other.name));
        for rule in sources.into_iter().flat_map(|source| &source.rules) {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    Ok((rules != role.rules).then_some(rules))
}
