//! `get --watch`: prints the current objects, and then every change (K2.8).

use gantry_client::{ApiRequest, OBJECTS, TABLE};
use gantry_json::Value;

use super::documents::shown;
use super::table::{Columns, rows as rows_of};
use super::{GetOptions, items};
use crate::arguments::{ResourceArg, ResourceArgs};
use crate::client_context::{ClientContext, WatchStream};
use crate::failure::Failure;
use crate::field::text;
use crate::print::{Format, Rows, Widths};
use crate::resources::ApiResource;
use crate::selection::{explain_list_failure, list_call};

/// Watches objects and prints rows.
pub(super) async fn rows(
    ctx: &mut ClientContext,
    options: &GetOptions,
    items: &ResourceArgs,
) -> Result<(), Failure> {
    let item = single(items)?;
    let resource = item.resource().clone();
    let columns = Columns {
        wide: options.output.as_deref() == Some("wide"),
        namespace: options.selection.all_namespaces && resource.namespaced,
        prefix: options.show_kind.then(|| resource.singular_with_group()),
        labels: options.show_labels,
        label_columns: options.label_columns.clone(),
        sort_by: None,
    };
    let mut widths = Widths::default();
    let mut header = !options.no_headers;
    let (response, mut changes) = begin(ctx, options, item, TABLE).await?;
    if !options.watching.only {
        let mut found = rows_of(&response, &columns)?;
        if !found.rows.is_empty() {
            add_event_column(&mut found, "ADDED", options);
            ctx.print(&found.lines(&mut widths, header))?;
            header = false;
        }
    }
    let mut definitions = response["columnDefinitions"].clone();
    while let Some(mut change) = changes.next().await? {
        let what = change["type"].as_str().unwrap_or_default().to_owned();
        if what == "BOOKMARK" {
            continue;
        }
        let mut table = change["object"].take();
        // Only the first table of a watch has column definitions.
        match table["columnDefinitions"].as_array() {
            Some(own) if !own.is_empty() => definitions = table["columnDefinitions"].clone(),
            _ => table["columnDefinitions"] = definitions.clone(),
        }
        let mut found = rows_of(&table, &columns)?;
        add_event_column(&mut found, &what, options);
        ctx.print(&found.lines(&mut widths, header))?;
        header = false;
    }
    Ok(())
}

/// Watches objects and prints them as documents.
pub(super) async fn documents(
    ctx: &mut ClientContext,
    options: &GetOptions,
    format: &Format,
) -> Result<(), Failure> {
    let items = items(ctx, options).await?;
    let item = single(&items)?;
    let resource = item.resource().clone();
    let (response, mut changes) = begin(ctx, options, item, OBJECTS).await?;
    if !options.watching.only {
        let objects = match response.get("items") {
            Some(items) => items.as_array().cloned().unwrap_or_default(),
            None => vec![response],
        };
        for object in objects {
            print_object(ctx, options, format, &resource, object)?;
        }
    }
    while let Some(mut change) = changes.next().await? {
        if change["type"] != "BOOKMARK" {
            print_object(ctx, options, format, &resource, change["object"].take())?;
        }
    }
    Ok(())
}

fn print_object(
    ctx: &mut ClientContext,
    options: &GetOptions,
    format: &Format,
    resource: &ApiResource,
    mut object: Value,
) -> Result<(), Failure> {
    if matches!(format, Format::Name) {
        return ctx.println(&format!(
            "{}/{}",
            resource.singular_with_group(),
            text(&object, "/metadata/name")
        ));
    }
    object["apiVersion"] = resource.api_version().into();
    object["kind"] = resource.kind.clone().into();
    match format.document(&shown(options, object)) {
        Some(document) if matches!(format, Format::Yaml) => ctx.print(&format!("---\n{}", document?)),
        Some(document) => ctx.print(&document?),
        None => Ok(()),
    }
}

/// The current objects, and the changes that follow.
async fn begin(
    ctx: &mut ClientContext,
    options: &GetOptions,
    item: &ResourceArg,
    accept: &'static str,
) -> Result<(Value, WatchStream), Failure> {
    match item {
        ResourceArg::Named(resource, name) => {
            let response = ctx
                .request(ApiRequest::get(resource.object(&ctx.namespace.clone(), name)).accepting(accept))
                .await?;
            // The version of the object may be too old to watch from. From version 0 on, the object is sent again first.
            let call = ApiRequest::get(resource.collection(Some(&ctx.namespace.clone()))).accepting(accept);
            let call =
                call.with("fieldSelector", format!("metadata.name={name}")).with("resourceVersion", "0");
            let mut changes = ctx.watch(call).await?;
            changes.next().await?;
            Ok((response, changes))
        }
        ResourceArg::All(resource) => {
            let call = list_call(ctx, resource, &options.selection).accepting(accept);
            let response = ctx.request(call.clone()).await;
            let response =
                response.map_err(|failure| explain_list_failure(failure, resource, &options.selection))?;
            let from = text(&response, "/metadata/resourceVersion").to_owned();
            Ok((response, ctx.watch(call.with("resourceVersion", from)).await?))
        }
    }
}

fn single(items: &ResourceArgs) -> Result<&ResourceArg, Failure> {
    match items.items.as_slice() {
        [only] => Ok(only),
        _ => Err(Failure::other("you may only specify a single resource type")),
    }
}

fn add_event_column(rows: &mut Rows, what: &str, options: &GetOptions) {
    if options.watching.events {
        rows.header.insert(0, "EVENT".into());
        for row in &mut rows.rows {
            row.insert(0, what.to_owned());
        }
    }
}
