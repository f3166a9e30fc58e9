//! The strategy of Bindings, which bind pods and are not stored.

use super::{KindStrategy, OnCreate};

pub(super) const STRATEGY: KindStrategy = KindStrategy { on_create: OnCreate::Bind, ..KindStrategy::DEFAULT };
