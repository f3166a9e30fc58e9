//! The decoded form of objects that were written a moment ago.
//!
//! An object that is written is often written again soon: a pod is created, bound, reported and deleted. The next write then
//! decodes nothing, and shares the parts that it does not change. An entry is valid for one revision of its key, so a write of
//! another server, or past this cache, never makes it stale.

use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_json::Value;
use gantry_registry::{conversion, strategies};
use gantry_schema::encode::TextParts;
use gantry_schema::kinds::{Kind, Nature};
use gantry_store::{Key, Revision};

/// A cache of decoded objects. Several keys share a slot, which keeps the object that was written last.
pub(crate) struct DecodedCache {
    places: Box<[Mutex<Option<Entry>>]>,
    hasher: RandomState,
}

struct Entry {
    key: Key,
    revision: Revision,
    decoded: DecodedObject,
}

/// A decoded object, and where its parts are in the stored bytes.
#[derive(Clone)]
pub(crate) struct DecodedObject {
    pub(crate) object: Value,
    pub(crate) parts: Arc<TextParts>,
}

impl DecodedCache {
    /// A cache of at most this many objects.
    pub(crate) fn new(places: NonZero<usize>) -> Self {
        let places = std::iter::repeat_with(Mutex::default).take(places.get()).collect();
        Self { places, hasher: RandomState::new() }
    }

    /// The object of a key at this revision, as it would be decoded.
    pub(crate) fn get(&self, kind: &Kind, key: &Key, revision: Revision) -> Option<DecodedObject> {
        if !is_cached(kind) {
            return None;
        }
        let entry = self.place(key);
        let entry = entry.as_ref().filter(|entry| entry.revision == revision && entry.key == *key)?;
        Some(entry.decoded.clone())
    }

    /// Keeps an object that was written at this revision.
    pub(crate) fn insert(
        &self,
        kind: &Kind,
        key: &Key,
        revision: Revision,
        object: &Value,
        parts: TextParts,
    ) {
        if is_cached(kind) {
            let decoded = DecodedObject { object: object.clone(), parts: Arc::new(parts) };
            *self.place(key) = Some(Entry { key: key.clone(), revision, decoded });
        }
    }

    /// Drops an object that was deleted.
    pub(crate) fn remove(&self, key: &Key) {
        self.place(key).take_if(|entry| entry.key == *key);
    }

    fn place(&self, key: &Key) -> MutexGuard<'_, Option<Entry>> {
        let hash = self.hasher.hash_one(key);
        let place = usize::try_from(hash % self.places.len() as u64).unwrap_or_default();
        self.places[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether objects of this kind are kept: those with a status are written again, and those that are stored as they are served
/// need no conversion.
pub(crate) fn is_cached(kind: &Kind) -> bool {
    kind.has_status()
        && matches!(kind.nature, Nature::BuiltIn(_))
        && strategies::of(kind).stored_when_new.is_none()
        && conversion::stored_kind(kind).is_none()
}

impl std::fmt::Debug for DecodedCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DecodedCache")
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;
    use gantry_schema::kinds::kinds;

    use super::*;

    fn cache(places: usize) -> DecodedCache {
        DecodedCache::new(NonZero::new(places).unwrap())
    }

    fn key(name: &str) -> Key {
        Key::new(format!("/registry/pods/n/{name}")).unwrap()
    }

    fn revision(number: u64) -> Revision {
        Revision::new(number).unwrap()
    }

    #[test]
    fn an_entry_is_valid_for_one_revision_of_its_key() {
        let (cache, pods) = (cache(8), kinds().resource("", "v1", "pods").unwrap());
        let pod = json!({"metadata": {"name": "a"}});
        let cached = |number| cache.get(pods, &key("a"), revision(number)).map(|decoded| decoded.object);
        cache.insert(pods, &key("a"), revision(7), &pod, TextParts::default());
        assert_eq!(cached(7), Some(pod));
        assert_eq!(cached(8), None);
        cache.remove(&key("a"));
        assert_eq!(cached(7), None);
    }

    #[test]
    fn keys_in_the_same_slot_are_distinguished() {
        let (cache, pods) = (cache(64), kinds().resource("", "v1", "pods").unwrap());
        let names: Vec<_> = (0..128).map(|number| number.to_string()).collect();
        for name in &names {
            cache.insert(pods, &key(name), revision(1), &json!(name), TextParts::default());
        }
        let found = names.iter().filter_map(|name| Some((name, cache.get(pods, &key(name), revision(1))?)));
        let found: Vec<_> = found.collect();
        assert!(!found.is_empty() && found.len() <= 64);
        assert!(found.into_iter().all(|(name, decoded)| decoded.object == json!(name)));
    }

    /// An event is written once, and a map of another version may be stored in another form.
    #[test]
    fn only_objects_that_are_written_again_are_kept() {
        let is_cached =
            |group, version, resource| is_cached(kinds().resource(group, version, resource).unwrap());
        assert!(is_cached("", "v1", "pods") && is_cached("apps", "v1", "deployments"));
        assert!(
            !is_cached("", "v1", "events") && !is_cached("autoscaling", "v1", "horizontalpodautoscalers")
        );
    }
}
