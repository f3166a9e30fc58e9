//! The strategies of reviews, which are answered and not stored.

use super::{KindStrategy, OnCreate, Review};

pub(super) const SELF: KindStrategy = of(Review::Caller);
pub(super) const TOKEN: KindStrategy = of(Review::Token);
pub(super) const ACCESS: KindStrategy = of(Review::Access);
pub(super) const OWN_ACCESS: KindStrategy = of(Review::OwnAccess);
pub(super) const OWN_RULES: KindStrategy = of(Review::OwnRules);

const fn of(review: Review) -> KindStrategy {
    KindStrategy { on_create: OnCreate::Review(review), ..KindStrategy::DEFAULT }
}
