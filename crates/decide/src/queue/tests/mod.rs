//! Stories about the work queue; `naive` compares it with a model under generated calls.

mod naive;
mod stories;
