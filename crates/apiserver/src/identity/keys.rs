//! The key that signs service account tokens: one per cluster, made when it is first needed, kept in the store.
//!
//! In the store, because all servers on one store must believe each other's tokens, and a token must outlive a restart.
//! Whoever makes a key first wins; the others take it over. It lies outside of what the API serves.

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
use gantry_registry::Refusal;
use gantry_store::{Error, Key, Store, Transaction};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::objects::failed;

/// Where the key lies, as PKCS#8. No resource is called like that, so no path of the API leads there; yet whoever may
/// write objects in etcd may write it.
const PLACE: &str = "/registry/!gantry/keys/service-account";

/// The signing key of a cluster, once it was needed.
#[derive(Debug, Default)]
pub(crate) struct Keys(OnceCell<Arc<SigningKey>>);

/// A key that signs tokens.
pub(crate) struct SigningKey {
    pair: KeyPair,
    id: String,
}

impl Keys {
    /// The key, if any server ever made one. If not, there is no token to believe either.
    pub(crate) async fn existing(&self, store: &dyn Store) -> Result<Option<Arc<SigningKey>>, Refusal> {
        if let Some(key) = self.0.get() {
            return Ok(Some(Arc::clone(key)));
        }
        let fetched = store.get(&place()?).await.map_err(|error| failed(&error))?;
        let Some(found) = fetched.found else { return Ok(None) };
        let key = Arc::new(SigningKey::read(&found.value)?);
        Ok(Some(Arc::clone(self.0.get_or_init(|| async { key }).await)))
    }

    /// The key, made now if there was none.
    pub(crate) async fn ensured(&self, store: &dyn Store) -> Result<Arc<SigningKey>, Refusal> {
        if let Some(key) = self.existing(store).await? {
            return Ok(key);
        }
        // Takes a tenth of a second, once in the life of a cluster.
        let made = SigningKey::generate().ok_or_else(unusable)?;
        let bytes = made.to_bytes().ok_or_else(unusable)?;
        match store.commit(Transaction::create(place()?, bytes)).await {
            // Somebody else may have been quicker: either way, what is stored is the key.
            Ok(_) | Err(Error::Conflict { .. }) => self.existing(store).await?.ok_or_else(unusable),
            Err(error) => Err(failed(&error)),
        }
    }
}

impl SigningKey {
    pub(crate) fn generate() -> Option<Self> {
        Self::of(KeyPair::generate(KeySize::Rsa2048).ok()?)
    }

    fn read(bytes: &[u8]) -> Result<Self, Refusal> {
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

    /// What tells this key from others: a digest of its public half.
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

    /// The public half, for those who check tokens themselves.
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

fn place() -> Result<Key, Refusal> {
    Key::new(PLACE).map_err(|_| unusable())
}

fn unusable() -> Refusal {
    Refusal::server_error(format!(
        "the key for service account tokens cannot be used: see {PLACE} in the store, and remove it to have a new one made"
    ))
}
