//! What an image reference says about its tag.

/// When an image is pulled if nobody says: always, if its tag moves.
pub(super) fn pull_policy(image: &str) -> &'static str {
    let (name, digest) = image.split_once('@').map_or((image, ""), |(name, digest)| (name, digest));
    let last_segment = name.rsplit('/').next().unwrap_or(name);
    // A colon before the last slash is a port.
    let tag = last_segment.split_once(':').map_or("", |(_, tag)| tag);
    if tag == "latest" || tag.is_empty() && digest.is_empty() { "Always" } else { "IfNotPresent" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O1.1: the tag decides, a port is no tag, and `latest` moves even when pinned.
    #[test]
    fn moving_tags_are_always_pulled() {
        for image in ["nginx", "nginx:latest", "host:5000/a/b", "nginx:latest@sha256:aa", ""] {
            assert_eq!(pull_policy(image), "Always", "{image}");
        }
        for image in ["nginx:1", "host:5000/a/b:v1", "nginx@sha256:aa"] {
            assert_eq!(pull_policy(image), "IfNotPresent", "{image}");
        }
    }
}
