//! `events`: lists events, oldest first.

mod rows;

use gantry_json::{Value, json};

use crate::arguments::{ResourceArg, ResourceArgs};
use crate::client_context::ClientContext;
use crate::describe::event_last;
use crate::failure::Failure;
use crate::field::text;
use crate::print::{Format, Widths, without_managed_fields};
use crate::resources::ApiResource;
use crate::selection::{Selection, all_of, list_call};
use rows::{EventType, is_of, lines};

/// The options of `events`.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of kubectl's, and all combinations are meant"
)]
pub struct EventsOptions {
    /// Only events of this object: `TYPE/NAME`.
    pub about: Option<String>,
    /// Only of these types: `Normal`, `Warning`.
    pub types: Vec<String>,
    /// The value of `--all-namespaces`.
    pub all_namespaces: bool,
    /// Whether to watch for changes.
    pub watch: bool,
    /// The value of `-o`.
    pub output: Option<String>,
    /// The value of `--no-headers`.
    pub no_headers: bool,
    /// The value of `--show-managed-fields`.
    pub managed_fields: bool,
}

/// Shows events.
pub async fn events(ctx: &mut ClientContext, options: &EventsOptions) -> Result<(), Failure> {
    let format = match Format::parse(options.output.as_deref()) {
        Ok(Format::Wide | Format::Columns(_)) => Err(no_such_format(options)),
        format => format,
    }?;
    let types = EventType::parse_all(&options.types)?;
    let resources = ctx.resources().await?;
    let resource = resources.by_name("events.v1")?.clone();
    let fields = match &options.about {
        Some(about) => Some(about_it(&ResourceArgs::read(&resources, std::slice::from_ref(about)), about)?),
        None => None,
    };
    let selection = Selection { fields, all_namespaces: options.all_namespaces, ..Selection::default() };
    let printer = EventPrinter { options, format, types };
    if options.watch {
        return printer.follow(ctx, &resource, &selection).await;
    }
    printer.list(ctx, &resource, &selection).await
}

/// Prints events.
struct EventPrinter<'a> {
    options: &'a EventsOptions,
    format: Format,
    types: Vec<EventType>,
}

impl EventPrinter<'_> {
    async fn list(
        &self,
        ctx: &mut ClientContext,
        resource: &ApiResource,
        selection: &Selection,
    ) -> Result<(), Failure> {
        let mut events = all_of(ctx, resource, selection).await?;
        events.retain(|event| is_of(&self.types, event));
        if events.is_empty() {
            let place = match ctx.namespace.as_str() {
                _ if self.options.all_namespaces => String::new(),
                namespace => format!(" in {namespace} namespace"),
            };
            ctx.eprintln(&format!("No events found{place}."));
            return Ok(());
        }
        events.sort_by(|one, other| event_last(one).cmp(event_last(other)));
        match &self.format {
            Format::Rows => {
                let header = !self.options.no_headers;
                let now = ctx.now();
                ctx.print(&lines(&events, self.options.all_namespaces, header, now, &mut Widths::default()))
            }
            Format::Name => events.iter().try_for_each(|event| ctx.println(&title(event))),
            format => {
                let items: Vec<Value> = events.into_iter().map(|event| self.shown(event)).collect();
                let whole = json!({"apiVersion": "v1", "items": items, "kind": "EventList", "metadata": {}});
                format.document(&whole).map_or(Ok(()), |document| ctx.print(&document?))
            }
        }
    }

    /// Prints existing events in the server's order, then new ones.
    async fn follow(
        &self,
        ctx: &mut ClientContext,
        resource: &ApiResource,
        selection: &Selection,
    ) -> Result<(), Failure> {
        let call = list_call(ctx, resource, selection);
        let mut changes = ctx.watch(call).await?;
        let (mut widths, mut is_first) = (Widths::default(), true);
        while let Some(mut change) = changes.next().await? {
            // The expiry of an event is not printed.
            if change["type"] == "DELETED" || change["type"] == "BOOKMARK" {
                continue;
            }
            let event = change["object"].take();
            if is_of(&self.types, &event) {
                self.print_one(ctx, event, is_first, &mut widths)?;
                is_first = false;
            }
        }
        Ok(())
    }

    fn print_one(
        &self,
        ctx: &mut ClientContext,
        event: Value,
        is_first: bool,
        widths: &mut Widths,
    ) -> Result<(), Failure> {
        match &self.format {
            Format::Rows => {
                let header = is_first && !self.options.no_headers;
                let now = ctx.now();
                ctx.print(&lines(&[event], self.options.all_namespaces, header, now, widths))
            }
            Format::Name => ctx.println(&title(&event)),
            format => {
                if matches!(format, Format::Yaml) && !is_first {
                    ctx.println("---")?;
                }
                let document = format.document(&self.shown(event));
                document.map_or(Ok(()), |document| ctx.print(&document?))
            }
        }
    }

    fn shown(&self, event: Value) -> Value {
        if self.options.managed_fields { event } else { without_managed_fields(event) }
    }
}

fn title(event: &Value) -> String {
    format!("event/{}", text(event, "/metadata/name"))
}

/// The field selector for the events of an object.
fn about_it(items: &Result<ResourceArgs, Failure>, about: &str) -> Result<String, Failure> {
    if !about.contains('/') {
        return Err(Failure::other("--for must be in resource/name form"));
    }
    match items {
        Err(Failure::UnknownType(name)) => {
            Err(Failure::Verbatim(format!("the server doesn't have a resource type \"{name}\"")))
        }
        Err(other) => Err(other.clone()),
        Ok(items) => match items.items.as_slice() {
            [ResourceArg::Named(resource, name)] => Ok(format!(
                "involvedObject.kind={},involvedObject.apiVersion={},involvedObject.name={name}",
                resource.kind,
                resource.api_version()
            )),
            _ => Err(Failure::other("--for must be in resource/name form")),
        },
    }
}

fn no_such_format(options: &EventsOptions) -> Failure {
    Failure::other(format!(
        "unable to match a printer suitable for the output format \"{}\", allowed formats are: \
         json,jsonpath,jsonpath-as-json,jsonpath-file,name,yaml",
        options.output.as_deref().unwrap_or_default()
    ))
}
