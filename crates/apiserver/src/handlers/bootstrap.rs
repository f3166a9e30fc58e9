//! What every cluster has from its first moment on.

use gantry_registry::kinds::kinds;
use gantry_registry::lifecycle::{self, Stamp};
use gantry_registry::{Refusal, defaults};
use serde_json::json;

use crate::ApiServer;
use crate::objects::Place;

/// The namespaces that exist without anybody's doing.
const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// Creates what is missing.
pub(crate) async fn prepare(server: &ApiServer) -> Result<(), Refusal> {
    let Some(kind) = kinds().resource("", "v1", "namespaces") else { return Ok(()) };
    for name in NAMESPACES {
        let mut object =
            json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}, "spec": {}});
        defaults::apply(kind, &mut object);
        let (uid, now) = (server.surroundings.uid(), server.surroundings.now());
        let mut object = lifecycle::create(object, kind, &Stamp { uid: &uid, now, name_suffix: "" });
        defaults::on_create(kind, &mut object);
        match server.objects.create(Place { kind, namespace: None, name }, &object).await {
            Err(refusal) if refusal.reason != "AlreadyExists" => return Err(refusal),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}
