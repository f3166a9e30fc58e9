//! The verbs, one file each.

mod apply;
mod changes;
mod create;
mod delete;
mod describe;
mod get;
mod labels;
mod patch;
mod replace;
mod report;
mod rollout;
mod scale;
mod set_image;

pub use apply::{Apply, ServerSide, apply};
pub use create::{Create, CreateDeployment, create, create_deployment, create_namespace};
pub use delete::{Cascade, Delete, delete};
pub use describe::{Describe, describe};
pub use get::{Get, Watching, get, raw};
pub use labels::{Change, Marks, Relabel, relabel};
pub use patch::{Patch, patch};
pub use replace::{Replace, replace};
pub use report::{DryRun, Report, Validation};
pub use rollout::{History, PauseOrResume, Status, Undo, history, pause_or_resume, restart, status, undo};
pub use scale::{Scale, scale};
pub use set_image::{NewImage, SetImage, set_image};
