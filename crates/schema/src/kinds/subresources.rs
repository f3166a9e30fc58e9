//! The verbs and kinds of subresources; which resource has which is in the table.

use super::{GroupVersion, Subresource, Verb};

const READ_WRITE: &[Verb] = &[Verb::Get, Verb::Patch, Verb::Update];
const STREAM: &[Verb] = &[Verb::Create, Verb::Get];
const PROXY: &[Verb] = &[Verb::Create, Verb::Delete, Verb::Get, Verb::Patch, Verb::Update];

/// Parses `name` or `name:kind` of a resource with this kind.
pub(crate) fn subresource(word: &'static str, kind: &'static str) -> Result<Subresource, String> {
    let (name, named) = word.split_once(':').map_or((word, None), |(name, kind)| (name, Some(kind)));
    let (verbs, foreign, own): (&[Verb], _, _) = match name {
        "status" | "ephemeralcontainers" | "resize" => (READ_WRITE, None, kind),
        "scale" => (READ_WRITE, Some(GroupVersion { group: "autoscaling", version: "v1" }), "Scale"),
        "finalize" => (&[Verb::Update], None, kind),
        "binding" => (&[Verb::Create], None, "Binding"),
        "eviction" => (&[Verb::Create], Some(GroupVersion { group: "policy", version: "v1" }), "Eviction"),
        "token" => {
            let foreign = GroupVersion { group: "authentication.k8s.io", version: "v1" };
            (&[Verb::Create], Some(foreign), "TokenRequest")
        }
        "log" => (&[Verb::Get], None, kind),
        "attach" | "exec" | "portforward" => (STREAM, None, kind),
        "proxy" => (PROXY, None, kind),
        other => return Err(format!("no subresource {other}")),
    };
    Ok(Subresource { name, verbs: verbs.to_vec(), foreign, kind: named.unwrap_or(own) })
}
