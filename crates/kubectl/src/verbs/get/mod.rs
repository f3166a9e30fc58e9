//! `get`: objects as rows, names, documents or by a path (K2).

mod documents;
mod pages;
mod table;
mod watch;

use gantry_client::{ApiRequest, TABLE};

use crate::arguments::{ResourceArg, ResourceArgs};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::text;
use crate::print::Format;
use crate::selection::{BareType, Selection, explain_list_failure, list_call};
use pages::Pages;
use table::{Columns, rows};

/// The options of `get`.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of kubectl's, and all combinations are meant"
)]
pub struct GetOptions {
    /// The objects.
    pub selection: Selection,
    /// The value of `-o`.
    pub output: Option<String>,
    /// The value of `--no-headers`.
    pub no_headers: bool,
    /// Whether labels are shown.
    pub show_labels: bool,
    /// The value of `--label-columns`.
    pub label_columns: Vec<String>,
    /// The value of `--show-kind`.
    pub show_kind: bool,
    /// The value of `--show-managed-fields`.
    pub managed_fields: bool,
    /// The value of `--ignore-not-found`.
    pub ignore_not_found: bool,
    /// The value of `--sort-by`.
    pub sort_by: Option<String>,
    /// The page size; zero for all at once.
    pub page: u32,
    /// The subresource, such as `scale`.
    pub subresource: Option<String>,
    /// Whether to watch for changes.
    pub watching: WatchOptions,
}

/// The watch flags of `get`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchOptions {
    /// The value of `--watch`.
    pub watch: bool,
    /// The value of `--watch-only`.
    pub only: bool,
    /// The value of `--output-watch-events`.
    pub events: bool,
}

impl GetOptions {
    /// The path of an object, or of its subresource.
    fn path(&self, object: &str) -> String {
        match &self.subresource {
            Some(part) => format!("{object}/{part}"),
            None => object.to_owned(),
        }
    }
}

/// Prints objects.
pub async fn get(ctx: &mut ClientContext, options: &GetOptions) -> Result<(), Failure> {
    let format = Format::parse(options.output.as_deref())?;
    if options.selection.is_empty() {
        ctx.eprintln(
            "You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list of supported \
             resources.\n",
        );
        return Err(Failure::other(
            "Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that \
             resource (e.g. kubectl explain pods).\nSee 'kubectl get -h' for help and examples",
        ));
    }
    if options.watching.events && !options.watching.watch && !options.watching.only {
        return Err(Failure::other(
            "--output-watch-events option can only be used with --watch or --watch-only",
        ));
    }
    if !matches!(format, Format::Rows | Format::Wide) {
        return if options.watching.watch || options.watching.only {
            watch::documents(ctx, options, &format).await
        } else {
            documents::print(ctx, options, &format).await
        };
    }
    let items = items(ctx, options).await?;
    if options.watching.watch || options.watching.only {
        return watch::rows(ctx, options, &items).await;
    }
    let mixed = items.are_mixed() || options.show_kind;
    let mut failures = Vec::new();
    let mut printed = false;
    for group in grouped(&items.items) {
        let (any, missing) = print_group(ctx, options, &group, mixed, printed).await?;
        printed |= any;
        failures.extend(missing);
    }
    if !printed && failures.is_empty() && !options.ignore_not_found {
        let cluster_wide = items.items.iter().all(|item| !item.resource().namespaced);
        ctx.print_no_resources_found(options.selection.all_namespaces || cluster_wide);
    }
    Failure::all(failures)
}

/// Prints the response of the server for a path.
pub async fn raw(ctx: &mut ClientContext, path: &str) -> Result<(), Failure> {
    match ctx.request(ApiRequest::raw(path)).await? {
        gantry_json::Value::String(content) => ctx.print(&content),
        response => ctx.println(&crate::print::compact(&response)),
    }
}

