//! Output of whole objects: `-o yaml`, `-o json`, `-o name`, JSONPath and custom columns.

use gantry_client::ApiRequest;
use gantry_json::Value;

use super::table::{compare, sort_key};
use super::{GetOptions, items};
use crate::arguments::ResourceArg;
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::text;
use crate::print::{Format, as_list, without_managed_fields};
use crate::selection::all_of;

/// Prints whole objects.
pub(super) async fn print(
    ctx: &mut ClientContext,
    options: &GetOptions,
    format: &Format,
) -> Result<(), Failure> {
    let items = items(ctx, options).await?;
    let (mut objects, mut failures) = (Vec::new(), Vec::new());
    for item in &items.items {
        let namespace = ctx.namespace.clone();
        let found = match item {
            ResourceArg::Named(resource, name) => {
                let path = options.path(&resource.object(&namespace, name));
                ctx.request(ApiRequest::get(path)).await.map(|object| vec![object])
            }
            ResourceArg::All(resource) => all_of(ctx, resource, &options.selection).await,
        };
        match found {
            Ok(found) => objects.extend(found.into_iter().map(|object| (item.resource(), object))),
            Err(failure) if failure.is_not_found() && options.ignore_not_found => {}
            Err(failure) => failures.push(failure),
        }
    }
    if let Some(path) = &options.sort_by {
        let keyed =
            objects.into_iter().map(|(resource, object)| Ok((sort_key(path, &object)?, resource, object)));
        let mut keyed = keyed.collect::<Result<Vec<_>, Failure>>()?;
        keyed.sort_by(|(one, ..), (other, ..)| compare(one, other));
        objects = keyed.into_iter().map(|(_, resource, object)| (resource, object)).collect();
    }
    if matches!(format, Format::Name) {
        for (resource, object) in &objects {
            ctx.println(&format!("{}/{}", resource.singular_with_group(), text(object, "/metadata/name")))?;
        }
        return Failure::all(failures);
    }
    let mut objects: Vec<Value> = objects.into_iter().map(|(_, object)| shown(options, object)).collect();
    let whole = match (items.is_one_object(), objects.len()) {
        (true, 0) => None,
        (true, _) => objects.pop(),
        (false, 0) if !failures.is_empty() => None,
        (false, _) => Some(as_list(&objects)),
    };
    if let Some(document) = whole.and_then(|whole| format.document(&whole)) {
        let document = document?;
        let without_header = matches!(format, Format::Columns(_)) && options.no_headers;
        let body = document.split_once('\n').map_or("", |(_, rest)| rest);
        ctx.print(if without_header { body } else { &document })?;
    }
    Failure::all(failures)
}

/// The object as it is shown.
pub(super) fn shown(options: &GetOptions, object: Value) -> Value {
    if options.managed_fields { object } else { without_managed_fields(object) }
}
