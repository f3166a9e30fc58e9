//! Client certificates: the handshake accepts any, and they are verified afterwards.
//!
//! A handshake that fails because of a certificate would give the client no error response, and would not let it
//! authenticate by a token. So the handshake only checks that the client has the key of its certificate; [`verify`]
//! then verifies the certificate.

use std::sync::Arc;

use gantry_apiserver::{AuthenticatedUser, UnverifiedCertificate};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

use crate::certificate_user;

/// Accepts every certificate in the handshake, if the client has its key.
#[derive(Debug)]
pub(crate) struct AcceptAnyClientCert {
    authority: Arc<dyn ClientCertVerifier>,
}

#[derive(Clone, Debug)]
pub(crate) enum ClientCertificate {
    /// There is none, or it has no common name.
    Nothing,
    /// It is signed by our CA.
    User(AuthenticatedUser),
    /// It is signed by another CA, or not valid at this time.
    Unverified(UnverifiedCertificate),
}

/// Verifies the certificates of a client.
pub(crate) fn verify(
    authority: &dyn ClientCertVerifier,
    chain: Option<&[CertificateDer<'_>]>,
) -> ClientCertificate {
    let Some((first, others)) = chain.and_then(<[_]>::split_first) else { return ClientCertificate::Nothing };
    match authority.verify_client_cert(first, others, UnixTime::now()) {
        Ok(_) => certificate_user::user(first)
            .map_or(ClientCertificate::Nothing, |user| ClientCertificate::User(AuthenticatedUser(user))),
        Err(error) => {
            tracing::debug!(%error, "a client's certificate was not verified");
            ClientCertificate::Unverified(UnverifiedCertificate)
        }
    }
}

impl AcceptAnyClientCert {
    pub(crate) fn of(authority: Arc<dyn ClientCertVerifier>) -> Self {
        Self { authority }
    }
}

impl ClientCertVerifier for AcceptAnyClientCert {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.authority.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authority.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authority.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authority.supported_verify_schemes()
    }
}
