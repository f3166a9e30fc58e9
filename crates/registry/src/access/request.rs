//! One request, as far as access is concerned.

use std::collections::BTreeMap;

use super::{ANONYMOUS, UNAUTHENTICATED};
use crate::{Details, Refusal};

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

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or a verb of its own.
    pub verb: String,
    /// Of what.
    pub target: Target,
}

/// What a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Objects of the API.
    Resource {
        /// The group; empty for the core group.
        group: String,
        /// The plural resource.
        resource: String,
        /// The part of the object, if not all of it.
        subresource: Option<String>,
        /// The namespace; none at the cluster scope.
        namespace: Option<String>,
        /// The object's name; none for collections.
        name: Option<String>,
    },
    /// A path that is no object, such as `/metrics`.
    Path(String),
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

impl Request {
    /// The refusal, in Kubernetes' words; `why` is what the verdict says.
    pub fn forbidden(&self, user: &User, why: Option<&str>) -> Refusal {
        let (user, verb) = (&user.name, &self.verb);
        let (message, details) = match &self.target {
            Target::Path(path) => {
                (format!("forbidden: User \"{user}\" cannot {verb} path \"{path}\""), Details::default())
            }
            Target::Resource { group, resource, subresource, namespace, name } => {
                let qualified =
                    if group.is_empty() { resource.clone() } else { format!("{resource}.{group}") };
                let named = name.as_ref().map_or_else(String::new, |name| format!(" \"{name}\""));
                let whole = subresource
                    .as_ref()
                    .map_or_else(|| resource.clone(), |part| format!("{resource}/{part}"));
                let place = namespace.as_ref().map_or_else(
                    || "at the cluster scope".to_owned(),
                    |namespace| format!("in the namespace \"{namespace}\""),
                );
                let message = format!(
                    "{qualified}{named} is forbidden: User \"{user}\" cannot {verb} resource \"{whole}\" in API group \
                     \"{group}\" {place}"
                );
                let details = Details {
                    name: name.clone().unwrap_or_default(),
                    group: group.clone(),
                    kind: resource.clone(),
                    ..Details::default()
                };
                (message, details)
            }
        };
        let message = why.map_or_else(|| message.clone(), |why| format!("{message}: {why}"));
        Refusal { code: 403, reason: "Forbidden", message, details: Some(Box::new(details)) }
    }
}
