//! `wait`: until objects are created, deleted, or meet a condition.

mod creation;
mod goal;

use std::time::Duration;

use gantry_json::Value;
use tokio::time::{Instant, timeout_at};

use super::object_watch::{ObjectState, ObjectWatch, wait_for_deletion};
use super::result_printer::ResultPrinter;
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::selection::{BareType, FoundObject, Selection, find, no_resources_specified};
pub use goal::Goal;
use goal::Kind;

/// The options of `wait`.
#[derive(Clone, Debug)]
pub struct WaitOptions {
    /// The objects.
    pub selection: Selection,
    /// The condition to wait for.
    pub goal: Goal,
    /// How long to wait.
    pub timeout: WaitTimeout,
    /// How results are printed.
    pub printer: ResultPrinter,
}

/// How long to wait, for all objects together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitTimeout {
    /// Check once.
    CheckOnce,
    /// Wait at most this long.
    AtMost(Duration),
}

impl WaitTimeout {
    /// The timeout for negative values, as in kubectl.
    pub const WEEK: Self = Self::AtMost(Duration::from_secs(7 * 24 * 60 * 60));

    fn deadline(self) -> Instant {
        match self {
            Self::CheckOnce => Instant::now(),
            Self::AtMost(limit) => Instant::now() + limit,
        }
    }
}

/// Waits for objects, one after the other.
pub async fn wait(ctx: &mut ClientContext, options: &WaitOptions) -> Result<(), Failure> {
    if options.selection.is_empty() {
        return Err(no_resources_specified());
    }
    let deadline = options.timeout.deadline();
    if options.goal.0 == Kind::Created {
        for one in creation::of_all(ctx, options, deadline).await? {
            options.printer.print(ctx, &one.title(), "condition met", &one.object)?;
        }
        return Ok(());
    }
    let (found, mut failures) = find(ctx, &options.selection, BareType::Error).await?;
    if options.goal.0 == Kind::Deleted {
        failures.retain(|failure| !failure.is_not_found());
    } else if found.is_empty() && failures.is_empty() {
        return Err(Failure::other("no matching resources found"));
    }
    let mut is_fresh = true;
    for one in found {
        match wait_for(ctx, options, &one, is_fresh, deadline).await {
            Ok((object, was_so)) => {
                is_fresh &= was_so;
                options.printer.print(ctx, &one.title(), "condition met", &object)?;
            }
            Err(failure) => {
                is_fresh = false;
                failures.push(failure);
            }
        }
    }
    Failure::all(failures)
}

/// Waits for one object; returns it, and whether it met the condition at once.
async fn wait_for(
    ctx: &mut ClientContext,
    options: &WaitOptions,
    one: &FoundObject,
    is_fresh: bool,
    deadline: Instant,
) -> Result<(Value, bool), Failure> {
    // Waiting for other objects may have taken long.
    let now = if is_fresh {
        Ok(one.object.clone())
    } else {
        ctx.object(&one.resource, &one.namespace, &one.name).await
    };
    let now = match now {
        Err(failure) if failure.is_not_found() && options.goal.0 == Kind::Deleted => {
            return Ok((one.object.clone(), true));
        }
        now => now?,
    };
    if options.goal.is_met(&now)? {
        return Ok((now, true));
    }
    let name = format!("{}/{}", one.resource.plural, one.name);
    if options.timeout == WaitTimeout::CheckOnce {
        return Err(Failure::other(format!("condition not met for {name}")));
    }
    let met = async {
        match options.goal.0 {
            Kind::Deleted => {
                wait_for_deletion(ctx, &one.resource, &one.namespace, &now).await.map(|()| now.clone())
            }
            _ => until_met(ctx, &options.goal, one, &now).await,
        }
    };
    let met = timeout_at(deadline, met).await;
    let met =
        met.unwrap_or_else(|_| Err(Failure::other(format!("timed out waiting for the condition on {name}"))));
    met.map(|object| (object, false))
}

async fn until_met(
    ctx: &mut ClientContext,
    goal: &Goal,
    one: &FoundObject,
    now: &Value,
) -> Result<Value, Failure> {
    let mut watch = ObjectWatch::from(ctx, &one.resource, &one.namespace, now).await?;
    loop {
        match watch.next(ctx).await? {
            ObjectState::Present(object) if goal.is_met(&object)? => return Ok(object),
            // A deleted object may be created again.
            ObjectState::Present(_) | ObjectState::Deleted(_) => {}
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
