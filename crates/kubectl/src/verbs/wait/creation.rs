//! `wait --for=create`: until there is something to look at.

use tokio::time::{Instant, timeout_at};

use super::{Patience, Wait};
use crate::arguments::{Item, Items};
use crate::call::Call;
use crate::failure::Failure;
use crate::field::text;
use crate::manifests::{self, Place};
use crate::resources::Resource;
use crate::selection::{BareType, Found, Selection, items_of, list_call};
use crate::session::Session;

/// What is to appear: anything that this request lists.
struct Awaited {
    resource: Resource,
    list: Call,
}

/// Waits until everything that was named is there, and something of what was selected.
pub(super) async fn of_all(
    session: &mut Session,
    asked: &Wait,
    deadline: Instant,
) -> Result<Vec<Found>, Failure> {
    let too_late = || Failure::other("timed out waiting for the condition");
    let mut found = Vec::new();
    for one in awaited(session, &asked.selection).await? {
        let (mut there, version) = look(session, &one).await?;
        if there.is_empty() && asked.patience != Patience::LookOnce {
            let appeared = timeout_at(deadline, appears(session, &one, version)).await;
            there = appeared.unwrap_or_else(|_| Err(too_late()))?;
        }
        if there.is_empty() {
            return Err(too_late());
        }
        found.extend(there);
    }
    Ok(found)
}

impl Awaited {
    fn named(resource: Resource, namespace: &str, name: &str) -> Self {
        let list = Call::get(resource.collection(Some(namespace)));
        Self { list: list.with("fieldSelector", format!("metadata.name={name}")), resource }
    }
}

async fn awaited(session: &mut Session, selection: &Selection) -> Result<Vec<Awaited>, Failure> {
    let resources = session.resources().await?;
    let namespace = session.namespace.clone();
    let place = Place { namespace: &namespace, was_asked_for: session.namespace_was_asked_for };
    let mut all = Vec::new();
    for manifest in manifests::read(&selection.files, selection.recursive)? {
        manifest.check()?;
        let written = manifest.placed(&resources, place)?;
        all.push(Awaited::named(written.resource, &written.namespace, &written.name));
    }
    let items = Items::read(&resources, &selection.words)?.items;
    selection.check(&items, BareType::Mistake)?;
    for item in items {
        all.push(match item {
            Item::One(resource, name) => Awaited::named(resource, &namespace, &name),
            Item::All(resource) => Awaited { list: list_call(session, &resource, selection), resource },
        });
    }
    Ok(all)
}

/// What is there, and at which version that was so.
async fn look(session: &mut Session, awaited: &Awaited) -> Result<(Vec<Found>, String), Failure> {
    let answer = session.ask(awaited.list.clone()).await?;
    let found = items_of(&answer, &awaited.resource).into_iter();
    let found = found.map(|object| Found::of(&awaited.resource, object));
    Ok((found.collect(), text(&answer, "/metadata/resourceVersion").to_owned()))
}

/// Waits until something is there that was not there at this version.
async fn appears(
    session: &mut Session,
    awaited: &Awaited,
    mut version: String,
) -> Result<Vec<Found>, Failure> {
    loop {
        let mut changes = session.watch(awaited.list.clone().with("resourceVersion", version)).await?;
        loop {
            match changes.next().await {
                Ok(Some(change)) if change["type"] == "BOOKMARK" || change["type"] == "DELETED" => {}
                Ok(Some(mut change)) => {
                    return Ok(vec![Found::of(&awaited.resource, change["object"].take())]);
                }
                // The watch ended or is too old: look again.
                Ok(None) | Err(Failure::Refused(_)) => break,
                Err(other) => return Err(other),
            }
        }
        let (there, seen_at) = look(session, awaited).await?;
        if !there.is_empty() {
            return Ok(there);
        }
        version = seen_at;
    }
}
