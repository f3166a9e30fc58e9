//! Kinds that users define: what a CustomResourceDefinition says, and what that means for its objects.
//!
//! A definition carries a [`Structure`], its schema as data. Everything that the compiled-in schema says of other kinds
//! (which fields there are, what they mean when left out, how lists merge), it says of these. An object that comes in is
//! pruned to what is declared, filled with defaults, and judged.

mod columns;
mod definition;
mod paths;
mod scaling;
mod structural_schema;

use std::collections::BTreeMap;

use serde_json::Value;

use gantry_primitives::Refusal;

pub use columns::{Column, Columns};
pub use definition::{CLEANUP, Ending, Keep, end, hold, is_stuck, kinds_of, settle, stored_kind_of};
pub use definition::{approval, certificates, condition, storage_version};
pub use paths::{FieldPath, TypeMismatch};
pub use scaling::Scaling;
pub use structural_schema::{
    Basic, Brackets, Holds, Lists, Maps, Rules, Structure, ValidationResult, Values, before_of, resolve,
};

/// How objects of a custom kind get from one version to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conversion {
    /// They are the same in all of them.
    #[default]
    None,
    /// Somebody else would have to be asked.
    Webhook,
}

/// One edition of a definition: two that are equal say the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edition {
    uid: String,
    generation: i64,
}

/// What is known of a custom kind beyond its names.
#[derive(Clone, Debug)]
pub struct Custom {
    /// What its objects look like.
    pub structure: Structure,
    /// What they look like in other versions, by version, where that is different.
    pub otherwise: BTreeMap<String, Structure>,
    /// The same as somebody wrote it, to be published: `openAPIV3Schema`.
    pub schema: Value,
    /// How they are shown in a table.
    pub columns: Columns,
    /// The fields by which they can be selected, besides those of any object.
    pub selectable: Vec<FieldPath>,
    /// Where their replicas are, if they can be scaled.
    pub scaling: Option<Scaling>,
    /// Where they are in every version, by version; `None` in versions without a scale.
    pub replicas: BTreeMap<String, Option<FieldPath>>,
    /// The version in which they are stored: `example.com/v1`.
    pub stored_as: String,
    /// The edition of the definition.
    pub edition: Edition,
    /// How objects get from one version to another.
    pub conversion: Conversion,
    /// Whether the definition is being deleted, and so are all objects.
    pub goes: bool,
    /// What whoever uses this version is told, if it is deprecated.
    pub deprecation: Option<String>,
}

impl Custom {
    /// Refuses to show an object of one version as another where only somebody else knows how.
    ///
    /// An object that is merely renamed would look right and be wrong.
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
