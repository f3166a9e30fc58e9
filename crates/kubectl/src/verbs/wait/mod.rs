//! `wait`: until objects are there, gone, or as they should be.

mod creation;
mod goal;

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::changes::{Following, Seen, until_gone};
use super::report::Report;
use crate::failure::Failure;
use crate::selection::{BareType, Found, Selection, find, nothing_named};
use crate::session::Session;
pub use goal::Goal;
use goal::Kind;

/// What to wait for.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Which objects.
    pub selection: Selection,
    /// What should become of them.
    pub goal: Goal,
    /// How long that may take.
    pub patience: Patience,
    /// How it is told.
    pub report: Report,
}

/// How long somebody waits, for all objects together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Not at all: they are looked at once.
    LookOnce,
    /// So long.
    AtMost(Duration),
}

impl Patience {
    /// As long as anybody would.
    pub const A_WEEK: Self = Self::AtMost(Duration::from_secs(7 * 24 * 60 * 60));

    fn deadline(self) -> Instant {
        match self {
            Self::LookOnce => Instant::now(),
            Self::AtMost(limit) => Instant::now() + limit,
        }
    }
}

/// Waits for objects, one after the other.
pub async fn wait(session: &mut Session, asked: &Wait) -> Result<(), Failure> {
    if asked.selection.is_empty() {
        return Err(nothing_named());
    }
    let deadline = asked.patience.deadline();
    if asked.goal.0 == Kind::Created {
        for one in creation::of_all(session, asked, deadline).await? {
            asked.report.tell(session, &one.title(), "condition met", &one.object)?;
        }
        return Ok(());
    }
    let (found, mut failures) = find(session, &asked.selection, BareType::Mistake).await?;
    if asked.goal.0 == Kind::Deleted {
        failures.retain(|failure| !failure.is_not_found());
    } else if found.is_empty() && failures.is_empty() {
        return Err(Failure::other("no matching resources found"));
    }
    let mut is_fresh = true;
    for one in found {
        match wait_for(session, asked, &one, is_fresh, deadline).await {
            Ok((object, was_so)) => {
                is_fresh &= was_so;
                asked.report.tell(session, &one.title(), "condition met", &object)?;
            }
            Err(failure) => {
                is_fresh = false;
                failures.push(failure);
            }
        }
    }
    Failure::all(failures)
}

/// Waits for one object; returns it, and whether it was so from the beginning.
async fn wait_for(
    session: &mut Session,
    asked: &Wait,
    one: &Found,
    is_fresh: bool,
    deadline: Instant,
) -> Result<(Value, bool), Failure> {
    // Others may have taken long.
    let now = if is_fresh {
        Ok(one.object.clone())
    } else {
        session.object(&one.resource, &one.namespace, &one.name).await
    };
    let now = match now {
        Err(failure) if failure.is_not_found() && asked.goal.0 == Kind::Deleted => {
            return Ok((one.object.clone(), true));
        }
        now => now?,
    };
    if asked.goal.is_met(&now)? {
        return Ok((now, true));
    }
    let name = format!("{}/{}", one.resource.plural, one.name);
    if asked.patience == Patience::LookOnce {
        return Err(Failure::other(format!("condition not met for {name}")));
    }
    let met = async {
        match asked.goal.0 {
            Kind::Deleted => {
                until_gone(session, &one.resource, &one.namespace, &now).await.map(|()| now.clone())
            }
            _ => until_met(session, &asked.goal, one, &now).await,
        }
    };
    let met = timeout_at(deadline, met).await;
    let met =
        met.unwrap_or_else(|_| Err(Failure::other(format!("timed out waiting for the condition on {name}"))));
    met.map(|object| (object, false))
}

async fn until_met(session: &mut Session, goal: &Goal, one: &Found, now: &Value) -> Result<Value, Failure> {
    let mut following = Following::from(session, &one.resource, &one.namespace, now).await?;
    loop {
        match following.next(session).await? {
            Seen::Is(object) if goal.is_met(&object)? => return Ok(object),
            // Who is gone may come back.
            Seen::Is(_) | Seen::Gone(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failure_alone_begins_with_error() {
        let late = |name: &str| Failure::other(format!("timed out waiting for the condition on pods/{name}"));
        assert_eq!(
            Failure::all(vec![late("a")]).unwrap_err().lines(),
            "error: timed out waiting for the condition on pods/a\n"
        );
        assert_eq!(
            Failure::all(vec![late("a"), late("b")]).unwrap_err().lines(),
            "timed out waiting for the condition on pods/a\ntimed out waiting for the condition on pods/b\n"
        );
    }
}
