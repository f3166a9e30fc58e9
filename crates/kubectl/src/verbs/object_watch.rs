//! Watches a single object.

use gantry_client::ApiRequest;
use gantry_json::Value;

use crate::client_context::{ClientContext, WatchStream};
use crate::failure::Failure;
use crate::field::text;
use crate::resources::ApiResource;
use crate::selection::items_of;

/// A watch of one object.
pub(crate) struct ObjectWatch {
    resource: ApiResource,
    /// The request that lists the object alone.
    list: ApiRequest,
    changes: WatchStream,
    /// A state that was observed and not returned yet.
    seen: Option<ObjectState>,
}

/// An observed state of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ObjectState {
    /// The current object.
    Present(Value),
    /// Deleted; this was its last state.
    Deleted(Value),
}

impl ObjectWatch {
    /// Starts to watch an object that was read.
    pub(crate) async fn from(
        ctx: &mut ClientContext,
        resource: &ApiResource,
        namespace: &str,
        object: &Value,
    ) -> Result<Self, Failure> {
        let name = text(object, "/metadata/name");
        let list = ApiRequest::get(resource.collection(Some(namespace)));
        let list = list.with("fieldSelector", format!("metadata.name={name}"));
        let (now, changes) = begin(ctx, resource, &list).await?;
        let version = |one: &Value| text(one, "/metadata/resourceVersion").to_owned();
        let seen = match now {
            ObjectState::Present(now) if version(&now) == version(object) => None,
            other => Some(other),
        };
        Ok(Self { resource: resource.clone(), list, changes, seen })
    }

    /// Returns the next state.
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
                // The watch ended or expired: list again.
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

/// Watches an object until it is deleted or replaced by one with another uid.
pub(crate) async fn wait_for_deletion(
    ctx: &mut ClientContext,
    resource: &ApiResource,
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

/// Lists the object and watches it from the resource version of the list. The object's own version may be older than
/// the server's watch history.
async fn begin(
    ctx: &mut ClientContext,
    resource: &ApiResource,
    list: &ApiRequest,
) -> Result<(ObjectState, WatchStream), Failure> {
    let response = ctx.request(list.clone()).await?;
    let version = text(&response, "/metadata/resourceVersion");
    let changes = ctx.watch(list.clone().with("resourceVersion", version)).await?;
    let now = items_of(&response, resource).into_iter().next();
    Ok((now.map_or(ObjectState::Deleted(Value::Null), ObjectState::Present), changes))
}
