//! Validates VolumeAttachments.

use gantry_json::{Value, json};

use super::driver::csi_driver_name;
use super::volume::{SpecOf, volume_spec};
use crate::validation::error_list::{ErrorList, Path, is_set, members, number, text};
use crate::validation::names::subdomain;
use crate::validation::semantically_equal;

const MOST_BYTES: usize = 256 * 1024;
const LONGEST_MESSAGE: usize = 1024;
const EXACTLY_ONE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

/// Validates a VolumeAttachment.
pub(crate) fn attachment(errors: &mut ErrorList, old: Option<&Value>, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    source(errors, &at.child("source"), &spec["source"]);
    let node = text(spec, "nodeName");
    errors.invalid_text(&at.child("nodeName"), node, subdomain(node));
    status(errors, &object["status"]);
    if let Some(name) = spec["source"]["persistentVolumeName"].as_str() {
        errors.invalid_text(&at.child("source").child("persistentVolumeName"), name, subdomain(name));
    }
    csi_driver_name(errors, &at.child("attacher"), text(spec, "attacher"));
    if let Some(old) = old {
        errors.unchanged(&at, semantically_equal("storage/v1.VolumeAttachmentSpec", &old["spec"], spec));
    }
}

fn source(errors: &mut ErrorList, at: &Path<'_>, source: &Value) {
    let name = &source["persistentVolumeName"];
    match (is_set(source, "inlineVolumeSpec"), name.as_str()) {
        (false, None) => errors.required(at, EXACTLY_ONE),
        (true, Some(_)) => errors.forbidden(at, EXACTLY_ONE),
        (false, Some("")) => {
            let why = "must specify non empty persistentVolumeName";
            errors.required(&at.child("persistentVolumeName"), why);
        }
        (false, Some(_)) => {}
        (true, None) => {
            let spec = &source["inlineVolumeSpec"];
            volume_spec(errors, &at.child("inlineVolumeSpec"), spec, SpecOf::Inline);
        }
    }
}

fn status(errors: &mut ErrorList, status: &Value) {
    let at = Path::new("status");
    let metadata = members(status, "attachmentMetadata");
    let bytes: usize = metadata.map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if bytes > MOST_BYTES {
        errors.too_long(&at.child("attachmentMetadata"), MOST_BYTES);
    }
    for field in ["attachError", "detachError"] {
        let (at, error) = (at.child(field), &status[field]);
        if text(error, "message").len() > LONGEST_MESSAGE {
            errors.too_long(&at.child("message"), LONGEST_MESSAGE);
        }
        if let Some(code) = number(error, "errorCode").filter(|code| *code < 0) {
            let why = "must be between 0 and 2147483647, inclusive";
            errors.invalid(&at.child("errorCode"), &json!(code), why);
        }
    }
}
