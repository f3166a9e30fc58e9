//! Stories about the work queue; `naive` holds it against a model under generated calls.

mod naive;
mod stories;
