//! Parses the lines or frames of a watch into events.

use std::sync::Arc;

use bytes::Bytes;
use gantry_client::RequestError;
use gantry_formats::protobuf::find;
use gantry_json::Value;
use gantry_model::{ParseError, ResourceVersion, protobuf};

use super::wire_object::WireObject;
use crate::wire::{AnyWire, Decode as _, PartialMetadata};

/// The annotation of the bookmark after the last object of a streamed list.
const END_OF_LIST: &str = "k8s.io/initial-events-end";

pub(super) enum Line {
    /// The object was added or updated.
    Applied(WireObject),
    /// The object was deleted.
    Deleted(WireObject),
    /// Everything up to this version has been sent.
    Bookmark(ResourceVersion),
    /// As `Bookmark`, and the initial list is complete.
    EndOfList(ResourceVersion),
    /// An object that cannot be parsed, and why.
    Unreadable(ResourceVersion, String),
    /// The watch has ended with an error.
    Failed(RequestError),
}

type Decode = fn(&[u8]) -> gantry_json::Result<Arc<dyn AnyWire>>;

impl Line {
    pub(super) fn parse(line: &[u8], decode: Decode) -> Self {
        if let Some(event) = Event::split(line) {
            return Self::of(&event, decode);
        }
        let event: Value = gantry_json::from_slice(line).unwrap_or_default();
        match event["type"].as_str() {
            Some(kind) => {
                let object = event["object"].to_string();
                Self::of(&Event { kind: kind.as_bytes(), object: object.as_bytes() }, decode)
            }
            None => Self::Failed(RequestError::unreadable(200, "not an event")),
        }
    }

    fn of(event: &Event<'_>, decode: Decode) -> Self {
        let decoded = match event.kind {
            b"BOOKMARK" => PartialMetadata::decode(event.object).map(|bookmark| Self::bookmark(&bookmark)),
            b"ERROR" => return Self::failed(event.object),
            b"DELETED" => decode(event.object).map(WireObject::Decoded).map(Self::Deleted),
            b"ADDED" | b"MODIFIED" => decode(event.object).map(WireObject::Decoded).map(Self::Applied),
            _ => return Self::unreadable(event.object, "an event of unknown type"),
        };
        decoded.unwrap_or_else(|error| Self::unreadable(event.object, &error.to_string()))
    }

    /// Parses a frame of protobuf: the type of the event, and the object in an envelope.
    pub(super) fn parse_protobuf(frame: &Bytes) -> Self {
        Self::of_protobuf(frame).unwrap_or_else(|error| {
            Self::Failed(RequestError::unreadable(200, format!("not an event: {error}")))
        })
    }

    fn of_protobuf(frame: &Bytes) -> Result<Self, ParseError> {
        let kind = find(frame, 1)?.bytes();
        let object = protobuf::open(find(find(frame, 2)?.bytes(), 1)?.bytes())?;
        if kind == b"ERROR" {
            return Ok(Self::Failed(RequestError::of_protobuf_status(object)));
        }
        // Without a version the watch cannot be continued from here.
        let version = protobuf::version_of(object)?;
        Ok(match kind {
            b"BOOKMARK" => {
                let is_end =
                    protobuf::annotation_of(object, END_OF_LIST)?.is_some_and(|value| value == "true");
                if is_end { Self::EndOfList(version) } else { Self::Bookmark(version) }
            }
            b"DELETED" => Self::Deleted(WireObject::Protobuf(frame.slice_ref(object))),
            b"ADDED" | b"MODIFIED" => Self::Applied(WireObject::Protobuf(frame.slice_ref(object))),
            _ => Self::Unreadable(version, "an event of unknown type".to_owned()),
        })
    }

    fn bookmark(bookmark: &PartialMetadata) -> Self {
        let annotations = bookmark.meta().annotations.as_ref();
        let is_end = annotations.and_then(|all| all.get(END_OF_LIST)).is_some_and(|value| value == "true");
        if is_end { Self::EndOfList(bookmark.version()) } else { Self::Bookmark(bookmark.version()) }
    }

    fn failed(status: &[u8]) -> Self {
        let status: Value = gantry_json::from_slice(status).unwrap_or_default();
        let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or_default();
        Self::Failed(RequestError::of_status(code, status))
    }

    /// An object that cannot be parsed must not stop the others; one without a version ends the watch.
    fn unreadable(object: &[u8], why: &str) -> Self {
        let object: Value = gantry_json::from_slice(object).unwrap_or_default();
        let text = |field: &str| object["metadata"][field].as_str().map(str::to_owned);
        match text("resourceVersion") {
            Some(version) => {
                let (namespace, name) = (text("namespace"), text("name"));
                let key = format!("{}/{}", namespace.unwrap_or_default(), name.unwrap_or_default());
                Self::Unreadable(version.as_str().into(), format!("{key}: {why}"))
            }
            None => Self::Failed(RequestError::unreadable(200, format!("not an event: {why}"))),
        }
    }
}

/// An event whose object is not decoded yet.
struct Event<'a> {
    kind: &'a [u8],
    object: &'a [u8],
}

impl<'a> Event<'a> {
    /// Splits a line as API servers write it, without a parser: `{"type":"ADDED","object":{…}}`.
    fn split(line: &'a [u8]) -> Option<Self> {
        let event = line.trim_ascii().strip_prefix(br#"{"type":""#)?.strip_suffix(b"}")?;
        let end = event.iter().position(|byte| *byte == b'"')?;
        let (kind, object) = event.split_at(end);
        Some(Self { kind, object: object.strip_prefix(br#"","object":"#)? })
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::*;

    fn parse(line: &str) -> Line {
        Line::parse(line.as_bytes(), |json| Ok(Arc::new(Pod::decode(json)?)))
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
        let Line::Unreadable(version, why) = line else { panic!("not unreadable") };
        assert_eq!(version, "5".into());
        assert!(why.starts_with("n/a: "), "{why}");
    }

    #[test]
    fn an_event_of_unknown_type_changes_nothing() {
        let line = parse(r#"{"type":"SYNC","object":{"metadata":{"name":"a","resourceVersion":"5"}}}"#);
        assert!(matches!(line, Line::Unreadable(version, _) if version == "5".into()));
    }

    #[test]
    fn an_event_may_be_written_in_another_order() {
        let line =
            parse(r#"{ "object": {"metadata": {"name": "a", "resourceVersion": "5"}}, "type": "DELETED" }"#);
        assert!(matches!(line, Line::Deleted(pod) if pod.version() == "5".into()));
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
