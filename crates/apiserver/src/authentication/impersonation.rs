//! Impersonation: the `Impersonate-…` headers, and the permissions they require.

use std::collections::BTreeMap;

use gantry_registry::access::{
    ANONYMOUS, AUTHENTICATED, RequestAttributes, RequestTarget, UNAUTHENTICATED, User,
};
use http::{HeaderMap, HeaderValue};

use crate::error::ApiError;

const EXTRA: &str = "impersonate-extra-";
const AUTHENTICATION: &str = "authentication.k8s.io";

/// The user to impersonate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Impersonation {
    name: String,
    groups: Vec<String>,
    uid: String,
    extra: BTreeMap<String, Vec<String>>,
}

impl Impersonation {
    /// Parses the headers; `None` without any. Refuses headers that are not UTF-8: if such a header were ignored, the
    /// request would have the permissions of its sender.
    pub(crate) fn read(headers: &HeaderMap) -> Result<Option<Self>, ApiError> {
        let texts = |name: &str| headers.get_all(name).iter().map(text).collect::<Result<Vec<_>, _>>();
        let first = |name: &str| headers.get(name).map_or(Ok(String::new()), text);
        let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in headers {
            if let Some(key) = name.as_str().strip_prefix(EXTRA) {
                let key = gantry_formats::percent::decode_path(key).into_owned();
                extra.entry(key).or_default().push(text(value)?);
            }
        }
        let impersonation = Self {
            name: first("impersonate-user")?,
            groups: texts("impersonate-group")?,
            uid: first("impersonate-uid")?,
            extra,
        };
        if !impersonation.name.is_empty() {
            return Ok(Some(impersonation));
        }
        if impersonation.groups.is_empty() && impersonation.uid.is_empty() && impersonation.extra.is_empty() {
            return Ok(None);
        }
        Err(ApiError::unclassified("requested groups, a uid or extras without impersonating a user"))
    }

    /// The requests that the caller must be allowed to make in order to impersonate this user.
    pub(crate) fn required_permissions(&self) -> Vec<RequestAttributes> {
        let permission =
            |group: &str, resource: &str, part: Option<&str>, namespace: Option<&str>, name: &str| {
                let target = RequestTarget::Resource {
                    group: group.to_owned(),
                    resource: resource.to_owned(),
                    subresource: part.map(str::to_owned),
                    namespace: namespace.map(str::to_owned),
                    name: Some(name.to_owned()),
                };
                RequestAttributes { verb: "impersonate".to_owned(), target }
            };
        let named = User { name: self.name.clone(), ..User::default() };
        let user = match named.service_account() {
            Some((namespace, name)) => permission("", "serviceaccounts", None, Some(namespace), name),
            None => permission("", "users", None, None, &self.name),
        };
        let mut required_permissions = vec![user];
        required_permissions
            .extend(self.groups.iter().map(|group| permission("", "groups", None, None, group)));
        for (key, values) in &self.extra {
            let each = values.iter();
            required_permissions
                .extend(each.map(|value| permission(AUTHENTICATION, "userextras", Some(key), None, value)));
        }
        if !self.uid.is_empty() {
            required_permissions.push(permission(AUTHENTICATION, "uids", None, None, &self.uid));
        }
        required_permissions
    }

    /// Returns the impersonated user.
    pub(crate) fn user(self) -> User {
        let Self { name, mut groups, uid, extra } = self;
        let named = User { name, ..User::default() };
        if groups.is_empty()
            && let Some((namespace, account)) = named.service_account()
        {
            groups = User::of_service_account(namespace, account).groups;
        }
        let has = |wanted: &str| groups.iter().any(|group| group == wanted);
        if named.name == ANONYMOUS {
            if !has(UNAUTHENTICATED) {
                groups.push(UNAUTHENTICATED.to_owned());
            }
        } else if !has(AUTHENTICATED) && !has(UNAUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        User { groups, uid, extra, ..named }
    }
}

fn text(value: &HeaderValue) -> Result<String, ApiError> {
    let text = std::str::from_utf8(value.as_bytes()).map(str::to_owned);
    text.map_err(|_| ApiError::bad_request("the values of Impersonate-… headers must be UTF-8"))
}
