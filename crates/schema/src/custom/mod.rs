//! Custom kinds: what a CustomResourceDefinition declares.
//!
//! A definition has a [`StructuralSchema`], which declares for its objects the same as the compiled-in schema for
//! built-in kinds: fields, defaults, how lists merge. Incoming objects are pruned to the declared fields, defaulted and
//! validated.

mod columns;
mod definition;
mod paths;
mod scaling;
mod structural_schema;

use std::collections::BTreeMap;

use gantry_json::Value;

use gantry_primitives::Refusal;

pub use columns::{CellBudget, Column, Columns};
pub use definition::{CLEANUP, Ending, Intern, end, hold, is_stuck, kinds_of, settle, stored_kind_of};
pub use definition::{approval, certificates, condition, storage_version};
pub use paths::{FieldPath, TypeMismatch};
pub use scaling::Scaling;
pub use structural_schema::{
    AdditionalProperties, Brackets, Constraints, ListType, MapType, SchemaType, StructuralSchema,
    ValidationResult, before_of, resolve,
};

/// How objects of a custom kind are converted between versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conversion {
    /// Only `apiVersion` changes.
    #[default]
    None,
    /// By a webhook, which is not supported.
    Webhook,
}

/// The identity of one state of a definition, by uid and generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edition {
    uid: String,
    generation: i64,
}

/// The declarations of one version of a definition.
#[derive(Clone, Debug)]
pub struct Custom {
    /// The schema of its objects.
    pub structural_schema: StructuralSchema,
    /// The schemas of other versions, by version, if they differ.
    pub other_versions: BTreeMap<String, StructuralSchema>,
    /// The schema as it was written, for publishing: `openAPIV3Schema`.
    pub schema: Value,
    /// The printer columns.
    pub columns: Columns,
    /// The selectable fields, besides those of every object.
    pub selectable: Vec<FieldPath>,
    /// The paths of the subresource `scale`, if there is one.
    pub scaling: Option<Scaling>,
    /// The path of the replicas in every version; `None` in versions without a scale.
    pub replicas: BTreeMap<String, Option<FieldPath>>,
    /// The storage version: `example.com/v1`.
    pub stored_as: String,
    /// The state of the definition.
    pub edition: Edition,
    /// How objects are converted between versions.
    pub conversion: Conversion,
    /// Whether the definition is being deleted.
    pub is_terminating: bool,
    /// The deprecation warning of this version, if it is deprecated.
    pub deprecation: Option<String>,
}

impl Custom {
    /// Returns an error if an object would have to be converted by a webhook.
    ///
    /// Changing only `apiVersion` would return a wrong object.
    pub fn check_conversion(&self, kind: &str, from: &str, to: &str) -> Result<(), Refusal> {
        if self.conversion == Conversion::None || from == to {
            return Ok(());
        }
        Err(Refusal::server_error(format!(
            "conversion webhook for {from}, Kind={kind} failed: webhooks are not called here; use {} instead of {to}, or \
             strategy None",
            self.stored_as
        )))
    }
}
