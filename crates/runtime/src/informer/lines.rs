//! The events of a watch: lines in, events out.

use gantry_client::RequestError;
use gantry_model::ResourceVersion;
use kube::core::WatchEvent;
use serde_json::Value;

use super::cached::Wire;

/// The annotation of the bookmark after the last object of a streamed list.
const END_OF_LIST: &str = "k8s.io/initial-events-end";

#[derive(Debug)]
pub(super) enum Line<W> {
    /// The object was added or updated.
    Applied(W),
    /// The object was deleted.
    Deleted(W),
    /// Everything up to this version has been sent.
    Bookmark(ResourceVersion),
    /// The same, and the initial list is complete.
    EndOfList(ResourceVersion),
    /// An object that cannot be parsed, and why.
    Unreadable(ResourceVersion, String),
    /// The watch has ended with an error.
    Failed(RequestError),
}

impl<W: Wire> Line<W> {
    pub(super) fn parse(line: &[u8]) -> Self {
        match serde_json::from_slice::<WatchEvent<W>>(line) {
            Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)) => Self::Applied(object),
            Ok(WatchEvent::Deleted(object)) => Self::Deleted(object),
            Ok(WatchEvent::Bookmark(bookmark)) => {
                let version = bookmark.metadata.resource_version.into();
                let is_end =
                    bookmark.metadata.annotations.get(END_OF_LIST).is_some_and(|value| value == "true");
                if is_end { Self::EndOfList(version) } else { Self::Bookmark(version) }
            }
            Ok(WatchEvent::Error(status)) => Self::failed(line, status.code),
            Err(error) => Self::unreadable(line, &error.to_string()),
        }
    }

    fn failed(line: &[u8], code: u16) -> Self {
        let mut event: Value = serde_json::from_slice(line).unwrap_or_default();
        Self::Failed(RequestError::of_status(code, event["object"].take()))
    }

    /// An object that cannot be parsed must not stop the others; a line that is not an event ends the watch.
    fn unreadable(line: &[u8], why: &str) -> Self {
        let event: Value = serde_json::from_slice(line).unwrap_or_default();
        match event["object"]["metadata"]["resourceVersion"].as_str() {
            Some(version) => {
                let meta = &event["object"]["metadata"];
                let text = |field: &str| meta[field].as_str().unwrap_or_default().to_owned();
                Self::Unreadable(version.into(), format!("{}/{}: {why}", text("namespace"), text("name")))
            }
            None => Self::Failed(RequestError::unreadable(200, format!("not an event: {why}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::*;

    fn parse(line: &str) -> Line<Pod> {
        Line::parse(line.as_bytes())
    }

    /// A4.13, A4.15: bookmarks, and the one that ends the list.
    #[test]
    fn a_bookmark_may_end_the_list() {
        let bookmark = |annotations: &str| {
            let object = format!(
                r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"resourceVersion":"9"{annotations}}}}}"#
            );
            parse(&format!(r#"{{"type":"BOOKMARK","object":{object}}}"#))
        };
        assert!(matches!(bookmark(""), Line::Bookmark(version) if version == "9".into()));
        let end = bookmark(r#","annotations":{"k8s.io/initial-events-end":"true"}"#);
        assert!(matches!(end, Line::EndOfList(version) if version == "9".into()));
    }

    #[test]
    fn one_broken_object_does_not_end_the_watch() {
        let object =
            r#"{"metadata":{"name":"a","namespace":"n","resourceVersion":"5"},"spec":{"containers":3}}"#;
        let line = parse(&format!(r#"{{"type":"ADDED","object":{object}}}"#));
        let Line::Unreadable(version, why) = line else { panic!("{line:?}") };
        assert_eq!(version, "5".into());
        assert!(why.starts_with("n/a: "), "{why}");
    }

    #[test]
    fn an_error_carries_its_code() {
        let line = parse(
            r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"old"}}"#,
        );
        assert!(matches!(line, Line::Failed(failure) if failure.is_expired()));
        assert!(matches!(parse("<html>"), Line::Failed(failure) if !failure.is_expired()));
    }
}
