//! The parts of objects that the load and the hollow kubelet use, in protobuf and in JSON: a server responds in the
//! form that it prefers. Decoding skips all other fields.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use prost::Message;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny};

/// The media type of protobuf.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// A type that can be decoded from either form.
pub(crate) trait Decode: Message + Default + DeserializeOwned {}
impl<M: Message + Default + DeserializeOwned> Decode for M {}

/// The form of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Protobuf,
    Json,
}

/// An event of a watch.
#[derive(Debug, PartialEq)]
pub(crate) enum WatchEvent<M> {
    /// An object was added or modified.
    Changed(M),
    /// An object was deleted.
    Deleted(M),
    /// Nothing has changed.
    Bookmark,
    /// The watch cannot continue, with the reason: the client was too slow, for example.
    Failed(String),
}

/// The first bytes of a protobuf message outside a watch.
const MAGIC: &[u8] = b"k8s\0";

#[derive(Clone, PartialEq, Message)]
struct Unknown {
    #[prost(message, optional, tag = "1")]
    type_meta: Option<TypeMeta>,
    #[prost(bytes = "bytes", tag = "2")]
    raw: Bytes,
}

#[derive(Clone, PartialEq, Message)]
struct TypeMeta {
    #[prost(string, tag = "1")]
    api_version: String,
    #[prost(string, tag = "2")]
    kind: String,
}

#[derive(Clone, PartialEq, Message)]
struct EventMessage {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(message, optional, tag = "2")]
    object: Option<RawExtension>,
}

#[derive(serde::Deserialize)]
struct EventLine<M> {
    #[serde(rename = "type")]
    kind: String,
    object: M,
}

#[derive(Clone, PartialEq, Message)]
struct RawExtension {
    #[prost(bytes = "bytes", tag = "1")]
    raw: Bytes,
}

/// Declares messages that are decoded from protobuf and from JSON: `(attributes of prost) name: type = number`.
macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident {
        $($(#[$attr:meta])* ($($prost:tt)*) $field:ident: $type:ty = $number:tt,)*
    })*) => {
        $($(#[$doc])*
        #[derive(Clone, PartialEq, Message, serde::Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub(crate) struct $name {
            $($(#[$attr])* #[prost($($prost)*, tag = $number)] pub(crate) $field: $type,)*
        })*
    };
}

objects! {
    Status {
        (string) message: String = 3,
    }

    PodList {
        (message, optional) metadata: Option<ListMeta> = 1,
        (message, repeated) items: Vec<Item> = 2,
    }

    /// An object without fields that are read.
    Item {}

    ListMeta {
        (int64, optional) remaining_item_count: Option<i64> = 4,
    }

    ObjectMeta {
        (string) name: String = 1,
        (string) namespace: String = 3,
        (string) uid: String = 5,
        (int64) generation: i64 = 7,
        /// Only its presence matters.
        #[serde(deserialize_with = "present")]
        (message, optional) deletion_timestamp: Option<Item> = 9,
        (btree_map = "string, string") labels: BTreeMap<String, String> = 11,
    }

    Pod {
        (message, required) metadata: ObjectMeta = 1,
        (message, required) spec: PodSpec = 2,
        (message, required) status: PodStatus = 3,
    }

    PodSpec {
        (message, repeated) containers: Vec<Container> = 2,
        (string) node_name: String = 10,
    }

    Container {
        (string) name: String = 1,
        (string) image: String = 2,
    }

    PodStatus {
        (string) phase: String = 1,
        (message, repeated) conditions: Vec<PodCondition> = 2,
    }

    PodCondition {
        #[serde(rename = "type")]
        (string) kind: String = 1,
        (string) status: String = 2,
    }

    Deployment {
        (message, required) metadata: ObjectMeta = 1,
        (message, required) spec: DeploymentSpec = 2,
        (message, required) status: DeploymentStatus = 3,
    }

    DeploymentSpec {
        (int32, optional) replicas: Option<i32> = 1,
        (message, optional) selector: Option<LabelSelector> = 2,
        (message, optional) template: Option<PodTemplate> = 3,
    }

    LabelSelector {
        (btree_map = "string, string") match_labels: BTreeMap<String, String> = 1,
    }

    PodTemplate {
        (message, required) metadata: ObjectMeta = 1,
        (message, required) spec: PodSpec = 2,
    }

    DeploymentStatus {
        (int64) observed_generation: i64 = 1,
        (int32) replicas: i32 = 2,
        (int32) updated_replicas: i32 = 3,
        (int32) available_replicas: i32 = 4,
        (int32) ready_replicas: i32 = 7,
    }

    Binding {
        (message, required) metadata: ObjectMeta = 1,
        (message, required) target: ObjectReference = 2,
    }

    ObjectReference {
        (string) kind: String = 1,
        (string) name: String = 3,
    }

    DeleteOptions {
        (int64, optional) grace_period_seconds: Option<i64> = 1,
        (message, optional) preconditions: Option<Preconditions> = 2,
    }

    Preconditions {
        (string, optional) uid: Option<String> = 1,
    }
}

/// Encodes a message as the body of a request.
pub(crate) fn encode(api_version: &str, kind: &str, message: &impl Message) -> Bytes {
    let type_meta = TypeMeta { api_version: api_version.to_owned(), kind: kind.to_owned() };
    let unknown = Unknown { type_meta: Some(type_meta), raw: message.encode_to_vec().into() };
    let mut bytes = Vec::with_capacity(MAGIC.len() + unknown.encoded_len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&unknown.encode_to_vec());
    bytes.into()
}

/// Decodes the body of a response.
pub(crate) fn decode<M: Decode>(body: &Bytes) -> Result<M, String> {
    if body.starts_with(MAGIC) {
        return decode_protobuf(body);
    }
    gantry_json::from_slice(body).map_err(|error| error.to_string())
}

fn decode_protobuf<M: Decode>(body: &Bytes) -> Result<M, String> {
    let unknown = body.starts_with(MAGIC).then(|| Unknown::decode(body.slice(MAGIC.len()..)));
    let unknown = unknown.ok_or("expected protobuf")?.map_err(|error| error.to_string())?;
    M::decode(unknown.raw).map_err(|error| error.to_string())
}

/// Reads any value but null as the presence of a message.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Item>, D::Error> {
    let value = Option::<IgnoredAny>::deserialize(deserializer)?;
    Ok(value.map(|_| Item {}))
}