/// The resource arguments, and those of manifest files.
pub(super) async fn items(ctx: &mut ClientContext, options: &GetOptions) -> Result<ResourceArgs, Failure> {
    let resources = ctx.resources().await?;
    let mut items = ResourceArgs::read(&resources, &options.selection.words)?;
    options.selection.check(&items.items, BareType::All)?;
    if options.subresource.is_some() && items.items.iter().any(|item| matches!(item, ResourceArg::All(_))) {
        return Err(Failure::other("subresource cannot be used when bulk resources are specified"));
    }
    ctx.warn(&items.warnings);
    for manifest in crate::manifests::read(&options.selection.files, options.selection.recursive)? {
        manifest.check_kind()?;
        let namespace = ctx.namespace.clone();
        let place = crate::manifests::NamespaceScope {
            namespace: &namespace,
            is_explicit: ctx.namespace_is_explicit,
        };
        let manifest = manifest.resolve(&resources, place)?;
        items.items.push(ResourceArg::Named(manifest.resource, manifest.name));
    }
    Ok(items)
}

/// Groups adjacent arguments of one type, which share a header.
fn grouped(items: &[ResourceArg]) -> Vec<Vec<ResourceArg>> {
    let mut groups: Vec<Vec<ResourceArg>> = Vec::new();
    for item in items {
        match groups.last_mut() {
            Some(group) if group[0].resource() == item.resource() => group.push(item.clone()),
            _ => groups.push(vec![item.clone()]),
        }
    }
    groups
}

/// Prints the rows of one type; returns whether there were any, and the failures.
async fn print_group(
    ctx: &mut ClientContext,
    options: &GetOptions,
    group: &[ResourceArg],
    mixed: bool,
    after_another: bool,
) -> Result<(bool, Vec<Failure>), Failure> {
    let Some(resource) = group.first().map(|item| item.resource().clone()) else {
        return Ok((false, Vec::new()));
    };
    let columns = Columns {
        wide: options.output.as_deref() == Some("wide"),
        namespace: options.selection.all_namespaces && resource.namespaced,
        prefix: mixed.then(|| resource.singular_with_group()),
        labels: options.show_labels,
        label_columns: options.label_columns.clone(),
        sort_by: options.sort_by.clone(),
    };
    let mut failures = Vec::new();
    let mut pages = Pages::new(!options.no_headers, after_another);
    for item in group {
        let mut next = String::new();
        loop {
            let response = match page(ctx, options, &columns, item, &next).await {
                Ok(response) => response,
                Err(failure) if failure.is_not_found() && options.ignore_not_found => break,
                Err(failure) => {
                    failures.push(failure);
                    break;
                }
            };
            pages.add(rows(&response, &columns)?);
            text(&response, "/metadata/continue").clone_into(&mut next);
            if next.is_empty() {
                break;
            }
            if ctx.is_past_output_delay() {
                let lines = pages.lines();
                ctx.print(&lines)?;
            }
        }
    }
    let lines = pages.lines();
    ctx.print(&lines)?;
    Ok((pages.begun(), failures))
}

async fn page(
    ctx: &mut ClientContext,
    options: &GetOptions,
    columns: &Columns,
    item: &ResourceArg,
    next: &str,
) -> Result<gantry_json::Value, Failure> {
    let objects = columns.objects();
    match item {
        ResourceArg::Named(resource, name) => {
            let path = options.path(&resource.object(&ctx.namespace.clone(), name));
            ctx.request(ApiRequest::get(path).accepting(TABLE).with("includeObject", objects)).await
        }
        ResourceArg::All(resource) => {
            // Sorting needs all objects.
            let at_a_time = if options.page == 0 || options.sort_by.is_some() {
                String::new()
            } else {
                options.page.to_string()
            };
            let call = list_call(ctx, resource, &options.selection).accepting(TABLE);
            let call = call.with("limit", at_a_time).with("continue", next).with("includeObject", objects);
            ctx.request(call)
                .await
                .map_err(|failure| explain_list_failure(failure, resource, &options.selection))
        }
    }
}
