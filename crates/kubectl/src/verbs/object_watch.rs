//! Waiting for an object to change.

use serde_json::Value;

use crate::call::Call;
use crate::client_context::{ClientContext, WatchStream};
use crate::failure::Failure;
use crate::field::text;
use crate::resources::Resource;
use crate::selection::items_of;

/// An object and every change of it.
pub(crate) struct ObjectWatch {
    resource: Resource,
    /// The request that lists the object alone.
    list: Call,
    changes: WatchStream,
    /// What has been seen and not been handed out.
    seen: Option<ObjectState>,
}

/// What was seen of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ObjectState {
    /// It is so.
    Present(Value),
    /// It is gone; so it was last.
    Deleted(Value),
}

impl ObjectWatch {
    /// Begins to follow an object that was read.
    pub(crate) async fn from(
        ctx: &mut ClientContext,
        resource: &Resource,
        namespace: &str,
        object: &Value,
    ) -> Result<Self, Failure> {
        let name = text(object, "/metadata/name");
        let list = Call::get(resource.collection(Some(namespace)));
        let list = list.with("fieldSelector", format!("metadata.name={name}"));
        let (now, changes) = begin(ctx, resource, &list).await?;
        let version = |one: &Value| text(one, "/metadata/resourceVersion").to_owned();
        let seen = match now {
            ObjectState::Present(now) if version(&now) == version(object) => None,
            other => Some(other),
        };
        Ok(Self { resource: resource.clone(), list, changes, seen })
    }

    /// The next thing that is seen of it.
    pub(crate) async fn next(&mut self, ctx: &mut ClientContext) -> Result<ObjectState, Failure> {
        if let Some(seen) = self.seen.take() {
            return Ok(seen);
        }
        loop {
            match self.changes.next().await {
                Ok(Some(change)) if change["type"] == "BOOKMARK" => {}
                Ok(Some(mut change)) => {
                    let object = change["object"].take();
                    return Ok(if change["type"] == "DELETED" {
                        ObjectState::Deleted(object)
                    } else {
                        ObjectState::Present(object)
                    });
                }
                // The watch ended or is too old: look again.
                Ok(None) | Err(Failure::Status(_)) => {
                    let (now, changes) = begin(ctx, &self.resource, &self.list).await?;
                    self.changes = changes;
                    return Ok(now);
                }
                Err(other) => return Err(other),
            }
        }
    }
}

/// Follows an object until it is gone, or another has taken its name.
pub(crate) async fn wait_for_deletion(
    ctx: &mut ClientContext,
    resource: &Resource,
    namespace: &str,
    object: &Value,
) -> Result<(), Failure> {
    let is_it = |seen: &Value| text(seen, "/metadata/uid") == text(object, "/metadata/uid");
    let mut watch = ObjectWatch::from(ctx, resource, namespace, object).await?;
    loop {
        match watch.next(ctx).await? {
            ObjectState::Present(seen) if is_it(&seen) => {}
            ObjectState::Present(_) | ObjectState::Deleted(_) => return Ok(()),
        }
    }
}

/// The object as it is now, and the changes from then on. They are watched from the version of the list: that of the
/// object may be so old that the server no longer knows what came after it.
async fn begin(
    ctx: &mut ClientContext,
    resource: &Resource,
    list: &Call,
) -> Result<(ObjectState, WatchStream), Failure> {
    let answer = ctx.request(list.clone()).await?;
    let version = text(&answer, "/metadata/resourceVersion");
    let changes = ctx.watch(list.clone().with("resourceVersion", version)).await?;
    let now = items_of(&answer, resource).into_iter().next();
    Ok((now.map_or(ObjectState::Deleted(Value::Null), ObjectState::Present), changes))
}