impl<M: Decode> WatchEvent<M> {
    /// Takes the next event from the bytes of a watch; none if it is not complete.
    pub(crate) fn next(received: &mut BytesMut, form: Form) -> Result<Option<Self>, String> {
        match form {
            Form::Protobuf => Self::next_message(received),
            Form::Json => Self::next_line(received),
        }
    }

    /// An event is a protobuf message after its length.
    fn next_message(received: &mut BytesMut) -> Result<Option<Self>, String> {
        let Some((length, _)) = received.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        if received.len() < 4 + length {
            return Ok(None);
        }
        let frame = received.split_to(4 + length).freeze().slice(4..);
        let EventMessage { kind, object } = EventMessage::decode(frame).map_err(|error| error.to_string())?;
        let raw = object.unwrap_or_default().raw;
        let event = match kind.as_str() {
            "ADDED" | "MODIFIED" => Self::Changed(decode_protobuf(&raw)?),
            "DELETED" => Self::Deleted(decode_protobuf(&raw)?),
            "BOOKMARK" => Self::Bookmark,
            _ => Self::Failed(decode_protobuf::<Status>(&raw)?.message),
        };
        Ok(Some(event))
    }

    /// An event is a line of JSON.
    fn next_line(received: &mut BytesMut) -> Result<Option<Self>, String> {
        let Some(end) = received.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let line = received.split_to(end + 1);
        // Nearly all events are changes, so they are tried first: the object of a failure is of another kind and may
        // not decode.
        if let Ok(EventLine { kind, object }) = gantry_json::from_slice(&line) {
            match kind.as_str() {
                "ADDED" | "MODIFIED" => return Ok(Some(Self::Changed(object))),
                "DELETED" => return Ok(Some(Self::Deleted(object))),
                "BOOKMARK" => return Ok(Some(Self::Bookmark)),
                _ => {}
            }
        }
        let failure: EventLine<Status> = gantry_json::from_slice(&line).map_err(|error| error.to_string())?;
        Ok(Some(Self::Failed(failure.object.message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str) -> Pod {
        Pod { metadata: ObjectMeta { name: name.to_owned(), ..ObjectMeta::default() }, ..Pod::default() }
    }

    #[test]
    fn a_message_is_decoded_as_it_was_encoded() {
        let web = pod("web");
        assert_eq!(decode::<Pod>(&encode("v1", "Pod", &web)), Ok(web));
        assert!(decode::<Pod>(&Bytes::from_static(b"<html>")).is_err());
    }

    #[test]
    fn json_is_decoded_to_the_same() {
        let text = r#"{"kind": "Pod", "metadata": {"name": "web", "deletionTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": []}, "spec": {"nodeName": "n"}}"#;
        let decoded: Pod = decode(&Bytes::from_static(text.as_bytes())).unwrap();
        assert_eq!((decoded.metadata.name.as_str(), decoded.spec.node_name.as_str()), ("web", "n"));
        assert!(decoded.metadata.deletion_timestamp.is_some());
        assert!(pod("web").metadata.deletion_timestamp.is_none());
    }

    #[test]
    fn a_failed_watch_has_the_message() {
        let line = br#"{"type":"ERROR","object":{"kind":"Status","metadata":{},"status":"Failure","message":"too old"}}"#;
        let mut received = BytesMut::from(&line[..]);
        received.extend_from_slice(b"\n");
        let taken = WatchEvent::<Pod>::next(&mut received, Form::Json).unwrap();
        assert_eq!(taken, Some(WatchEvent::Failed("too old".to_owned())));
    }

    #[test]
    fn events_of_a_watch_are_decoded_when_they_are_complete() {
        let object = RawExtension { raw: encode("v1", "Pod", &pod("web")) };
        let event = EventMessage { kind: "ADDED".to_owned(), object: Some(object) };
        let mut frame = u32::try_from(event.encoded_len()).unwrap().to_be_bytes().to_vec();
        frame.extend_from_slice(&event.encode_to_vec());
        let line = b"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"web\"}}}\n".to_vec();
        for (bytes, form) in [(frame, Form::Protobuf), (line, Form::Json)] {
            let mut received = BytesMut::from(&bytes[..bytes.len() - 1]);
            assert_eq!(WatchEvent::<Pod>::next(&mut received, form), Ok(None));
            received.extend_from_slice(&bytes[bytes.len() - 1..]);
            let taken = WatchEvent::<Pod>::next(&mut received, form).unwrap().unwrap();
            assert_eq!(taken, WatchEvent::Changed(pod("web")));
            assert!(received.is_empty());
        }
    }
}
