//! Requests a client certificate: creates a CertificateSigningRequest and waits for the certificate.

use std::time::Duration;

use gantry_certificates::NewRequest;
use gantry_client::ClientIdentity;
use gantry_formats::base64;
use gantry_json::{Value, json};
use gantry_runtime::{Api, ResourcePath};

use crate::JoinError;

const PATH: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const SIGNER: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const NODES: &str = "system:nodes";
/// How often the request is read.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The number of reads after which a reminder is logged.
const REMIND_AFTER: u32 = 30;

/// The user name of a node.
pub fn node_user(node: &str) -> String {
    format!("system:node:{node}")
}

/// Requests a certificate of a node with a new key, and waits until it is approved and signed. Fails if it is denied;
/// without a decision this waits for as long as the request exists.
pub async fn request_certificate(api: &Api, node: &str) -> Result<ClientIdentity, JoinError> {
    let new = NewRequest::of_client(&node_user(node), NODES).map_err(JoinError::new)?;
    let name = create(api, &new.request).await?;
    let mut looks = 0;
    loop {
        let found: Value =
            api.get(&ResourcePath::path(format!("{PATH}/{name}"))).await.map_err(|failure| {
                JoinError::new(format!("the request {name} for a certificate was deleted: {failure}"))
            })?;
        if let Some(certificate) = issued(&name, &found)? {
            return Ok(ClientIdentity { certificate, key: new.key.into_bytes() });
        }
        looks += 1;
        if looks % REMIND_AFTER == 0 {
            tracing::info!("waiting for the approval of a certificate: kubectl certificate approve {name}");
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn create(api: &Api, request: &str) -> Result<String, JoinError> {
    let object = json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"generateName": "node-csr-"},
        "spec": {
            "request": base64::encode(request.as_bytes()), "signerName": SIGNER,
            "usages": ["digital signature", "client auth"],
        },
    });
    let created: Value = api
        .create(&ResourcePath::path(PATH), &object)
        .await
        .map_err(|failure| JoinError::new(format!("a certificate could not be requested: {failure}")))?;
    Ok(created["metadata"]["name"].as_str().unwrap_or_default().to_owned())
}

/// The certificate of a request, if it was issued; an error if it was denied or has failed.
fn issued(name: &str, request: &Value) -> Result<Option<Vec<u8>>, JoinError> {
    let mut conditions = request["status"]["conditions"].as_array().into_iter().flatten();
    let refused = conditions.find(|found| found["type"] == "Denied" || found["type"] == "Failed");
    if let Some(refused) = refused {
        let text = |field: &str| refused[field].as_str().unwrap_or_default().to_owned();
        return Err(JoinError::new(format!(
            "the request {name} for a certificate was refused ({}): {}",
            text("type"),
            text("message")
        )));
    }
    let certificate = base64::decode(request["status"]["certificate"].as_str().unwrap_or_default());
    Ok(certificate.ok().filter(|certificate| !certificate.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_waited_for_until_it_is_decided() {
        let with = |status: Value| issued("csr", &json!({"status": status}));
        assert_eq!(with(json!({})), Ok(None));
        assert_eq!(
            with(json!({"conditions": [{"type": "Approved"}]})),
            Ok(None),
            "the request is not signed yet"
        );
        assert_eq!(with(json!({"certificate": "UEVN"})), Ok(Some(b"PEM".to_vec())));
        let denied = with(json!({"conditions": [{"type": "Denied", "message": "unknown machine"}]}));
        assert_eq!(
            denied.unwrap_err().to_string(),
            "the request csr for a certificate was refused (Denied): unknown machine"
        );
    }
}
