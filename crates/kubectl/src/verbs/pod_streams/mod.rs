//! The verbs with streams to and from containers: `logs`, `exec`, `attach`, `port-forward` and `cp`.
//!
//! `pod_choice` finds the pod of an argument, and the container; `remote_command` connects streams with a process in a container.

mod attach;
mod container_choice;
mod copy;
mod exec;
mod logs;
mod pod_choice;
mod port_forward;
mod remote_command;

pub use attach::{AttachOptions, attach};
pub use copy::{CopyOptions, copy};
pub use exec::{ExecOptions, exec};
pub use logs::{LogsOptions, logs};
pub use port_forward::{PortForwardOptions, port_forward};
pub use remote_command::{LocalTerminal, TerminalSize};
