//! `set image` (K5).

use serde_json::Value;

use super::report::Report;
use crate::call::{Call, PatchKind};
use crate::failure::Failure;
use crate::field::object_mut;
use crate::selection::{BareType, Found, Selection, find, nothing_named};
use crate::session::Session;
use crate::three_way::{shape_of, two_way};
use crate::workload::{CAUSE, pod_spec};

/// A container and its image.
pub type NewImage = (String, String);

/// Which images to set.
#[derive(Clone, Debug, Default)]
pub struct SetImage {
    /// Which objects.
    pub selection: Selection,
    /// Containers and their images.
    pub images: Vec<NewImage>,
    /// What is noted as the cause of the change, for the history.
    pub cause: Option<String>,
    /// Who writes; kubectl's own name if nothing is said.
    pub manager: Option<String>,
    /// How it is told.
    pub report: Report,
}

impl SetImage {
    /// Parts the words into resources and `container=image`.
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
pub async fn set_image(session: &mut Session, asked: &SetImage) -> Result<(), Failure> {
    check(asked)?;
    if asked.selection.local && asked.selection.files.is_empty() {
        return Err(Failure::other(
            "you must specify resources by --filename when --local is set.\nExample resource specifications \
             include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'",
        ));
    }
    let bare = if asked.selection.all { BareType::All } else { BareType::Mistake };
    let (found, mut failures) = find(session, &asked.selection, bare).await?;
    for one in &found {
        match set_one(session, asked, one).await {
            Err(Failure::Several(several)) => failures.extend(several),
            other => failures.extend(other.err()),
        }
    }
    Failure::all(failures)
}

fn check(asked: &SetImage) -> Result<(), Failure> {
    if asked.selection.is_empty() {
        return Err(nothing_named());
    }
    if asked.images.is_empty() {
        return Err(Failure::other("at least one image update is required"));
    }
    if asked.images.len() > 1 && asked.images.iter().any(|(container, _)| container == "*") {
        return Err(Failure::other(
            "all containers are already specified by *, but saw more than one container_name=container_image pairs",
        ));
    }
    Ok(())
}

async fn set_one(session: &mut Session, asked: &SetImage, one: &Found) -> Result<(), Failure> {
    let Some(place) = pod_spec(&one.resource.kind) else {
        return Err(Failure::other(format!(
            "{}/{} the object is not a pod or does not have a pod template: *v1.{}",
            one.resource.plural, one.name, one.resource.kind
        )));
    };
    let mut after = one.object.clone();
    let unknown: Vec<Failure> = asked
        .images
        .iter()
        .filter(|(container, image)| !set(&mut after, place, container, image))
        .map(|(container, _)| {
            Failure::other(format!("error: unable to find container named \"{container}\""))
        })
        .collect();
    if let Some(cause) = &asked.cause {
        object_mut(&mut after, &["metadata", "annotations"]).insert(CAUSE.into(), cause.as_str().into());
    }
    let patch = two_way(&one.object, &after, shape_of(&one.resource.api_version(), &one.resource.kind));
    if !patch.is_empty() {
        let object = if asked.report.dry_run.is_client() || asked.selection.local {
            after
        } else {
            let call = Call::patch(one.path(), PatchKind::Strategic, &patch.into());
            let manager = asked.manager.as_deref().unwrap_or("kubectl-set");
            let patched = session.ask(call.by(manager, asked.report.dry_run)).await;
            patched.map_err(|failure| match failure {
                Failure::Refused(_) => Failure::other(format!(
                    "failed to patch image update to pod template: {}",
                    failure.message()
                )),
                other => other,
            })?
        };
        asked.report.tell(session, &one.title(), "image updated", &object)?;
    }
    Failure::all(unknown)
}

/// Sets the image of a container; whether there is one.
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
        let (resources, images) = SetImage::parse(&words(&["deployment/x", "c=img:1", "d=e=f"])).unwrap();
        assert_eq!(resources, ["deployment/x"]);
        assert_eq!(images, [("c".into(), "img:1".into()), ("d".into(), "e=f".into())]);
        assert_eq!(
            SetImage::parse(&words(&["c=img", "deployment/x"])).unwrap_err().lines(),
            "error: all resources must be specified before image changes: deployment/x\n"
        );
    }

    /// K5 table: what is missing or too much.
    #[test]
    fn mistakes_are_told() {
        let asked = |resources: &[&str], images: &[&str]| SetImage {
            selection: Selection::words(words(resources)),
            images: images.iter().map(|container| ((*container).to_owned(), "i".to_owned())).collect(),
            ..SetImage::default()
        };
        let told = |asked: SetImage| check(&asked).unwrap_err().lines();
        assert_eq!(told(asked(&["deploy/x"], &[])), "error: at least one image update is required\n");
        assert!(
            told(asked(&["deploy/x"], &["*", "b"]))
                .starts_with("error: all containers are already specified by *")
        );
        assert!(
            told(asked(&[], &["b"])).starts_with("error: You must provide one or more resources by argument")
        );
    }
}
