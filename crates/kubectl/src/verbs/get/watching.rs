//! `get --watch`: what is there, and then every change (K2.8).

use serde_json::Value;

use super::documents::shown;
use super::table::{Columns, rows as rows_of};
use super::{Get, items};
use crate::arguments::{Item, Items};
use crate::call::{Call, OBJECTS, TABLE};
use crate::failure::Failure;
use crate::field::text;
use crate::print::{Format, Rows, Widths};
use crate::resources::Resource;
use crate::selection::{list_call, unlisted};
use crate::session::{Changes, Session};

/// Prints rows as long as somebody watches.
pub(super) async fn rows(session: &mut Session, asked: &Get, items: &Items) -> Result<(), Failure> {
    let item = single(items)?;
    let resource = item.resource().clone();
    let columns = Columns {
        wide: asked.output.as_deref() == Some("wide"),
        namespace: asked.selection.all_namespaces && resource.namespaced,
        prefix: asked.show_kind.then(|| resource.singular_with_group()),
        labels: asked.show_labels,
        label_columns: asked.label_columns.clone(),
        sort_by: None,
    };
    let mut widths = Widths::default();
    let mut header = !asked.no_headers;
    let (answer, mut changes) = begin(session, asked, item, TABLE).await?;
    if !asked.watching.only {
        let mut found = rows_of(&answer, &columns)?;
        if !found.rows.is_empty() {
            said(&mut found, "ADDED", asked);
            session.print(&found.lines(&mut widths, header))?;
            header = false;
        }
    }
    let mut definitions = answer["columnDefinitions"].clone();
    while let Some(mut change) = changes.next().await? {
        let what = change["type"].as_str().unwrap_or_default().to_owned();
        if what == "BOOKMARK" {
            continue;
        }
        let mut table = change["object"].take();
        // Only the first table of a watch says what its columns are.
        match table["columnDefinitions"].as_array() {
            Some(own) if !own.is_empty() => definitions = table["columnDefinitions"].clone(),
            _ => table["columnDefinitions"] = definitions.clone(),
        }
        let mut found = rows_of(&table, &columns)?;
        said(&mut found, &what, asked);
        session.print(&found.lines(&mut widths, header))?;
        header = false;
    }
    Ok(())
}

/// Prints whole objects as long as somebody watches.
pub(super) async fn documents(session: &mut Session, asked: &Get, format: &Format) -> Result<(), Failure> {
    let items = items(session, asked).await?;
    let item = single(&items)?;
    let resource = item.resource().clone();
    let (answer, mut changes) = begin(session, asked, item, OBJECTS).await?;
    if !asked.watching.only {
        let objects = match answer.get("items") {
            Some(items) => items.as_array().cloned().unwrap_or_default(),
            None => vec![answer],
        };
        for object in objects {
            print_object(session, asked, format, &resource, object)?;
        }
    }
    while let Some(mut change) = changes.next().await? {
        if change["type"] != "BOOKMARK" {
            print_object(session, asked, format, &resource, change["object"].take())?;
        }
    }
    Ok(())
}

fn print_object(
    session: &mut Session,
    asked: &Get,
    format: &Format,
    resource: &Resource,
    mut object: Value,
) -> Result<(), Failure> {
    if matches!(format, Format::Name) {
        return session.say(&format!(
            "{}/{}",
            resource.singular_with_group(),
            text(&object, "/metadata/name")
        ));
    }
    object["apiVersion"] = resource.api_version().into();
    object["kind"] = resource.kind.clone().into();
    match format.document(&shown(asked, object)) {
        Some(document) if matches!(format, Format::Yaml) => session.print(&format!("---\n{}", document?)),
        Some(document) => session.print(&document?),
        None => Ok(()),
    }
}

/// What is there, and the changes from then on.
async fn begin(
    session: &mut Session,
    asked: &Get,
    item: &Item,
    accept: &'static str,
) -> Result<(Value, Changes), Failure> {
    match item {
        Item::One(resource, name) => {
            let answer = session
                .ask(Call::get(resource.object(&session.namespace.clone(), name)).accepting(accept))
                .await?;
            // The version of the object may be too old to watch from. From version 0 on, the object comes again first.
            let call = Call::get(resource.collection(Some(&session.namespace.clone()))).accepting(accept);
            let call =
                call.with("fieldSelector", format!("metadata.name={name}")).with("resourceVersion", "0");
            let mut changes = session.watch(call).await?;
            changes.next().await?;
            Ok((answer, changes))
        }
        Item::All(resource) => {
            let call = list_call(session, resource, &asked.selection).accepting(accept);
            let answer = session.ask(call.clone()).await;
            let answer = answer.map_err(|failure| unlisted(failure, resource, &asked.selection))?;
            let from = text(&answer, "/metadata/resourceVersion").to_owned();
            Ok((answer, session.watch(call.with("resourceVersion", from)).await?))
        }
    }
}

fn single(items: &Items) -> Result<&Item, Failure> {
    match items.items.as_slice() {
        [only] => Ok(only),
        _ => Err(Failure::other("you may only specify a single resource type")),
    }
}

fn said(rows: &mut Rows, what: &str, asked: &Get) {
    if asked.watching.events {
        rows.header.insert(0, "EVENT".into());
        for row in &mut rows.rows {
            row.insert(0, what.to_owned());
        }
    }
}
