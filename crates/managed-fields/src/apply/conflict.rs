//! Conflicts with other managers.

use crate::ownership::{FieldSet, Identity, ManagedFields, Operation, PathElement};
use gantry_primitives::{Cause, Details, Refusal, StatusReason};

/// A changed field that another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The owner.
    pub owner: Identity,
    /// The path.
    pub path: Vec<PathElement>,
}

/// The conflicts of these changes, by manager.
pub(super) fn find(managed: &ManagedFields, me: &Identity, gained: &FieldSet) -> Vec<Conflict> {
    let others = managed.entries().filter(|(identity, _)| *identity != me);
    others
        .flat_map(|(identity, entry)| {
            let paths = entry.fields.intersection(gained).paths();
            paths.into_iter().map(|path| Conflict { owner: identity.clone(), path })
        })
        .collect()
}

/// The 409 error that lists all conflicts.
pub(super) fn refusal(conflicts: &[Conflict]) -> Refusal {
    let causes = conflicts.iter().map(|conflict| Cause {
        reason: "FieldManagerConflict",
        message: format!("conflict with {}", owner(conflict)),
        field: place(conflict),
    });
    let details = Details { causes: causes.collect(), ..Details::default() };
    Refusal::new(StatusReason::Conflict, message(conflicts)).with(details)
}

fn message(conflicts: &[Conflict]) -> String {
    if let [only] = conflicts {
        return format!("Apply failed with 1 conflict: conflict with {}: {}", owner(only), place(only));
    }
    let mut lines = Vec::new();
    for of_one in conflicts.chunk_by(|a, b| a.owner == b.owner) {
        lines.extend(of_one.first().map(|first| format!("conflicts with {}:", owner(first))));
        lines.extend(of_one.iter().map(|conflict| format!("- {}", place(conflict))));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}

fn owner(conflict: &Conflict) -> String {
    let Identity { manager, operation, api_version, subresource } = &conflict.owner;
    let through =
        if subresource.is_empty() { String::new() } else { format!(" with subresource {subresource:?}") };
    let version = match operation {
        Operation::Apply => String::new(),
        Operation::Update => format!(" using {api_version}"),
    };
    format!("{manager:?}{through}{version}")
}

fn place(conflict: &Conflict) -> String {
    conflict.path.iter().map(ToString::to_string).collect()
}
