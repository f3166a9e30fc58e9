//! The verbs, one file each.

mod api_resources;
mod apply;
mod create;
mod delete;
mod describe;
mod diff;
mod events;
mod explain;
mod get;
mod label_annotate;
mod object_watch;
mod patch;
mod pod_streams;
mod replace;
mod result_printer;
mod rollout;
mod scale;
mod set_image;
mod version;
mod wait;

pub use api_resources::{ApiResourcesOptions, api_resources};
pub use apply::{ApplyOptions, ServerSide, apply, apply_manifests};
pub use create::{CreateDeploymentOptions, CreateOptions, create, create_deployment, create_namespace};
pub use delete::{Cascade, DeleteOptions, delete};
pub use describe::{DescribeOptions, describe};
pub use diff::{DiffOptions, Differences, diff};
pub use events::{EventsOptions, events};
pub use explain::{ExplainOptions, explain};
pub use get::{GetOptions, WatchOptions, get, raw};
pub use label_annotate::{LabelAnnotateOptions, MetadataChange, MetadataField, label_or_annotate};
pub use patch::{PatchOptions, patch};
pub use pod_streams::{
    AttachOptions, CopyOptions, ExecOptions, LocalTerminal, LogsOptions, PortForwardOptions, TerminalSize,
    attach, copy, exec, logs, port_forward,
};
pub use replace::{ReplaceOptions, replace};
pub use result_printer::{DryRun, ResultPrinter, Validation};
pub use rollout::{
    HistoryOptions, PauseOrResume, RolloutStatusOptions, UndoOptions, history, pause_or_resume, restart,
    status, undo,
};
pub use scale::{ScaleOptions, scale};
pub use set_image::{NewImage, SetImageOptions, set_image};
pub use version::{VersionOptions, client_version, version};
pub use wait::{Goal, WaitOptions, WaitTimeout, wait};
