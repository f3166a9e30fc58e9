//! `set image` (K5).

use gantry_client::{ApiRequest, PatchForm};
use gantry_json::Value;

use super::result_printer::ResultPrinter;
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::object_mut;
use crate::selection::{BareType, FoundObject, Selection, find, no_resources_specified};
use crate::three_way::{shape_of, two_way};
use crate::verbs::result_printer::WriteParameters as _;
use crate::workload::{CAUSE, pod_spec};

/// A container and its image.
pub type NewImage = (String, String);

/// The options of `set image`.
#[derive(Clone, Debug, Default)]
pub struct SetImageOptions {
    /// The objects.
    pub selection: Selection,
    /// Containers and their images.
    pub images: Vec<NewImage>,
    /// The change cause to record in the history.
    pub cause: Option<String>,
    /// The field manager; kubectl's own by default.
    pub manager: Option<String>,
    /// How results are printed.
    pub printer: ResultPrinter,
}

impl SetImageOptions {
    /// Splits the arguments into resources and `container=image`.
    pub fn parse(words: &[String]) -> Result<(Vec<String>, Vec<NewImage>), Failure> {
        let (mut resources, mut images) = (Vec::new(), Vec::new());
        for word in words {
            match word.split_once('=') {
                Some((container, image)) if !container.is_empty() => {
                    images.push((container.to_owned(), image.to_owned()));
                }
                _ if images.is_empty() => resources.push(word.clone()),
                _ => {
                    return Err(Failure::other(format!(
                        "all resources must be specified before image changes: {word}"
                    )));
                }
            }
        }
        Ok((resources, images))
    }
}

/// Sets images.
pub async fn set_image(ctx: &mut ClientContext, options: &SetImageOptions) -> Result<(), Failure> {
    check(options)?;
    if options.selection.local && options.selection.files.is_empty() {
        return Err(Failure::other(
            "you must specify resources by --filename when --local is set.\nExample resource specifications \
             include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'",
        ));
    }
    let bare = if options.selection.all { BareType::All } else { BareType::Error };
    let (found, mut failures) = find(ctx, &options.selection, bare).await?;
    for one in &found {
        match set_one(ctx, options, one).await {
            Err(Failure::Several(several)) => failures.extend(several),
            other => failures.extend(other.err()),
        }
    }
    Failure::all(failures)
}

fn check(options: &SetImageOptions) -> Result<(), Failure> {
    if options.selection.is_empty() {
        return Err(no_resources_specified());
    }
    if options.images.is_empty() {
        return Err(Failure::other("at least one image update is required"));
    }
    if options.images.len() > 1 && options.images.iter().any(|(container, _)| container == "*") {
        return Err(Failure::other(
            "all containers are already specified by *, but saw more than one container_name=container_image pairs",
        ));
    }
    Ok(())
}

async fn set_one(
    ctx: &mut ClientContext,
    options: &SetImageOptions,
    one: &FoundObject,
) -> Result<(), Failure> {
    let Some(place) = pod_spec(&one.resource.kind) else {
        return Err(Failure::other(format!(
            "{}/{} the object is not a pod or does not have a pod template: *v1.{}",
            one.resource.plural, one.name, one.resource.kind
        )));
    };
    let mut after = one.object.clone();
    let unknown: Vec<Failure> = options
        .images
        .iter()
        .filter(|(container, image)| !set(&mut after, place, container, image))
        .map(|(container, _)| {
            Failure::other(format!("error: unable to find container named \"{container}\""))
        })
        .collect();
    if let Some(cause) = &options.cause {
        object_mut(&mut after, &["metadata", "annotations"]).insert(CAUSE, cause.as_str().into());
    }
    let patch = two_way(&one.object, &after, shape_of(&one.resource.api_version(), &one.resource.kind));
    if !patch.is_empty() {
        let object = if options.printer.dry_run.is_client() || options.selection.local {
            after
        } else {
            let call = ApiRequest::patch(one.path(), PatchForm::StrategicMerge, &patch.into());
            let manager = options.manager.as_deref().unwrap_or("kubectl-set");
            let patched = ctx.request(call.by(manager, options.printer.dry_run)).await;
            patched.map_err(|failure| match failure {
                Failure::Status(_) => Failure::other(format!(
                    "failed to patch image update to pod template: {}",
                    failure.message()
                )),
                other => other,
            })?
        };
        options.printer.print(ctx, &one.title(), "image updated", &object)?;
    }
    Failure::all(unknown)
}

/// Sets the image of a container; returns whether it exists.
fn set(object: &mut Value, pod: &str, container: &str, image: &str) -> bool {
    let mut any = false;
    for list in ["initContainers", "containers"] {
        let containers = object.pointer_mut(&format!("{pod}/{list}")).and_then(Value::as_array_mut);
        for one in containers.into_iter().flatten() {
            if container == "*" || one["name"] == container {
                one["image"] = image.into();
                any = true;
            }
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// K5 table: resources first, then pairs.
    #[test]
    fn resources_come_before_images() {
        let (resources, images) =
            SetImageOptions::parse(&words(&["deployment/x", "c=img:1", "d=e=f"])).unwrap();
        assert_eq!(resources, ["deployment/x"]);
        assert_eq!(images, [("c".into(), "img:1".into()), ("d".into(), "e=f".into())]);
        assert_eq!(
            SetImageOptions::parse(&words(&["c=img", "deployment/x"])).unwrap_err().lines(),
            "error: all resources must be specified before image changes: deployment/x\n"
        );
    }

    /// K5 table: missing and superfluous arguments.
    #[test]
    fn missing_and_superfluous_arguments_are_reported() {
        let options = |resources: &[&str], images: &[&str]| SetImageOptions {
            selection: Selection::from_arguments(words(resources)),
            images: images.iter().map(|container| ((*container).to_owned(), "i".to_owned())).collect(),
            ..SetImageOptions::default()
        };
        let rendered = |options: SetImageOptions| check(&options).unwrap_err().lines();
        assert_eq!(rendered(options(&["deploy/x"], &[])), "error: at least one image update is required\n");
        assert!(
            rendered(options(&["deploy/x"], &["*", "b"]))
                .starts_with("error: all containers are already specified by *")
        );
        assert!(
            rendered(options(&[], &["b"]))
                .starts_with("error: You must provide one or more resources by argument")
        );
    }
}
