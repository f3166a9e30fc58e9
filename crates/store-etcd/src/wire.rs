//! The messages of etcd's v3 protocol that we send and read, with etcd's names and field numbers.
//!
//! Written by hand from the protocol's definition instead of generated, so that building needs no `protoc` and values
//! are `Bytes`, not copies; unused fields are omitted, which protobuf allows. See decision 0012.

use bytes::Bytes;
use gantry_grpc::messages;
use prost::Oneof;

messages! {
    pub(crate) ResponseHeader {
        uint64 cluster_id = 1;
        uint64 member_id = 2;
        int64 revision = 3;
    }

    pub(crate) KeyValue {
        bytes key = 1;
        int64 mod_revision = 3;
        /// Writes since the key was created; 1 is the creation.
        int64 version = 4;
        bytes value = 5;
    }

    pub(crate) RangeRequest {
        bytes key = 1;
        /// Empty for one key; a single zero byte for "to the end".
        bytes range_end = 2;
        int64 limit = 3;
        int64 revision = 4;
        bool keys_only = 8;
        int64 max_mod_revision = 11;
    }

    pub(crate) RangeResponse {
        message ResponseHeader header = 1;
        repeated message KeyValue kvs = 2;
        /// The number of keys in the range, whatever the limit.
        int64 count = 4;
    }

    pub(crate) PutRequest {
        bytes key = 1;
        bytes value = 2;
    }

    pub(crate) DeleteRangeRequest {
        bytes key = 1;
    }

    /// A condition `field(key) == number`; the comparison "equal" is number 0 and so needs no field.
    pub(crate) Compare {
        int32 target = 2;
        bytes key = 3;
        oneof Field field = (4, 6);
    }
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Field {
    #[prost(int64, tag = "4")]
    Version(i64),
    #[prost(int64, tag = "6")]
    ModRevision(i64),
}

messages! {
    pub(crate) RequestOp {
        oneof RequestKind kind = (1, 2, 3);
    }
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum RequestKind {
    #[prost(message, tag = "1")]
    Range(RangeRequest),
    #[prost(message, tag = "2")]
    Put(PutRequest),
    #[prost(message, tag = "3")]
    DeleteRange(DeleteRangeRequest),
}

messages! {
    pub(crate) ResponseOp {
        /// The responses to puts and deletes have nothing that we need.
        message RangeResponse range = 1;
    }

    pub(crate) TxnRequest {
        repeated message Compare compare = 1;
        repeated message RequestOp success = 2;
        repeated message RequestOp failure = 3;
    }

    pub(crate) TxnResponse {
        message ResponseHeader header = 1;
        bool succeeded = 2;
        repeated message ResponseOp responses = 3;
    }

    pub(crate) CompactionRequest {
        int64 revision = 1;
    }

    pub(crate) CompactionResponse {
        message ResponseHeader header = 1;
    }

    pub(crate) WatchRequest {
        oneof WatchRequestKind kind = (1, 3);
    }
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum WatchRequestKind {
    #[prost(message, tag = "1")]
    Create(WatchCreateRequest),
    #[prost(message, tag = "3")]
    Progress(WatchProgressRequest),
}

messages! {
    pub(crate) WatchCreateRequest {
        bytes key = 1;
        bytes range_end = 2;
        int64 start_revision = 3;
        bool progress_notify = 4;
        bool prev_kv = 6;
        bool fragment = 8;
    }

    pub(crate) WatchProgressRequest {}

    pub(crate) WatchResponse {
        message ResponseHeader header = 1;
        /// -1 is the response to a progress request.
        int64 watch_id = 2;
        bool created = 3;
        bool canceled = 4;
        int64 compact_revision = 5;
        string cancel_reason = 6;
        /// More events of this response follow in the next one.
        bool fragment = 7;
        repeated message WatchEvent events = 11;
    }

    pub(crate) WatchEvent {
        /// 0 is a put, 1 a delete.
        int32 kind = 1;
        message KeyValue kv = 2;
        message KeyValue prev_kv = 3;
    }

    pub(crate) AuthenticateRequest {
        string name = 1;
        string password = 2;
    }

    pub(crate) AuthenticateResponse {
        string token = 2;
    }

    pub(crate) StatusRequest {}

    pub(crate) StatusResponse {
        string version = 2;
    }
}

/// The number of [`Field::Version`] as a comparison's target.
const TARGET_VERSION: i32 = 0;
/// The number of [`Field::ModRevision`] as a comparison's target.
const TARGET_MOD: i32 = 2;
/// The kind of a [`WatchEvent`] that is a put.
pub(crate) const EVENT_PUT: i32 = 0;

impl Compare {
    /// The key was last written at this revision; 0 means it is absent.
    pub(crate) fn modified_at(key: Bytes, revision: i64) -> Self {
        Self { target: TARGET_MOD, key, field: Some(Field::ModRevision(revision)) }
    }

    /// The key was written this many times since its creation; 0 means it is absent.
    pub(crate) fn version_is(key: Bytes, version: i64) -> Self {
        Self { target: TARGET_VERSION, key, field: Some(Field::Version(version)) }
    }
}

impl RequestOp {
    pub(crate) fn get(key: Bytes) -> Self {
        Self { kind: Some(RequestKind::Range(RangeRequest { key, ..RangeRequest::default() })) }
    }

    pub(crate) fn put(key: Bytes, value: Bytes) -> Self {
        Self { kind: Some(RequestKind::Put(PutRequest { key, value })) }
    }

    pub(crate) fn delete(key: Bytes) -> Self {
        Self { kind: Some(RequestKind::DeleteRange(DeleteRangeRequest { key })) }
    }
}

impl ResponseOp {
    /// The result of a read of one key in a transaction.
    pub(crate) fn found(&self) -> Option<&KeyValue> {
        self.range.as_ref()?.kvs.first()
    }
}

impl TxnResponse {
    pub(crate) fn revision(&self) -> i64 {
        self.header.as_ref().map_or(0, |header| header.revision)
    }
}

impl RangeResponse {
    pub(crate) fn revision(&self) -> i64 {
        self.header.as_ref().map_or(0, |header| header.revision)
    }
}
