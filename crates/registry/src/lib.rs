//! The rules of the API server about objects: defaulting, admission, validation, lifecycle, tables.
//!
//! Objects are JSON values, and their shape is data in [`gantry_schema`]. This crate has the rules: defaults, admission,
//! validation, lifecycle, conversion between versions, selectors, tables and access control.
//!
//! *Invariant:* this crate has neither HTTP nor storage, no clock and no randomness: names, uids and times are passed
//! in. Errors have Kubernetes' wording.

pub mod access;
pub mod admission;
pub mod conversion;
pub mod defaults;
pub mod flow_control;
pub mod lifecycle;
pub mod paging;
pub mod pods;
pub mod selector;
pub mod strategies;
pub mod table;
pub mod target;
pub mod validation;

use gantry_primitives::{Cause, Details, FieldError, Refusal, StatusReason, Timestamp, Wrong};
use gantry_schema::{custom, decode, empties, kinds, schema};
