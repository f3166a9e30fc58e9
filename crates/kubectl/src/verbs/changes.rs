//! Waiting for an object to change.

use serde_json::Value;

use crate::call::Call;
use crate::failure::Failure;
use crate::field::text;
use crate::resources::Resource;
use crate::session::{Changes, Session};

/// An object as it is and every change of it from then on.
pub(crate) struct Following {
    path: String,
    name: String,
    changes: Changes,
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
        let name = text(object, "/metadata/name").to_owned();
        let path = resource.collection(Some(namespace));
        let changes = watch(session, &path, &name, text(object, "/metadata/resourceVersion")).await?;
        Ok(Self { path, name, changes })
    }

    /// The next thing that is seen of it.
    pub(crate) async fn next(&mut self, session: &mut Session) -> Result<Seen, Failure> {
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
                    let object = match session.ask(Call::get(format!("{}/{}", self.path, self.name))).await {
                        Err(failure) if failure.is_not_found() => return Ok(Seen::Gone(Value::Null)),
                        answer => answer?,
                    };
                    let version = text(&object, "/metadata/resourceVersion").to_owned();
                    self.changes = watch(session, &self.path, &self.name, &version).await?;
                    return Ok(Seen::Is(object));
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

async fn watch(session: &mut Session, path: &str, name: &str, version: &str) -> Result<Changes, Failure> {
    let call = Call::get(path).with("fieldSelector", format!("metadata.name={name}"));
    session.watch(call.with("resourceVersion", version)).await
}
