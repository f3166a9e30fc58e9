//! Waiting for an object to change.

use serde_json::Value;

use crate::call::Call;
use crate::failure::Failure;
use crate::field::text;
use crate::resources::Resource;
use crate::selection::items_of;
use crate::session::{Changes, Session};

/// An object and every change of it.
pub(crate) struct Following {
    resource: Resource,
    /// The request that lists the object alone.
    list: Call,
    changes: Changes,
    /// What has been seen and not been handed out.
    seen: Option<Seen>,
}

/// What was seen of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    /// It is so.
    Is(Value),
    /// It is gone; so it was last.
    Gone(Value),
}

impl Following {
    /// Begins to follow an object that was read.
    pub(crate) async fn from(
        session: &mut Session,
        resource: &Resource,
        namespace: &str,
        object: &Value,
    ) -> Result<Self, Failure> {
        let name = text(object, "/metadata/name");
        let list = Call::get(resource.collection(Some(namespace)));
        let list = list.with("fieldSelector", format!("metadata.name={name}"));
        let (now, changes) = begin(session, resource, &list).await?;
        let version = |one: &Value| text(one, "/metadata/resourceVersion").to_owned();
        let seen = match now {
            Seen::Is(now) if version(&now) == version(object) => None,
            other => Some(other),
        };
        Ok(Self { resource: resource.clone(), list, changes, seen })
    }

    /// The next thing that is seen of it.
    pub(crate) async fn next(&mut self, session: &mut Session) -> Result<Seen, Failure> {
        if let Some(seen) = self.seen.take() {
            return Ok(seen);
        }
        loop {
            match self.changes.next().await {
                Ok(Some(change)) if change["type"] == "BOOKMARK" => {}
                Ok(Some(mut change)) => {
                    let object = change["object"].take();
                    return Ok(if change["type"] == "DELETED" {
                        Seen::Gone(object)
                    } else {
                        Seen::Is(object)
                    });
                }
                // The watch ended or is too old: look again.
                Ok(None) | Err(Failure::Refused(_)) => {
                    let (now, changes) = begin(session, &self.resource, &self.list).await?;
                    self.changes = changes;
                    return Ok(now);
                }
                Err(other) => return Err(other),
            }
        }
    }
}

/// Follows an object until it is gone, or another has taken its name.
pub(crate) async fn until_gone(
    session: &mut Session,
    resource: &Resource,
    namespace: &str,
    object: &Value,
) -> Result<(), Failure> {
    let is_it = |seen: &Value| text(seen, "/metadata/uid") == text(object, "/metadata/uid");
    let mut following = Following::from(session, resource, namespace, object).await?;
    loop {
        match following.next(session).await? {
            Seen::Is(seen) if is_it(&seen) => {}
            Seen::Is(_) | Seen::Gone(_) => return Ok(()),
        }
    }
}

/// The object as it is now, and the changes from then on. They are watched from the version of the list: that of the
/// object may be so old that the server no longer knows what came after it.
async fn begin(session: &mut Session, resource: &Resource, list: &Call) -> Result<(Seen, Changes), Failure> {
    let answer = session.ask(list.clone()).await?;
    let version = text(&answer, "/metadata/resourceVersion");
    let changes = session.watch(list.clone().with("resourceVersion", version)).await?;
    let now = items_of(&answer, resource).into_iter().next();
    Ok((now.map_or(Seen::Gone(Value::Null), Seen::Is), changes))
}
