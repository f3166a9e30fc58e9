//! IPAddress objects of cluster IPs: created and deleted in the transaction of the service.

use std::net::Ipv4Addr;

use aws_lc_rs::digest;
use gantry_json::{Value, json};
use gantry_schema::kinds::{Kind, kinds};
use gantry_store::{Error, Key, ListRequest, Op};

use crate::metadata::Metadata;
use crate::objects::{ObjectRef, Objects, key};
use crate::storage_codec;

fn kind() -> Option<&'static Kind> {
    kinds().resource("networking.k8s.io", "v1", "ipaddresses")
}

fn key_of(address: Ipv4Addr) -> Option<Key> {
    key(ObjectRef { kind: kind()?, namespace: None, name: &address.to_string() }).ok()
}

/// Whether a key belongs to an IPAddress.
pub(super) fn is_key(key: &Key) -> bool {
    kind().is_some_and(|kind| key.as_bytes().starts_with(Objects::prefix(kind, None).as_bytes()))
}

/// The creation of the IPAddress of a service that is about to be stored.
pub(super) fn creation(service: &Value, address: Ipv4Addr) -> Option<(Key, Op)> {
    let metadata = Metadata::of(service);
    let mut object = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
        "metadata": {
            "name": address.to_string(), "uid": uid(metadata.uid(), address),
            "creationTimestamp": service["metadata"]["creationTimestamp"],
            "labels": {
                "ipaddress.kubernetes.io/ip-family": "IPv4",
                "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
            },
        },
        "spec": {"parentRef": {
            "resource": "services", "namespace": service["metadata"]["namespace"], "name": metadata.name(),
        }},
    });
    let value = storage_codec::encode_new(kind()?, &mut object).bytes;
    Some((key_of(address)?, Op::Create { value }))
}

/// A uid that only this address of this service has.
fn uid(service: &str, address: Ipv4Addr) -> String {
    let digest = digest::digest(&digest::SHA256, format!("{service}/{address}").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.as_ref()[..16]);
    // Version 8: an application-specific format.
    gantry_formats::uuid::encode(bytes, 8)
}

impl Objects {
    /// The deletion of the IPAddress of a service, if it belongs to that service.
    pub(super) async fn ip_address_deletion(
        &self,
        service: ObjectRef<'_>,
        address: Ipv4Addr,
    ) -> Result<Option<(Key, Op)>, Error> {
        let (Some(kind), Some(key)) = (kind(), key_of(address)) else { return Ok(None) };
        let Some(found) = self.store.get(&key).await?.found else { return Ok(None) };
        let Ok(object) = storage_codec::decode(kind, &found.value, found.revision) else { return Ok(None) };
        let parent = &object["spec"]["parentRef"];
        let is_own = parent["resource"] == "services"
            && parent["name"] == service.name
            && parent["namespace"].as_str() == service.namespace;
        Ok(is_own.then_some((key, Op::Delete { seen: found.revision })))
    }

    /// All addresses for which there are IPAddress objects.
    pub(super) async fn ip_addresses(&self) -> Result<Vec<Ipv4Addr>, Error> {
        let Some(kind) = kind() else { return Ok(Vec::new()) };
        let page = self.store.list(ListRequest::all(Objects::prefix(kind, None))).await?;
        let name = |key: &Key| {
            let text = String::from_utf8_lossy(key.as_bytes()).into_owned();
            text.rsplit('/').next().and_then(|name| name.parse().ok())
        };
        Ok(page.items.iter().filter_map(|item| name(&item.key)).collect())
    }
}
