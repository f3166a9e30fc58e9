//! The credentials that a node keeps: the address and the authority of the cluster, its own certificate and key, as a
//! kubeconfig.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use gantry_certificates::{Lifetime, lifetime};
use gantry_client::{ClientConfig, ClientIdentity, ServerTrust};
use gantry_formats::base64;
use gantry_json::{Value, json};
use http::Uri;

use crate::JoinError;

/// A node's credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeIdentity {
    /// The address of the cluster.
    pub server: Uri,
    /// The certificates of its authority, as PEM.
    pub authority: String,
    /// The certificate and the key of the node.
    pub identity: ClientIdentity,
}

impl NodeIdentity {
    /// Reads the kubeconfig of a node that has joined; `None` if there is none.
    pub fn read(file: &Path) -> Result<Option<Self>, JoinError> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(JoinError::new(format!("{} cannot be read: {error}", file.display()))),
        };
        let damaged = || {
            let fix = "remove it, and join again with a token";
            JoinError::new(format!(
                "{} is not the kubeconfig that joining wrote\nhint: {fix}",
                file.display()
            ))
        };
        let found: Value = gantry_json::from_str(&text).map_err(|_| damaged())?;
        Self::parse(&found).map(Some).ok_or_else(damaged)
    }

    fn parse(kubeconfig: &Value) -> Option<Self> {
        let (cluster, user) = (&kubeconfig["clusters"][0]["cluster"], &kubeconfig["users"][0]["user"]);
        let bytes = |value: &Value| base64::decode(value.as_str()?).ok().filter(|bytes| !bytes.is_empty());
        Some(Self {
            server: cluster["server"].as_str()?.parse().ok()?,
            authority: String::from_utf8(bytes(&cluster["certificate-authority-data"])?).ok()?,
            identity: ClientIdentity {
                certificate: bytes(&user["client-certificate-data"])?,
                key: bytes(&user["client-key-data"])?,
            },
        })
    }

    /// Writes the kubeconfig, readable by its owner only. The file is replaced atomically.
    pub fn write(&self, file: &Path) -> Result<(), JoinError> {
        let failed =
            |error: io::Error| JoinError::new(format!("{} cannot be written: {error}", file.display()));
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let new = file.with_extension("new");
        let mut opened = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)
            .map_err(failed)?;
        opened.write_all(self.render().to_string().as_bytes()).map_err(failed)?;
        opened.sync_all().map_err(failed)?;
        fs::rename(&new, file).map_err(failed)
    }

    fn render(&self) -> Value {
        let server = self.server.to_string();
        json!({
            "apiVersion": "v1", "kind": "Config",
            "clusters": [{"name": "cluster", "cluster": {
                "server": server.trim_end_matches('/'),
                "certificate-authority-data": base64::encode(self.authority.as_bytes()),
            }}],
            "users": [{"name": "node", "user": {
                "client-certificate-data": base64::encode(&self.identity.certificate),
                "client-key-data": base64::encode(&self.identity.key),
            }}],
            "contexts": [{"name": "node", "context": {"cluster": "cluster", "user": "node"}}],
            "current-context": "node",
        })
    }

    /// The client configuration of the node.
    pub fn config(&self) -> ClientConfig {
        ClientConfig {
            trust: ServerTrust::CertificateAuthorities(self.authority.clone()),
            identity: Some(self.identity.clone()),
            ..ClientConfig::new(self.server.clone())
        }
    }

    /// The lifetime of the certificate.
    pub fn lifetime(&self) -> Option<Lifetime> {
        lifetime(&self.identity.certificate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_identity_is_read_back_and_a_damaged_one_is_refused() {
        let folder = std::env::temp_dir().join(format!("gantry-node-join-{}", std::process::id()));
        let file = folder.join("kubeconfig");
        let identity = NodeIdentity {
            server: "https://10.0.0.1:6443".parse().unwrap(),
            authority: "PEM".to_owned(),
            identity: ClientIdentity { certificate: b"C".to_vec(), key: b"K".to_vec() },
        };
        assert_eq!(NodeIdentity::read(&file), Ok(None));
        identity.write(&file).unwrap();
        assert_eq!(NodeIdentity::read(&file), Ok(Some(identity)));
        fs::write(&file, "{}").unwrap();
        let damaged = NodeIdentity::read(&file).unwrap_err().to_string();
        assert!(damaged.contains("join again with a token"), "{damaged}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
