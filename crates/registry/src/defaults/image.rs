//! Parses the tag of an image reference.
//!
//! ```text
//! [domain[:port]/]component[/component…][:tag][@algorithm:digest]
//! ```

/// Returns the default pull policy: `Always` for the tag `latest`, also if it is implied.
pub(crate) fn pull_policy(image: &str) -> &'static str {
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    // A colon before the last slash is a port.
    let last_slash = name.rfind('/').map_or(0, |slash| slash + 1);
    let tag_at = name[last_slash..].find(':').map(|colon| last_slash + colon);
    let (path, tag) = tag_at.map_or((name, None), |at| (&name[..at], Some(&name[at + 1..])));
    let is_reference = is_path(path) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest);
    match (tag, digest) {
        (Some("latest"), _) | (None, None) if is_reference => "Always",
        _ => "IfNotPresent",
    }
}

/// Parses components in lower case, after a domain if the first one looks like a domain.
fn is_path(path: &str) -> bool {
    let is_domain = |first: &str| {
        let looks_so =
            first.contains(['.', ':']) || first == "localhost" || first.chars().any(char::is_uppercase);
        let (host, port) = first.split_once(':').unwrap_or((first, "0"));
        let has_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        looks_so
            && has_port
            && host.split('.').all(|part| {
                let bytes = part.as_bytes();
                !part.starts_with('-')
                    && !part.ends_with('-')
                    && !bytes.is_empty()
                    && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
            })
    };
    let components = match path.split_once('/') {
        Some((first, rest)) if is_domain(first) => rest,
        _ => path,
    };
    components.split('/').all(is_component)
}

/// Letters and digits, with separators between them: one dot, one or two underscores, or any number of hyphens.
fn is_component(component: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_separator =
        |text: &str| matches!(text, "" | "." | "_" | "__") || text.bytes().all(|byte| byte == b'-');
    component.starts_with(is_word)
        && component.ends_with(is_word)
        && component.split(is_word).all(is_separator)
}

fn is_tag(tag: &str) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = tag.as_bytes();
    bytes.first().is_some_and(is_letter)
        && bytes.len() <= 128
        && bytes.iter().all(|byte| is_letter(byte) || matches!(byte, b'.' | b'-'))
}

fn is_digest(digest: &str) -> bool {
    let is_algorithm = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
    digest.split_once(':').is_some_and(|(algorithm, hex)| {
        is_algorithm(algorithm) && !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O1.1: the tag decides, a port is not a tag, and `latest` is always pulled even with a digest.
    #[test]
    fn moving_tags_are_always_pulled() {
        for image in [
            "nginx",
            "nginx:latest",
            "host:5000/a/b",
            "nginx:latest@sha256:aa",
            "localhost/a__b",
            "My.Host/x",
        ] {
            assert_eq!(pull_policy(image), "Always", "{image}");
        }
        for image in [
            "nginx:1",
            "host:5000/a/b:v1",
            "nginx@sha256:aa",
            "",
            " nginx",
            "Nginx",
            "a..b",
            "nginx:",
            "a/-b",
        ] {
            assert_eq!(pull_policy(image), "IfNotPresent", "{image}");
        }
    }
}
