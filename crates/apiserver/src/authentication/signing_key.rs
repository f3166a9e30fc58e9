//! The key that signs service account tokens: one per cluster, created on first use, stored outside of the served
//! resources.
//!
//! It is in the store because all servers on one store must accept each other's tokens, and tokens must survive a
//! restart. The first server creates the key; the others use it.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{
    self, KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, UnparsedPublicKey,
};
use aws_lc_rs::{digest, encoding};
use bytes::Bytes;
use gantry_formats::base64;
use gantry_json::{Value, json};
use gantry_store::{Error, Key, Store, Transaction};
use tokio::sync::OnceCell;

use crate::error::ApiError;

/// The key in the store; the value is PKCS#8. No resource has this name, so it cannot be read through the API, but
/// clients of etcd can read it.
const STORE_KEY: &str = "/registry/!gantry/keys/service-account";

/// The cached signing key of the cluster.
#[derive(Debug, Default)]
pub(crate) struct SigningKeys(OnceCell<Arc<SigningKey>>);

/// A key pair that signs tokens.
pub(crate) struct SigningKey {
    pair: KeyPair,
    id: String,
}

impl SigningKeys {
    /// Returns the key if one was ever created. If not, there is no valid token either.
    pub(crate) async fn get(&self, store: &dyn Store) -> Result<Option<Arc<SigningKey>>, ApiError> {
        if let Some(key) = self.0.get() {
            return Ok(Some(Arc::clone(key)));
        }
        let fetched = store.get(&store_key()?).await?;
        let Some(found) = fetched.found else { return Ok(None) };
        let key = Arc::new(SigningKey::read(&found.value)?);
        Ok(Some(Arc::clone(self.0.get_or_init(|| async { key }).await)))
    }

    /// Returns the key; creates it if there is none.
    pub(crate) async fn get_or_create(&self, store: &dyn Store) -> Result<Arc<SigningKey>, ApiError> {
        if let Some(key) = self.get(store).await? {
            return Ok(key);
        }
        // Takes a tenth of a second, once per cluster.
        let made = SigningKey::generate().ok_or_else(unusable)?;
        let bytes = made.to_bytes().ok_or_else(unusable)?;
        match store.commit(Transaction::create(store_key()?, bytes)).await {
            // Another server may have created it first; the stored key is used.
            Ok(_) | Err(Error::Conflict { .. }) => self.get(store).await?.ok_or_else(unusable),
            Err(error) => Err(error.into()),
        }
    }
}

impl SigningKey {
    pub(crate) fn generate() -> Option<Self> {
        Self::of(KeyPair::generate(KeySize::Rsa2048).ok()?)
    }

    fn read(bytes: &[u8]) -> Result<Self, ApiError> {
        KeyPair::from_pkcs8(bytes).ok().and_then(Self::of).ok_or_else(unusable)
    }

    fn of(pair: KeyPair) -> Option<Self> {
        let public: encoding::PublicKeyX509Der<'_> = pair.public_key().as_der().ok()?;
        let id = base64::encode_url(digest::digest(&digest::SHA256, public.as_ref()).as_ref());
        Some(Self { pair, id })
    }

    fn to_bytes(&self) -> Option<Bytes> {
        let der: Pkcs8V1Der<'_> = self.pair.as_der().ok()?;
        Some(Bytes::copy_from_slice(der.as_ref()))
    }

    /// The key id: a digest of the public key.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let mut signature = vec![0; self.pair.public_modulus_len()];
        let signed = self.pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature);
        signed.ok().map(|()| signature)
    }

    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &'static dyn signature::VerificationAlgorithm = &RSA_PKCS1_2048_8192_SHA256;
        UnparsedPublicKey::new(algorithm, self.pair.public_key().as_ref()).verify(message, signature).is_ok()
    }

    /// The public key as a JSON web key.
    pub(crate) fn public(&self) -> Value {
        let public = self.pair.public_key();
        let number = |bytes: &[u8]| base64::encode_url(bytes);
        json!({
            "use": "sig", "kty": "RSA", "kid": self.id, "alg": "RS256",
            "n": number(public.modulus().big_endian_without_leading_zero()),
            "e": number(public.exponent().big_endian_without_leading_zero()),
        })
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.id)
    }
}

fn store_key() -> Result<Key, ApiError> {
    Key::new(STORE_KEY).map_err(|_| unusable())
}

fn unusable() -> ApiError {
    ApiError::unclassified(format!(
        "the key for service account tokens cannot be used: see {STORE_KEY} in the store, and remove it to create a new one"
    ))
}
