//! Selectors, list options and Tables, compared with recordings of Kubernetes, and with random input.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking, in their helpers as well")]

mod fields;
mod labels;
mod options;
mod partials;
mod recording;
mod tables;
