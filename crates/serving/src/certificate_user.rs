//! The user of a client certificate: its common name is the user, its organizations are the groups.

use gantry_registry::access::User;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

/// The user of a verified certificate; `None` without a common name.
pub(crate) fn user(der: &[u8]) -> Option<User> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let subject = certificate.subject();
    let name = subject.iter_common_name().next()?.as_str().ok().filter(|name| !name.is_empty())?.to_owned();
    let groups = subject.iter_organization().filter_map(|group| group.as_str().ok());
    let groups = groups.chain(["system:authenticated"]).map(str::to_owned).collect();
    Some(User { name, groups, ..User::default() })
}
