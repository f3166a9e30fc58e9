//! The metadata of objects of any kind, for the garbage collector.
//!
//! [`crate::Meta`] is the metadata of the kinds that the controllers parse, which are all namespaced; this is the
//! metadata of all other kinds as well.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::{Identity, OwnerReference, ParseError, ResourceVersion, Timestamp, keys};

/// The part of an object's metadata that decides whether it is garbage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectMetadata {
    /// Its identity.
    pub identity: Identity,
    /// Its owner references.
    pub owners: Vec<OwnerReference>,
    /// The finalizers that must be removed before it is.
    pub finalizers: Vec<String>,
    /// When its deletion was requested, if it was.
    pub deleting: Option<Timestamp>,
    /// The version that was read, a precondition of writes.
    pub resource_version: ResourceVersion,
}

impl ObjectMetadata {
    /// Parses the metadata of an object of this kind.
    pub fn parse(api_version: &str, kind: &str, meta: &ObjectMeta) -> Result<Self, ParseError> {
        let identity = Identity {
            kind: kind.into(),
            api_version: api_version.into(),
            namespace: meta.namespace.as_deref().filter(|text| !text.is_empty()).map(Into::into),
            name: ParseError::unless_set(meta.name.clone(), "metadata.name")?.into(),
            uid: ParseError::unless_set(meta.uid.clone(), "metadata.uid")?.into(),
        };
        Ok(Self {
            identity,
            owners: OwnerReference::parse_all(meta.owner_references.clone()),
            finalizers: meta.finalizers.clone().unwrap_or_default(),
            deleting: meta.deletion_timestamp.as_ref().map(Timestamp::parse),
            resource_version: meta.resource_version.as_deref().unwrap_or_default().into(),
        })
    }

    /// Whether its deletion was requested.
    pub fn is_deleting(&self) -> bool {
        self.deleting.is_some()
    }

    /// Whether it has this finalizer.
    pub fn has_finalizer(&self, finalizer: &str) -> bool {
        self.finalizers.iter().any(|held| held == finalizer)
    }

    /// Whether it is being deleted in the foreground.
    pub fn is_deleting_dependents(&self) -> bool {
        self.is_deleting() && self.has_finalizer(keys::FOREGROUND_FINALIZER)
    }

    /// Whether it is being deleted and its dependents are to be orphaned.
    pub fn is_orphaning(&self) -> bool {
        self.is_deleting() && self.has_finalizer(keys::ORPHAN_FINALIZER)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    use super::*;
    use crate::Namespace;

    fn stored() -> ObjectMeta {
        ObjectMeta {
            namespace: Some("shop".into()),
            name: Some("web".into()),
            uid: Some("u-1".into()),
            resource_version: Some("7".into()),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn cluster_scoped_objects_have_no_namespace() {
        let meta = |namespace: Option<&str>| ObjectMeta { namespace: namespace.map(Into::into), ..stored() };
        let parse =
            |meta| ObjectMetadata::parse("v1", "Thing", &meta).map(|object| object.identity.namespace);
        assert_eq!(parse(meta(Some("shop"))), Ok(Some(Namespace::from("shop"))));
        assert_eq!(parse(meta(None)), Ok(None));
        assert_eq!(parse(meta(Some(""))), Ok(None));
    }

    #[test]
    fn an_object_without_a_name_or_uid_is_refused() {
        let field = |meta| ObjectMetadata::parse("v1", "Thing", &meta).map_err(|error| error.field());
        assert_eq!(field(ObjectMeta { name: None, ..stored() }), Err("metadata.name"));
        assert_eq!(field(ObjectMeta { uid: Some(String::new()), ..stored() }), Err("metadata.uid"));
    }

    /// G2.2: a finalizer determines the propagation only once the object is being deleted.
    #[test]
    fn finalizers_determine_propagation_only_during_deletion() {
        let parse = |finalizer: &str, deleting: bool| {
            let meta = ObjectMeta {
                finalizers: Some(vec!["example.com/held".into(), finalizer.into()]),
                deletion_timestamp: deleting.then_some(Time(k8s_openapi::jiff::Timestamp::UNIX_EPOCH)),
                ..stored()
            };
            ObjectMetadata::parse("v1", "Thing", &meta).unwrap()
        };
        assert!(parse("foregroundDeletion", true).is_deleting_dependents());
        assert!(!parse("foregroundDeletion", false).is_deleting_dependents());
        assert!(!parse("orphan", true).is_deleting_dependents());
        assert!(parse("orphan", true).is_orphaning());
        assert!(!parse("orphan", false).is_orphaning());
    }
}
