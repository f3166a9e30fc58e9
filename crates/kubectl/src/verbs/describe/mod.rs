//! `describe` (K3): reads an object and what belongs to it, and prints what it is like.

mod related;

use crate::call::Call;
use crate::describe::events;
use crate::failure::Failure;
use crate::field::{list, text};
use crate::print::{aligned, harmless};
use crate::selection::{BareType, Found, Selection, find};
use crate::session::Session;
use related::{EventsOf, described};

/// What to describe.
#[derive(Clone, Debug, Default)]
pub struct Describe {
    /// Which objects.
    pub selection: Selection,
    /// Whether events are shown too. Without a wish, they are for an object alone that was named in full or selected.
    pub events: Option<bool>,
}

/// Describes objects.
pub async fn describe(session: &mut Session, asked: &Describe) -> Result<(), Failure> {
    if asked.selection.is_empty() {
        return Err(Failure::other(
            "You must specify the type of resource to describe. Use \"kubectl api-resources\" for a complete list of supported resources.",
        ));
    }
    let (mut found, mut failures) = find(session, &asked.selection, BareType::All).await?;
    let mut by_prefix = false;
    if let ([], [failure], [kind, prefix]) =
        (found.as_slice(), failures.as_slice(), asked.selection.words.as_slice())
        && failure.is_not_found()
    {
        // Names of ReplicaSets and pods are long: a prefix stands for all objects whose names have it.
        let all = Selection { words: vec![kind.clone()], ..asked.selection.clone() };
        found = find(session, &all, BareType::All).await?.0;
        found.retain(|one| one.name.starts_with(prefix.as_str()));
        if !found.is_empty() {
            failures.clear();
            by_prefix = true;
        }
    }
    let with_events = asked.events.unwrap_or(found.len() + failures.len() == 1 && !by_prefix);
    let mut printed_any = false;
    for one in &found {
        match whole(session, one, with_events).await {
            Ok(text) if by_prefix => session.say(&text)?,
            Ok(text) if printed_any => session.print(&format!("\n\n{text}"))?,
            Ok(text) => session.print(&text)?,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        }
        printed_any = true;
    }
    if found.is_empty() && failures.is_empty() {
        let line = if asked.selection.all_namespaces {
            "No resources found".to_owned()
        } else {
            format!("No resources found in {} namespace.", session.namespace)
        };
        session.tell(&line);
    }
    Failure::all(failures)
}

/// The description of an object, with its events if they are wanted.
async fn whole(session: &mut Session, one: &Found, with_events: bool) -> Result<String, Failure> {
    let (mut out, of) = described(session, one).await?;
    if with_events && of != EventsOf::None {
        out += &about(session, one, of).await?;
    }
    Ok(aligned(&harmless(&out), 2))
}

/// The events about an object; none are shown if they may not be read.
async fn about(session: &mut Session, one: &Found, of: EventsOf) -> Result<String, Failure> {
    let uid = match of {
        EventsOf::Name => one.name.as_str(),
        _ => text(&one.object, "/metadata/uid"),
    };
    let (name, namespace, kind) = (&one.name, &one.namespace, &one.resource.kind);
    let about = format!(
        "involvedObject.name={name},involvedObject.namespace={namespace},involvedObject.kind={kind},involvedObject.uid={uid}"
    );
    let path = match namespace.as_str() {
        "" => "/api/v1/events".to_owned(),
        namespace => format!("/api/v1/namespaces/{namespace}/events"),
    };
    let call = Call::get(path).with("fieldSelector", about).with("limit", "500");
    match session.ask(call).await {
        Ok(answer) => Ok(events(list(&answer, "/items"), session.now())),
        Err(Failure::Refused(_)) => Ok(String::new()),
        Err(failure) => Err(failure),
    }
}
