//! The lines of a watch: bytes in, events out.

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt as _};
use gantry_decide::gc::Resource;
use gantry_model::ResourceVersion;
use kube::core::WatchEvent;
use serde_json::Value;

use super::cached::Cached;
use crate::failure::Failure;

/// The annotation of the bookmark after the last object of a streamed list.
const END_OF_LIST: &str = "k8s.io/initial-events-end";

#[derive(Debug)]
pub(super) enum Line<T> {
    /// The object was added or updated.
    Applied(T),
    /// The object was deleted.
    Deleted(T),
    /// Everything up to this version has been sent.
    Bookmark(ResourceVersion),
    /// The same, and the initial list is complete.
    EndOfList(ResourceVersion),
    /// An object that cannot be parsed, and why.
    Unreadable(ResourceVersion, String),
    /// The watch has ended with an error.
    Failed(Failure),
}

/// Splits a stream of bytes into lines.
pub(super) struct Lines<S> {
    stream: S,
    buffer: BytesMut,
}

impl<S: Stream<Item = Result<Bytes, Failure>> + Unpin> Lines<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, buffer: BytesMut::new() }
    }

    /// The next line; `None` at the end. An incomplete last line is dropped: it will be sent again.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, Failure>> {
        let mut looked_at = 0;
        loop {
            if let Some(end) = self.buffer[looked_at..].iter().position(|byte| *byte == b'\n') {
                return Some(Ok(self.buffer.split_to(looked_at + end + 1).freeze()));
            }
            looked_at = self.buffer.len();
            match self.stream.next().await? {
                Ok(bytes) => self.buffer.extend_from_slice(&bytes),
                Err(failure) => return Some(Err(failure)),
            }
        }
    }
}

impl<T: Cached> Line<T> {
    pub(super) fn parse(resource: &Resource, line: &[u8]) -> Self {
        match serde_json::from_slice::<WatchEvent<T::Wire>>(line) {
            Ok(WatchEvent::Added(wire) | WatchEvent::Modified(wire)) => match T::parse(resource, wire) {
                Ok(object) => Self::Applied(object),
                Err(error) => Self::unreadable(line, &error.to_string()),
            },
            Ok(WatchEvent::Deleted(wire)) => match T::parse(resource, wire) {
                Ok(object) => Self::Deleted(object),
                Err(error) => Self::unreadable(line, &error.to_string()),
            },
            Ok(WatchEvent::Bookmark(bookmark)) => {
                let version = bookmark.metadata.resource_version.into();
                let is_end =
                    bookmark.metadata.annotations.get(END_OF_LIST).is_some_and(|value| value == "true");
                if is_end { Self::EndOfList(version) } else { Self::Bookmark(version) }
            }
            Ok(WatchEvent::Error(status)) => Self::Failed(Failure::of_status(status.code, &status)),
            Err(error) => Self::unreadable(line, &error.to_string()),
        }
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
            None => Self::Failed(Failure::unreadable(200, format!("not an event: {why}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use gantry_model::Pod;

    use super::*;
    use crate::informer::Typed as _;

    fn parse(line: &str) -> Line<Pod> {
        Line::parse(&Pod::resource(), line.as_bytes())
    }

    #[tokio::test]
    async fn lines_are_put_together_however_they_arrive() {
        let parts = ["{\"a\"", ":1}\n{\"b\":2}\n{\"c", "\":3}\n", "{\"cut"];
        let stream = futures::stream::iter(parts.map(|part| Ok(Bytes::from(part))));
        let mut lines = Lines::new(stream);
        for want in ["{\"a\":1}\n", "{\"b\":2}\n", "{\"c\":3}\n"] {
            assert_eq!(lines.next().await.unwrap().unwrap(), want);
        }
        assert!(lines.next().await.is_none(), "half a line is no line");
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
        assert!(matches!(line, Line::Failed(failure) if failure.is_gone()));
        assert!(matches!(parse("<html>"), Line::Failed(failure) if !failure.is_gone()));
    }
}
