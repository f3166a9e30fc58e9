//! One call of one method over one connection.

use std::marker::PhantomData;
use std::time::Duration;

use futures_core::Stream;
use http::uri::PathAndQuery;
use prost::Message;
use tonic::client::Grpc;
use tonic::metadata::AsciiMetadataValue;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::wire;

/// A method with request `Q` and response `A`.
pub(crate) struct Method<Q, A> {
    path: &'static str,
    types: PhantomData<fn(Q) -> A>,
}

impl<Q, A> Method<Q, A> {
    const fn new(path: &'static str) -> Self {
        Self { path, types: PhantomData }
    }
}

impl<Q, A> Clone for Method<Q, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q, A> Copy for Method<Q, A> {}

pub(crate) const RANGE: Method<wire::RangeRequest, wire::RangeResponse> =
    Method::new("/etcdserverpb.KV/Range");
pub(crate) const TXN: Method<wire::TxnRequest, wire::TxnResponse> = Method::new("/etcdserverpb.KV/Txn");
pub(crate) const COMPACT: Method<wire::CompactionRequest, wire::CompactionResponse> =
    Method::new("/etcdserverpb.KV/Compact");
pub(crate) const WATCH: Method<wire::WatchRequest, wire::WatchResponse> =
    Method::new("/etcdserverpb.Watch/Watch");
pub(crate) const AUTHENTICATE: Method<wire::AuthenticateRequest, wire::AuthenticateResponse> =
    Method::new("/etcdserverpb.Auth/Authenticate");
pub(crate) const STATUS: Method<wire::StatusRequest, wire::StatusResponse> =
    Method::new("/etcdserverpb.Maintenance/Status");

/// Calls a unary method. The deadline is sent to etcd and enforced here.
pub(crate) async fn unary<Q, A>(
    channel: Channel,
    method: Method<Q, A>,
    body: Q,
    token: Option<&AsciiMetadataValue>,
    within: Duration,
) -> Result<A, Status>
where
    Q: Message + 'static,
    A: Message + Default + 'static,
{
    let mut request = with_metadata(body, token);
    // A little later than our own timeout, which has a better message.
    request.set_timeout(within + Duration::from_millis(100));
    let mut grpc = prepared(channel);
    let call = async {
        ready(&mut grpc).await?;
        grpc.unary(request, PathAndQuery::from_static(method.path), ProstCodec::<Q, A>::default()).await
    };
    match tokio::time::timeout(within, call).await {
        Ok(answer) => answer.map(tonic::Response::into_inner),
        Err(_elapsed) => Err(Status::deadline_exceeded(format!("no answer within {within:?}"))),
    }
}

/// Calls a streaming method, and returns when the response begins.
pub(crate) async fn streaming<Q, A>(
    channel: Channel,
    method: Method<Q, A>,
    requests: impl Stream<Item = Q> + Send + 'static,
    token: Option<&AsciiMetadataValue>,
    within: Duration,
) -> Result<Streaming<A>, Status>
where
    Q: Message + 'static,
    A: Message + Default + 'static,
{
    let request = with_metadata(requests, token);
    let mut grpc = prepared(channel);
    let call = async {
        ready(&mut grpc).await?;
        grpc.streaming(request, PathAndQuery::from_static(method.path), ProstCodec::<Q, A>::default()).await
    };
    match tokio::time::timeout(within, call).await {
        Ok(answer) => answer.map(tonic::Response::into_inner),
        Err(_elapsed) => Err(Status::deadline_exceeded(format!("no answer within {within:?}"))),
    }
}

/// etcd has its own limits; a limit here would only make large lists unreadable.
fn prepared(channel: Channel) -> Grpc<Channel> {
    Grpc::new(channel).max_decoding_message_size(usize::MAX)
}

async fn ready(grpc: &mut Grpc<Channel>) -> Result<(), Status> {
    grpc.ready().await.map_err(|error| Status::from_error(Box::new(error)))
}

fn with_metadata<T>(body: T, token: Option<&AsciiMetadataValue>) -> Request<T> {
    let mut request = Request::new(body);
    // A member that is cut off from its cluster then says so at once instead of letting us wait.
    request.metadata_mut().insert("hasleader", AsciiMetadataValue::from_static("true"));
    if let Some(token) = token {
        request.metadata_mut().insert("token", token.clone());
    }
    request
}
