//! `get`: objects as rows, names, documents or by a path (K2).

mod documents;
mod pages;
mod table;
mod watching;

use crate::arguments::{Item, Items};
use crate::call::{Call, TABLE};
use crate::failure::Failure;
use crate::field::text;
use crate::print::Format;
use crate::selection::{BareType, Selection, list_call, unlisted};
use crate::session::Session;
use pages::Pages;
use table::{Columns, rows};

/// What to get.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of kubectl's, and all combinations are meant"
)]
pub struct Get {
    /// Of which objects.
    pub selection: Selection,
    /// The value of `-o`.
    pub output: Option<String>,
    /// Whether the header is left out.
    pub no_headers: bool,
    /// Whether labels are shown.
    pub show_labels: bool,
    /// Labels that have a column of their own.
    pub label_columns: Vec<String>,
    /// Whether every object says its type.
    pub show_kind: bool,
    /// Whether the record of who wrote what is shown too.
    pub managed_fields: bool,
    /// Whether objects that do not exist are passed over.
    pub ignore_not_found: bool,
    /// A path by which rows are sorted.
    pub sort_by: Option<String>,
    /// How many objects are asked for at a time; all at once if zero.
    pub page: u32,
    /// A part of the object, such as `scale`.
    pub subresource: Option<String>,
    /// Whether it goes on.
    pub watching: Watching,
}

/// Whether changes are shown too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watching {
    /// Whether it goes on with changes.
    pub watch: bool,
    /// Whether the objects as they are are left out.
    pub only: bool,
    /// Whether each row says what happened.
    pub events: bool,
}

impl Get {
    /// Where an object is, or the part of it that is asked for.
    fn path(&self, object: &str) -> String {
        match &self.subresource {
            Some(part) => format!("{object}/{part}"),
            None => object.to_owned(),
        }
    }
}

/// Gets objects.
pub async fn get(session: &mut Session, asked: &Get) -> Result<(), Failure> {
    let format = Format::parse(asked.output.as_deref())?;
    if asked.selection.is_empty() {
        session.tell(
            "You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list of supported \
             resources.\n",
        );
        return Err(Failure::other(
            "Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that \
             resource (e.g. kubectl explain pods).\nSee 'kubectl get -h' for help and examples",
        ));
    }
    if asked.watching.events && !asked.watching.watch && !asked.watching.only {
        return Err(Failure::other(
            "--output-watch-events option can only be used with --watch or --watch-only",
        ));
    }
    if !matches!(format, Format::Rows | Format::Wide) {
        return if asked.watching.watch || asked.watching.only {
            watching::documents(session, asked, &format).await
        } else {
            documents::print(session, asked, &format).await
        };
    }
    let items = items(session, asked).await?;
    if asked.watching.watch || asked.watching.only {
        return watching::rows(session, asked, &items).await;
    }
    let mixed = items.are_mixed() || asked.show_kind;
    let mut failures = Vec::new();
    let mut printed = false;
    for group in grouped(&items.items) {
        let (any, missing) = print_group(session, asked, &group, mixed, printed).await?;
        printed |= any;
        failures.extend(missing);
    }
    if !printed && failures.is_empty() && !asked.ignore_not_found {
        let cluster_wide = items.items.iter().all(|item| !item.resource().namespaced);
        let line = if asked.selection.all_namespaces || cluster_wide {
            "No resources found".to_owned()
        } else {
            format!("No resources found in {} namespace.", session.namespace)
        };
        session.tell(&line);
    }
    Failure::all(failures)
}

/// Prints what the server says at a path.
pub async fn raw(session: &mut Session, path: &str) -> Result<(), Failure> {
    match session.ask(Call::raw(path)).await? {
        serde_json::Value::String(said) => session.print(&said),
        answer => session.say(&crate::print::compact(&answer)),
    }
}

/// The objects that are meant; those of files are named like others.
pub(super) async fn items(session: &mut Session, asked: &Get) -> Result<Items, Failure> {
    let resources = session.resources().await?;
    let mut items = Items::read(&resources, &asked.selection.words)?;
    asked.selection.check(&items.items, BareType::All)?;
    if asked.subresource.is_some() && items.items.iter().any(|item| matches!(item, Item::All(_))) {
        return Err(Failure::other("subresource cannot be used when bulk resources are specified"));
    }
    session.warn(&items.warnings);
    for manifest in crate::manifests::read(&asked.selection.files, asked.selection.recursive)? {
        manifest.check_kind()?;
        let namespace = session.namespace.clone();
        let place =
            crate::manifests::Place { namespace: &namespace, was_asked_for: session.namespace_was_asked_for };
        let written = manifest.placed(&resources, place)?;
        items.items.push(Item::One(written.resource, written.name));
    }
    Ok(items)
}

/// Neighbours of one type share a header.
fn grouped(items: &[Item]) -> Vec<Vec<Item>> {
    let mut groups: Vec<Vec<Item>> = Vec::new();
    for item in items {
        match groups.last_mut() {
            Some(group) if group[0].resource() == item.resource() => group.push(item.clone()),
            _ => groups.push(vec![item.clone()]),
        }
    }
    groups
}

/// Prints the rows of one type; whether there were any, and what was missing.
async fn print_group(
    session: &mut Session,
    asked: &Get,
    group: &[Item],
    mixed: bool,
    after_another: bool,
) -> Result<(bool, Vec<Failure>), Failure> {
    let Some(resource) = group.first().map(|item| item.resource().clone()) else {
        return Ok((false, Vec::new()));
    };
    let columns = Columns {
        wide: asked.output.as_deref() == Some("wide"),
        namespace: asked.selection.all_namespaces && resource.namespaced,
        prefix: mixed.then(|| resource.singular_with_group()),
        labels: asked.show_labels,
        label_columns: asked.label_columns.clone(),
        sort_by: asked.sort_by.clone(),
    };
    let mut failures = Vec::new();
    let mut pages = Pages::new(!asked.no_headers, after_another);
    for item in group {
        let mut next = String::new();
        loop {
            let answer = match page(session, asked, &columns, item, &next).await {
                Ok(answer) => answer,
                Err(failure) if failure.is_not_found() && asked.ignore_not_found => break,
                Err(failure) => {
                    failures.push(failure);
                    break;
                }
            };
            pages.add(rows(&answer, &columns)?);
            text(&answer, "/metadata/continue").clone_into(&mut next);
            if next.is_empty() {
                break;
            }
            if session.has_kept_waiting() {
                let lines = pages.lines();
                session.print(&lines)?;
            }
        }
    }
    let lines = pages.lines();
    session.print(&lines)?;
    Ok((pages.begun(), failures))
}

async fn page(
    session: &mut Session,
    asked: &Get,
    columns: &Columns,
    item: &Item,
    next: &str,
) -> Result<serde_json::Value, Failure> {
    let objects = columns.objects();
    match item {
        Item::One(resource, name) => {
            let path = asked.path(&resource.object(&session.namespace.clone(), name));
            session.ask(Call::get(path).accepting(TABLE).with("includeObject", objects)).await
        }
        Item::All(resource) => {
            // Only who has seen all can sort them.
            let at_a_time = if asked.page == 0 || asked.sort_by.is_some() {
                String::new()
            } else {
                asked.page.to_string()
            };
            let call = list_call(session, resource, &asked.selection).accepting(TABLE);
            let call = call.with("limit", at_a_time).with("continue", next).with("includeObject", objects);
            session.ask(call).await.map_err(|failure| unlisted(failure, resource, &asked.selection))
        }
    }
}
