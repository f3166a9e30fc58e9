//! One call of one method over one connection.

use std::time::Duration;

use futures_core::Stream;
use gantry_grpc::Method;
use prost::Message;
use tonic::metadata::AsciiMetadataValue;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::wire;

pub(crate) static RANGE: Method<wire::RangeRequest, wire::RangeResponse> =
    Method::new("/etcdserverpb.KV/Range");
pub(crate) static TXN: Method<wire::TxnRequest, wire::TxnResponse> = Method::new("/etcdserverpb.KV/Txn");
pub(crate) static COMPACT: Method<wire::CompactionRequest, wire::CompactionResponse> =
    Method::new("/etcdserverpb.KV/Compact");
pub(crate) static WATCH: Method<wire::WatchRequest, wire::WatchResponse> =
    Method::new("/etcdserverpb.Watch/Watch");
pub(crate) static AUTHENTICATE: Method<wire::AuthenticateRequest, wire::AuthenticateResponse> =
    Method::new("/etcdserverpb.Auth/Authenticate");
pub(crate) static STATUS: Method<wire::StatusRequest, wire::StatusResponse> =
    Method::new("/etcdserverpb.Maintenance/Status");

/// Calls a unary method. The deadline is sent to etcd and enforced here.
pub(crate) async fn unary<Q, A>(
    channel: Channel,
    method: &Method<Q, A>,
    body: Q,
    token: Option<&AsciiMetadataValue>,
    within: Duration,
) -> Result<A, Status> {
    let mut request = with_metadata(body, token);
    // A little later than our own timeout, which has a better message.
    request.set_timeout(within + Duration::from_millis(100));
    gantry_grpc::unary(channel, method, request, Some(within)).await
}

/// Calls a streaming method, and returns when the response begins.
pub(crate) async fn streaming<Q, A>(
    channel: Channel,
    method: &Method<Q, A>,
    requests: impl Stream<Item = Q> + Send + 'static,
    token: Option<&AsciiMetadataValue>,
    within: Duration,
) -> Result<Streaming<A>, Status>
where
    Q: Message + 'static,
    A: Message + Default + 'static,
{
    let request = with_metadata(requests, token);
    let mut client = gantry_grpc::client(channel);
    let call = async {
        gantry_grpc::ready(&mut client).await?;
        client.streaming(request, method.path(), ProstCodec::<Q, A>::default()).await
    };
    match tokio::time::timeout(within, call).await {
        Ok(response) => response.map(tonic::Response::into_inner),
        Err(_elapsed) => Err(Status::deadline_exceeded(format!("no response within {within:?}"))),
    }
}

fn with_metadata<T>(body: T, token: Option<&AsciiMetadataValue>) -> Request<T> {
    let mut request = Request::new(body);
    // A member that is cut off from its cluster then responds with an error at once instead of waiting.
    request.metadata_mut().insert("hasleader", AsciiMetadataValue::from_static("true"));
    if let Some(token) = token {
        request.metadata_mut().insert("token", token.clone());
    }
    request
}
