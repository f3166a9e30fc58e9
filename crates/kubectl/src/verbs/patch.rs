//! `patch`: sends a patch as it is given; the server interprets it.

use gantry_client::{ApiRequest, PatchForm};
use gantry_json::Value;
use gantry_patch as patch;
use gantry_schema::decode::{Format, plain};

use super::result_printer::ResultPrinter;
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::text;
use crate::selection::{BareType, FoundObject, Selection, find_each, for_each};
use crate::three_way::{Shape, shape_of};
use crate::verbs::result_printer::WriteParameters as _;

/// The options of `patch`.
#[derive(Clone, Debug)]
pub struct PatchOptions {
    /// The objects.
    pub selection: Selection,
    /// The patch, in JSON or YAML.
    pub patch: String,
    /// The type of the patch.
    pub kind: PatchForm,
    /// The subresource, such as `status`.
    pub subresource: Option<String>,
    /// The field manager; kubectl's own by default.
    pub manager: Option<String>,
    /// How results are printed.
    pub printer: ResultPrinter,
}

impl PatchOptions {
    /// Reads the value of `--type`.
    pub fn kind(value: &str) -> Result<PatchForm, Failure> {
        match value.to_lowercase().as_str() {
            "strategic" => Ok(PatchForm::StrategicMerge),
            "merge" => Ok(PatchForm::JsonMerge),
            "json" => Ok(PatchForm::Json),
            _ => {
                Err(Failure::other(format!("--type must be one of [json merge strategic], not \"{value}\"")))
            }
        }
    }
}

/// Patches objects.
pub async fn patch(ctx: &mut ClientContext, options: &PatchOptions) -> Result<(), Failure> {
    if options.patch.is_empty() {
        return Err(Failure::other(
            "must specify --patch or --patch-file containing the contents of the patch",
        ));
    }
    if options.selection.local && options.selection.files.is_empty() {
        return Err(Failure::other("cannot use --local without -f"));
    }
    let body = as_json(&options.patch)?;
    let found = find_each(ctx, &options.selection, BareType::Error).await?;
    if found.is_empty() {
        return Err(Failure::other("no objects passed to patch"));
    }
    for_each(ctx, found, async |ctx, one| patch_one(ctx, options, &one, &body).await).await
}

/// A patch that looks like JSON is sent as it is, so that the server reports its errors; otherwise it is YAML.
fn as_json(patch: &str) -> Result<String, Failure> {
    if patch.trim_start().starts_with('{') {
        return Ok(patch.to_owned());
    }
    let (body, _) = plain(patch.as_bytes(), Format::Yaml)
        .map_err(|problem| Failure::other(format!("unable to parse {patch:?}: {problem}")))?;
    Ok(body.to_string())
}

async fn patch_one(
    ctx: &mut ClientContext,
    options: &PatchOptions,
    one: &FoundObject,
    body: &str,
) -> Result<(), Failure> {
    let shape = shape_of(&one.resource.api_version(), &one.resource.kind);
    if options.kind == PatchForm::StrategicMerge && shape == Shape::Foreign {
        return Err(Failure::other(format!(
            "cannot use --type=strategic on {}: strategic merge patch is not supported for custom resources\nhint: use --type=merge",
            one.resource.kind_with_group()
        )));
    }
    if options.printer.dry_run.is_client() || options.selection.local {
        let object = patched_here(options.kind, &one.object, shape, body)?;
        return render(ctx, options, one, object != one.object, &object);
    }
    let path = match &options.subresource {
        Some(part) => format!("{}/{part}", one.path()),
        None => one.path(),
    };
    let manager = options.manager.as_deref().unwrap_or("kubectl-patch");
    let call = ApiRequest::patch(path, options.kind, body.to_owned()).by(manager, options.printer.dry_run);
    let object = ctx.request(call).await?;
    let changed = object["metadata"]["resourceVersion"] != one.object["metadata"]["resourceVersion"]
        || options.printer.dry_run != super::DryRun::No && object != one.object;
    render(ctx, options, one, changed, &object)
}

/// Applies the patch without a server.
fn patched_here(kind: PatchForm, object: &Value, shape: Shape, body: &str) -> Result<Value, Failure> {
    let patch: Value = gantry_json::from_str(body)
        .map_err(|problem| Failure::other(format!("the patch is not valid JSON: {problem}")))?;
    let Shape::Message(message) = shape else {
        return Err(Failure::other(
            "cannot patch this type without the server: it is not a built-in type\nhint: use --dry-run=server",
        ));
    };
    let kind = match kind {
        PatchForm::StrategicMerge => patch::PatchKind::Strategic,
        PatchForm::Json => patch::PatchKind::Json,
        PatchForm::JsonMerge | PatchForm::Apply => patch::PatchKind::Merge,
    };
    patch::apply(kind, object, &message.into(), &patch)
        .map_err(|refusal| Failure::of_status(refusal.status()))
}

/// Names a subresource by its own kind: `scale.autoscaling/web`.
fn render(
    ctx: &mut ClientContext,
    options: &PatchOptions,
    one: &FoundObject,
    changed: bool,
    object: &Value,
) -> Result<(), Failure> {
    let title = match text(object, "/kind") {
        kind if options.subresource.is_none() || kind == one.resource.kind => one.title(),
        kind => {
            let group = text(object, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
            let dot = if group.is_empty() { "" } else { "." };
            format!("{}{dot}{group}/{}", kind.to_lowercase(), one.name)
        }
    };
    options.printer.print(ctx, &title, if changed { "patched" } else { "patched (no change)" }, object)
}
