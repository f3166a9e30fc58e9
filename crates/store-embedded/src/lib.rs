//! The store in a directory: everything in memory, and on disk before it is acknowledged.
//!
//! ```text
//! commit ─► writer thread ─► stage (Live) ─► log: append, sync ─► publish (Live) ─► response, watchers
//!                                                                                             │
//!                                     maintenance thread: next segment, snapshot, removal of what the snapshot
//!                   covers
//! ```
//!
//! Start at [`EmbeddedStore`]. On disk are numbered log segments (`frame.rs` describes their content), one snapshot
//! of the state at the oldest kept revision, and `LOCK`. Recovery loads the snapshot and replays the log from there,
//! which restores the keys and the history, so watches resume after a restart.
//!
//! Absent on purpose: other backends, HTTP, Kubernetes types, and any file access that does not go through [`Disk`].

mod backup;
mod check;
mod codec;
pub mod disk;
mod disk_health;
mod engine;
mod error;
mod frame;
mod high_water_mark;
mod lock;
mod log;
mod maintenance;
mod maintenance_thread;
mod options;
mod recovery;
mod repair;
mod segment;
mod snapshot;
mod store;
mod writer;

#[cfg(test)]
mod tests;

pub use backup::{Backup, Restored, backup, restore};
pub use check::{CheckReport, SegmentReport, check};
pub use disk::{Directory, Disk, DiskFile};
pub use error::OpenError;
pub use options::Options;
pub use repair::{RepairReport, repair};
pub use store::EmbeddedStore;
