//! The TLS settings of a configuration.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig as TlsConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::config::{ClientConfig, ClientIdentity, ConfigError, ServerTrust};

impl ClientConfig {
    /// Returns the settings of TLS connections to the server.
    pub fn tls(&self) -> Result<TlsConfig, ConfigError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = TlsConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| ConfigError(error.to_string()))?;
        let builder = match &self.trust {
            ServerTrust::System => builder.with_root_certificates(system_authorities()),
            ServerTrust::CertificateAuthorities(pem) => builder.with_root_certificates(authorities(pem)?),
            ServerTrust::Unverified => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(Unverified(provider)))
            }
        };
        match &self.identity {
            None => Ok(builder.with_no_client_auth()),
            Some(identity) => {
                let (chain, key) = identity.parse()?;
                let unusable = |error| {
                    ConfigError(format!("the client-certificate and the client-key cannot be used: {error}"))
                };
                builder.with_client_auth_cert(chain, key).map_err(unusable)
            }
        }
    }

    /// Returns the name that the certificate of the server must have.
    pub fn server_name(&self) -> Result<ServerName<'static>, ConfigError> {
        let host = self.server.host().unwrap_or_default().trim_matches(['[', ']']);
        let name = self.tls_server_name.as_deref().unwrap_or(host);
        ServerName::try_from(name.to_owned()).map_err(|error| ConfigError(format!("{name:?}: {error}")))
    }
}

impl ClientIdentity {
    fn parse(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), ConfigError> {
        let chain = CertificateDer::pem_slice_iter(&self.certificate).collect::<Result<Vec<_>, _>>();
        let chain = chain
            .map_err(|error| ConfigError(format!("the client-certificate is not valid PEM: {error}")))?;
        if chain.is_empty() {
            return Err(ConfigError("the client-certificate holds no certificate".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key);
        Ok((
            chain,
            key.map_err(|error| ConfigError(format!("the client-key is not a valid private key: {error}")))?,
        ))
    }
}

/// Parses certificate authorities in PEM.
fn authorities(pem: &str) -> Result<RootCertStore, ConfigError> {
    let invalid = |error: &dyn std::fmt::Display| {
        ConfigError(format!("the certificate-authority is not a valid certificate: {error}"))
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|error| invalid(&error))?;
        roots.add(certificate).map_err(|error| invalid(&error))?;
    }
    if roots.is_empty() {
        return Err(invalid(&"it holds none in PEM"));
    }
    Ok(roots)
}

/// The certificate authorities of the operating system; the handshake fails if there are none.
fn system_authorities() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

/// Accepts every certificate, for `insecure-skip-tls-verify`.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
