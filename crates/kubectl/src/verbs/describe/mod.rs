//! `describe` (K3): reads an object and related ones, and prints the description.

mod related;

use gantry_client::ApiRequest;

use crate::client_context::ClientContext;
use crate::describe::events;
use crate::failure::Failure;
use crate::field::{list, text};
use crate::print::{align_columns, escape_control_characters};
use crate::selection::{BareType, FoundObject, Selection, find};
use related::{EventsOf, described};

/// The options of `describe`.
#[derive(Clone, Debug, Default)]
pub struct DescribeOptions {
    /// The objects.
    pub selection: Selection,
    /// The value of `--show-events`; the default is true for a single object that was named in full or selected.
    pub events: Option<bool>,
}

/// Describes objects.
pub async fn describe(ctx: &mut ClientContext, options: &DescribeOptions) -> Result<(), Failure> {
    if options.selection.is_empty() {
        return Err(Failure::other(
            "You must specify the type of resource to describe. Use \"kubectl api-resources\" for a complete list of supported resources.",
        ));
    }
    let (mut found, mut failures) = find(ctx, &options.selection, BareType::All).await?;
    let mut by_prefix = false;
    if let ([], [failure], [kind, prefix]) =
        (found.as_slice(), failures.as_slice(), options.selection.words.as_slice())
        && failure.is_not_found()
    {
        // Names of ReplicaSets and pods are long: a prefix stands for all objects whose names have it.
        let all = Selection { words: vec![kind.clone()], ..options.selection.clone() };
        found = find(ctx, &all, BareType::All).await?.0;
        found.retain(|one| one.name.starts_with(prefix.as_str()));
        if !found.is_empty() {
            failures.clear();
            by_prefix = true;
        }
    }
    let with_events = options.events.unwrap_or(found.len() + failures.len() == 1 && !by_prefix);
    let mut printed_any = false;
    for one in &found {
        match whole(ctx, one, with_events).await {
            Ok(text) if by_prefix => ctx.println(&text)?,
            Ok(text) if printed_any => ctx.print(&format!("\n\n{text}"))?,
            Ok(text) => ctx.print(&text)?,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        }
        printed_any = true;
    }
    if found.is_empty() && failures.is_empty() {
        ctx.print_no_resources_found(options.selection.all_namespaces);
    }
    Failure::all(failures)
}

/// The description of an object, optionally with its events.
async fn whole(ctx: &mut ClientContext, one: &FoundObject, with_events: bool) -> Result<String, Failure> {
    let (mut out, of) = described(ctx, one).await?;
    if with_events && of != EventsOf::None {
        out += &about(ctx, one, of).await?;
    }
    Ok(align_columns(&escape_control_characters(&out), 2))
}

/// The events of an object; none if access is denied.
async fn about(ctx: &mut ClientContext, one: &FoundObject, of: EventsOf) -> Result<String, Failure> {
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
    let call = ApiRequest::get(path).with("fieldSelector", about).with("limit", "500");
    match ctx.request(call).await {
        Ok(response) => Ok(events(list(&response, "/items"), ctx.now())),
        Err(Failure::Status(_)) => Ok(String::new()),
        Err(failure) => Err(failure),
    }
}
