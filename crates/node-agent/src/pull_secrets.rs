//! The credentials with which images are pulled.

use gantry_cri::wire;
use gantry_formats::base64;
use gantry_json::Value;
use k8s_openapi::api::core::v1 as core;

/// Returns the credentials for an image in these secrets, the most specific ones first.
pub(crate) fn credentials<'a>(
    image: &str,
    secrets: impl Iterator<Item = &'a core::Secret>,
) -> Vec<wire::AuthConfig> {
    let mut found: Vec<(usize, wire::AuthConfig)> = Vec::new();
    for secret in secrets {
        for (registry, entry) in registries(secret) {
            let prefix = normalized(&registry);
            if is_for(&prefix, image) {
                found.extend(auth(&entry).map(|auth| (prefix.len(), auth)));
            }
        }
    }
    found.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    found.into_iter().map(|(_, auth)| auth).collect()
}

/// Returns the entries of a secret in one of Docker's two formats.
fn registries(secret: &core::Secret) -> Vec<(String, Value)> {
    let data = |key: &str| secret.data.as_ref().and_then(|data| data.get(key));
    let parse = |bytes: &[u8]| {
        std::str::from_utf8(bytes).ok().and_then(|text| gantry_json::from_str::<Value>(text).ok())
    };
    let entries = match (data(".dockerconfigjson"), data(".dockercfg")) {
        (Some(file), _) => parse(&file.0).map(|value| value["auths"].clone()),
        (None, Some(file)) => parse(&file.0),
        (None, None) => None,
    };
    let entries = entries.as_ref().and_then(Value::as_object).into_iter().flatten();
    entries.map(|(registry, entry)| (registry.to_string(), entry.clone())).collect()
}

/// Returns a registry without scheme and version: `https://index.docker.io/v1/` is `index.docker.io`.
fn normalized(registry: &str) -> String {
    let rest = registry.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/');
    rest.trim_end_matches("/v1").trim_end_matches("/v2").to_owned()
}

fn is_for(prefix: &str, image: &str) -> bool {
    let first = image.split('/').next().unwrap_or_default();
    let has_registry = image.contains('/') && (first.contains(['.', ':']) || first == "localhost");
    let hub = ["docker.io", "index.docker.io", "registry-1.docker.io"];
    if hub.contains(&prefix) {
        return !has_registry || hub.contains(&first);
    }
    let rest = image.strip_prefix(prefix);
    has_registry && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':', '@']))
}

fn auth(entry: &Value) -> Option<wire::AuthConfig> {
    let text = |name: &str| entry[name].as_str().map(str::to_owned);
    if let (Some(username), Some(password)) = (text("username"), text("password")) {
        return Some(wire::AuthConfig { username, password, ..wire::AuthConfig::default() });
    }
    let decoded = base64::decode(entry["auth"].as_str()?).ok()?;
    let decoded = String::from_utf8(decoded).ok()?;
    let (username, password) = decoded.split_once(':')?;
    Some(wire::AuthConfig {
        username: username.to_owned(),
        password: password.trim_end_matches('\0').to_owned(),
        ..wire::AuthConfig::default()
    })
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    #[test]
    fn credentials_are_those_of_the_images_registry() {
        let file = r#"{"auths": {"https://index.docker.io/v1/": {"auth": "bWU6aHVi"},
            "r.io": {"username": "me", "password": "all"}, "r.io/team": {"username": "me", "password": "team"}}}"#;
        let secret: core::Secret = gantry_json::from_value(json!({
            "type": "kubernetes.io/dockerconfigjson",
            "data": {".dockerconfigjson": base64::encode(file.as_bytes())},
        }))
        .unwrap();
        let passwords = |image: &str| -> Vec<String> {
            credentials(image, [&secret].into_iter()).into_iter().map(|auth| auth.password).collect()
        };
        assert_eq!(passwords("nginx"), ["hub"]);
        assert_eq!(passwords("me/app:1"), ["hub"]);
        assert_eq!(passwords("r.io/team/app"), ["team", "all"]);
        assert_eq!(passwords("r.io/teamwork/app"), ["all"]);
        assert!(passwords("other.io/app").is_empty());
    }
}
