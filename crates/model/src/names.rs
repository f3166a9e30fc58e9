//! Names and versions as distinct types.

use std::fmt;
use std::ops::Deref;

use smol_str::SmolStr;

/// Defines a distinct string type, cheap to clone and ordered as text. Most values are short enough to need no allocation.
macro_rules! text {
    ($(#[$doc:meta])* pub struct $name:ident;) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(SmolStr);

        impl $name {
            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

text! {
    /// `metadata.name`: unique per kind and namespace, and reused after a deletion.
    pub struct Name;
}
text! {
    /// `metadata.namespace` of a namespaced object.
    pub struct Namespace;
}
text! {
    /// The kind of an object, such as `ReplicaSet`.
    pub struct KindName;
}
text! {
    /// Group and version of a kind, such as `apps/v1`.
    pub struct ApiVersion;
}
text! {
    /// `metadata.resourceVersion`: a precondition for writes.
    pub struct ResourceVersion;
}

/// Makes a type usable as text: its values are compared with constants and looked up, but never mistaken for each other.
macro_rules! read_as_text {
    ($($name:ident),*) => {
        $(
            impl Deref for $name {
                type Target = str;

                fn deref(&self) -> &str {
                    &self.0
                }
            }

            impl PartialEq<&str> for $name {
                fn eq(&self, text: &&str) -> bool {
                    self.0 == **text
                }
            }
        )*
    };
}

read_as_text!(KindName, ApiVersion);

impl ResourceVersion {
    /// Whether this version is as new as `other`.
    ///
    /// Versions are decimal numbers of any length (comparable since Kubernetes 1.35); `None` when either is not.
    pub fn has_reached(&self, other: &Self) -> Option<bool> {
        let (mine, theirs) = (self.digits()?, other.digits()?);
        Some((mine.len(), mine) >= (theirs.len(), theirs))
    }

    /// Its digits without leading zeros, if it is a number.
    fn digits(&self) -> Option<&str> {
        let text = self.as_str();
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.trim_start_matches('0'))
    }
}

/// Namespace and name: the key of caches, queues and expectations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The namespace.
    pub namespace: Namespace,
    /// The name.
    pub name: Name,
}

impl ObjectKey {
    /// The key `namespace/name`.
    pub fn new(namespace: impl Into<Namespace>, name: impl Into<Name>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_versions_compare_as_numbers_of_any_length() {
        let reached = |a: &str, b: &str| ResourceVersion::from(a).has_reached(&b.into());
        assert_eq!(reached("10", "9"), Some(true));
        assert_eq!(reached("9", "10"), Some(false));
        assert_eq!(reached("7", "7"), Some(true));
        assert_eq!(reached("007", "7"), Some(true));
        assert_eq!(reached("99999999999999999999999", "100000000000000000000000"), Some(false));
        assert_eq!(reached("", "1"), None);
        assert_eq!(reached("12a", "1"), None);
    }
}
