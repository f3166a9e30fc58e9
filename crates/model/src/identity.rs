//! Object identities, as used by owner references, the owner graph and live reads.

use std::fmt;

use crate::{ApiVersion, KindName, Name, Namespace, OwnerReference, Uid};

/// One object of any kind, as a reference names it plus the namespace it is looked up in.
///
/// Ordered by kind, API version, namespace, name and uid: the garbage collector's choice among several identities for
/// one uid (G2.9) is the order of this type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// Its kind.
    pub kind: KindName,
    /// Group and version of its kind.
    pub api_version: ApiVersion,
    /// Its namespace; `None` for cluster-scoped objects.
    pub namespace: Option<Namespace>,
    /// Its name.
    pub name: Name,
    /// Its uid, which alone distinguishes it from a later object of the same name.
    pub uid: Uid,
}

impl Identity {
    /// The owner of a reference when it is looked up in this namespace.
    pub fn of_owner(reference: &OwnerReference, namespace: Option<Namespace>) -> Self {
        Self {
            kind: reference.kind.clone(),
            api_version: reference.api_version.clone(),
            namespace,
            name: reference.name.clone(),
            uid: reference.uid.clone(),
        }
    }

    /// The same object looked up in another namespace, or in none.
    #[must_use]
    pub fn in_namespace(&self, namespace: Option<Namespace>) -> Self {
        Self { namespace, ..self.clone() }
    }

    /// Whether a reference names exactly this object, in any namespace: a reference has none.
    pub fn is_named_by(&self, reference: &OwnerReference) -> bool {
        self.uid == reference.uid
            && self.name == reference.name
            && self.kind == reference.kind
            && self.api_version == reference.api_version
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ", self.api_version, self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        write!(f, "{} (uid {})", self.name, self.uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(kind: &str, api_version: &str, namespace: Option<&str>, name: &str, uid: &str) -> Identity {
        Identity {
            kind: kind.into(),
            api_version: api_version.into(),
            namespace: namespace.map(Namespace::from),
            name: name.into(),
            uid: uid.into(),
        }
    }

    /// G2.9: identities are ordered by kind, then API version, namespace, name and uid.
    #[test]
    fn identities_are_ordered_by_kind_version_namespace_name_and_uid() {
        let ascending = [
            identity("A", "v2", Some("z"), "z", "z"),
            identity("B", "v1", Some("z"), "z", "z"),
            identity("B", "v2", None, "z", "z"),
            identity("B", "v2", Some("a"), "z", "z"),
            identity("B", "v2", Some("b"), "a", "z"),
            identity("B", "v2", Some("b"), "b", "a"),
            identity("B", "v2", Some("b"), "b", "b"),
        ];
        assert!(ascending.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_reference_names_an_object_by_all_its_coordinates_but_the_namespace() {
        let web = identity("ReplicaSet", "apps/v1", Some("shop"), "web", "u-1");
        let reference = OwnerReference {
            api_version: "apps/v1".into(),
            kind: "ReplicaSet".into(),
            name: "web".into(),
            uid: "u-1".into(),
            controller: false,
            block_owner_deletion: true,
        };
        assert!(web.is_named_by(&reference));
        assert_eq!(Identity::of_owner(&reference, web.namespace.clone()), web);
        for other in [
            OwnerReference { api_version: "apps/v2".into(), ..reference.clone() },
            OwnerReference { kind: "Deployment".into(), ..reference.clone() },
            OwnerReference { name: "shop".into(), ..reference.clone() },
            OwnerReference { uid: "u-2".into(), ..reference.clone() },
        ] {
            assert!(!web.is_named_by(&other), "{other:?}");
        }
    }

    #[test]
    fn an_identity_is_displayed_as_a_path() {
        assert_eq!(
            identity("Pod", "v1", Some("shop"), "web-1", "u-1").to_string(),
            "v1/Pod shop/web-1 (uid u-1)"
        );
        assert_eq!(identity("Node", "v1", None, "n1", "u-2").to_string(), "v1/Node n1 (uid u-2)");
    }
}
