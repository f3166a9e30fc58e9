//! Checks image names as container runtimes parse them: `[registry/]repository[:tag][@digest]`.

/// The registry of images without one.
const DOCKER_HUB: &str = "docker.io";
/// The maximum length of a tag.
const TAG_LENGTH_MAX: usize = 128;
/// The maximum length of a repository with its registry.
const NAME_LENGTH_MAX: usize = 255;
/// The minimum length of a digest.
const DIGEST_LENGTH_MIN: usize = 32;

/// Returns the kubelet's message if an image name is invalid.
pub(super) fn parse_error(image: &str) -> Option<String> {
    let why = reference_error(image)?;
    Some(format!(
        "Failed to apply default image tag \"{image}\": couldn't parse image name \"{image}\": {why}"
    ))
}

fn reference_error(image: &str) -> Option<String> {
    const FORMAT: &str = "invalid reference format";
    if image.len() == 64 && image.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
        return Some(format!(
            "invalid repository name ({image}), cannot specify 64-byte hexadecimal strings"
        ));
    }
    let (registry, rest) = with_registry(image);
    let repository = rest.split(':').next().unwrap_or_default();
    if repository.chars().any(char::is_uppercase) {
        return Some(format!("{FORMAT}: repository name ({repository}) must be lowercase"));
    }
    let (named, digest) = match rest.split_once('@') {
        Some((named, digest)) => (named, Some(digest)),
        None => (rest.as_str(), None),
    };
    let (repository, tag) = match named.split_once(':') {
        Some((repository, tag)) => (repository, Some(tag)),
        None => (named, None),
    };
    let fits = is_registry(&registry)
        && repository.split('/').all(is_path_component)
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest);
    if !fits {
        return Some(FORMAT.to_owned());
    }
    let length = registry.len() + 1 + repository.len();
    (length > NAME_LENGTH_MAX)
        .then(|| format!("repository name must not be more than {NAME_LENGTH_MAX} characters"))
}

/// Splits a name into registry and rest, with the parts that short names of Docker Hub omit.
fn with_registry(image: &str) -> (String, String) {
    let is_registry = |first: &str| {
        first.contains(['.', ':']) || first == "localhost" || first.chars().any(char::is_uppercase)
    };
    match image.split_once('/') {
        Some((first, rest)) if is_registry(first) && first != DOCKER_HUB => {
            (first.to_owned(), rest.to_owned())
        }
        Some((DOCKER_HUB, rest)) if rest.contains('/') => (DOCKER_HUB.to_owned(), rest.to_owned()),
        Some((DOCKER_HUB, rest)) => (DOCKER_HUB.to_owned(), format!("library/{rest}")),
        Some(_) => (DOCKER_HUB.to_owned(), image.to_owned()),
        None => (DOCKER_HUB.to_owned(), format!("library/{image}")),
    }
}

fn is_registry(registry: &str) -> bool {
    let (node, port) = match registry.rsplit_once(':') {
        Some((node, port)) if !port.ends_with(']') => (node, Some(port)),
        _ => (registry, None),
    };
    let bytes_fit = |label: &str| label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_label = |label: &str| {
        !label.is_empty() && !label.starts_with('-') && !label.ends_with('-') && bytes_fit(label)
    };
    let is_address =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':');
    let host_fits = match node.strip_prefix('[').and_then(|node| node.strip_suffix(']')) {
        Some(address) => is_address(address),
        None => node.split('.').all(is_label),
    };
    host_fits && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Lowercase letters and digits; between them one dot, one or two underscores, or any number of dashes.
fn is_path_component(component: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let separators = component.split(is_word).filter(|separator| !separator.is_empty());
    let fits =
        |separator: &str| matches!(separator, "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-');
    component.starts_with(is_word) && component.ends_with(is_word) && separators.into_iter().all(fits)
}

fn is_tag(tag: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    tag.starts_with(is_word)
        && tag.len() <= TAG_LENGTH_MAX
        && tag.chars().all(|c| is_word(c) || c == '.' || c == '-')
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else { return false };
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    algorithm.split(['-', '_', '+', '.']).all(is_part)
        && hex.len() >= DIGEST_LENGTH_MIN
        && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_names_have_no_error() {
        let digest = format!("nginx@sha256:{}", "ab".repeat(32));
        for image in [
            "nginx",
            "nginx:1.27",
            "me/app__x:v1",
            "docker.io/library/nginx",
            "docker.io/nginx",
            "localhost/app",
            "localhost:5000/a/b-c.d:T_a.g-1",
            "r.io:5000/app:2",
            "Registry/app",
            "[::1]:5000/app",
            digest.as_str(),
        ] {
            assert_eq!(parse_error(image), None, "{image}");
        }
    }

    #[test]
    fn invalid_names_have_the_message_of_the_runtime() {
        let long = "a".repeat(300);
        for (image, why) in [
            ("nginx::bad", "invalid reference format"),
            ("nginx:", "invalid reference format"),
            ("nginx/", "invalid reference format"),
            ("-nginx", "invalid reference format"),
            ("a..b", "invalid reference format"),
            ("a___b", "invalid reference format"),
            ("r.io:port/app", "invalid reference format"),
            ("nginx@sha256:ab", "invalid reference format"),
            ("nginx:1 ", "invalid reference format"),
            ("Nginx", "invalid reference format: repository name (library/Nginx) must be lowercase"),
            (long.as_str(), "repository name must not be more than 255 characters"),
        ] {
            let expected = format!(
                "Failed to apply default image tag \"{image}\": couldn't parse image name \"{image}\": {why}"
            );
            assert_eq!(parse_error(image), Some(expected));
        }
    }
}
