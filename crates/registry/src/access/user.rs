//! An authenticated user.

use std::collections::BTreeMap;

use super::{ANONYMOUS, UNAUTHENTICATED};

/// A user, authenticated or anonymous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The groups, `system:authenticated` or `system:unauthenticated` among them.
    pub groups: Vec<String>,
    /// The uid, which distinguishes users of the same name; may be empty.
    pub uid: String,
    /// Further attributes from the authenticator, by key.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// The prefix of the names of service accounts.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

impl User {
    /// The user of requests without credentials.
    pub fn anonymous() -> Self {
        Self { name: ANONYMOUS.to_owned(), groups: vec![UNAUTHENTICATED.to_owned()], ..Self::default() }
    }

    /// The user of a service account.
    pub fn of_service_account(namespace: &str, name: &str) -> Self {
        Self {
            name: format!("{SERVICE_ACCOUNT}{namespace}:{name}"),
            groups: vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")],
            ..Self::default()
        }
    }

    /// Returns the namespace and name if the user is a service account.
    pub fn service_account(&self) -> Option<(&str, &str)> {
        let (namespace, name) = self.name.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')?;
        (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
    }

    /// Whether the user is a member of `system:masters`.
    pub fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == super::MASTERS)
    }
}
