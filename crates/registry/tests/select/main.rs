//! Selectors, list options and Tables, compared with recordings of Kubernetes, and with random input.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, in its helpers as well")]

mod fields;
mod labels;
mod options;
mod partials;
mod recording;
mod tables;
