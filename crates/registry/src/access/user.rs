//! An authenticated user.

use std::collections::BTreeMap;

use super::{ANONYMOUS, UNAUTHENTICATED};

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The groups, `system:authenticated` or `system:unauthenticated` among them.
    pub groups: Vec<String>,
    /// What tells this user from an earlier one of the same name; empty if nothing does.
    pub uid: String,
    /// What else the authenticator knows, by key.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// What the names of service accounts begin with.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

impl User {
    /// Whoever shows no credentials.
    pub fn anonymous() -> Self {
        Self { name: ANONYMOUS.to_owned(), groups: vec![UNAUTHENTICATED.to_owned()], ..Self::default() }
    }

    /// The user that a service account is.
    pub fn of_service_account(namespace: &str, name: &str) -> Self {
        Self {
            name: format!("{SERVICE_ACCOUNT}{namespace}:{name}"),
            groups: vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")],
            ..Self::default()
        }
    }

    /// The namespace and name of the service account that this is, if it is one.
    pub fn service_account(&self) -> Option<(&str, &str)> {
        let (namespace, name) = self.name.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')?;
        (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
    }

    /// Whether rights need not be looked up at all.
    pub fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == super::MASTERS)
    }
}
