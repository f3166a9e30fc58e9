//! Whole objects: `-o yaml`, `-o json`, `-o name`, by a path or by columns of one's own.

use serde_json::Value;

use super::table::{compare, sort_key};
use super::{Get, items};
use crate::arguments::Item;
use crate::call::Call;
use crate::failure::Failure;
use crate::field::text;
use crate::print::{Format, as_list, without_managed_fields};
use crate::selection::all_of;
use crate::session::Session;

/// Prints whole objects.
pub(super) async fn print(session: &mut Session, asked: &Get, format: &Format) -> Result<(), Failure> {
    let items = items(session, asked).await?;
    let (mut objects, mut failures) = (Vec::new(), Vec::new());
    for item in &items.items {
        let namespace = session.namespace.clone();
        let found = match item {
            Item::One(resource, name) => {
                let path = asked.path(&resource.object(&namespace, name));
                session.ask(Call::get(path)).await.map(|object| vec![object])
            }
            Item::All(resource) => all_of(session, resource, &asked.selection).await,
        };
        match found {
            Ok(found) => objects.extend(found.into_iter().map(|object| (item.resource(), object))),
            Err(failure) if failure.is_not_found() && asked.ignore_not_found => {}
            Err(failure) => failures.push(failure),
        }
    }
    if let Some(path) = &asked.sort_by {
        let keyed =
            objects.into_iter().map(|(resource, object)| Ok((sort_key(path, &object)?, resource, object)));
        let mut keyed = keyed.collect::<Result<Vec<_>, Failure>>()?;
        keyed.sort_by(|(one, ..), (other, ..)| compare(one, other));
        objects = keyed.into_iter().map(|(_, resource, object)| (resource, object)).collect();
    }
    if matches!(format, Format::Name) {
        for (resource, object) in &objects {
            session.say(&format!("{}/{}", resource.singular_with_group(), text(object, "/metadata/name")))?;
        }
        return Failure::all(failures);
    }
    let mut objects: Vec<Value> = objects.into_iter().map(|(_, object)| shown(asked, object)).collect();
    let whole = match (items.is_one_object(), objects.len()) {
        (true, 0) => None,
        (true, _) => objects.pop(),
        (false, 0) if !failures.is_empty() => None,
        (false, _) => Some(as_list(&objects)),
    };
    if let Some(document) = whole.and_then(|whole| format.document(&whole)) {
        let document = document?;
        let without_header = matches!(format, Format::Columns(_)) && asked.no_headers;
        let body = document.split_once('\n').map_or("", |(_, rest)| rest);
        session.print(if without_header { body } else { &document })?;
    }
    Failure::all(failures)
}

/// The object as it is shown.
pub(super) fn shown(asked: &Get, object: Value) -> Value {
    if asked.managed_fields { object } else { without_managed_fields(object) }
}
