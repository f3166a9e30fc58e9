//! Calls of gRPC methods and their messages ([`messages!`]), for the clients of etcd and of container runtimes.
//!
//! The exchange itself is deliberately not generic: generic code is compiled again for every method and in every crate
//! that uses it, and the code of a call is large. Messages are encoded before the exchange and decoded after it, by
//! functions that a [`Method`] points to; for a static method these are compiled in the crate that declares it.

mod bytes_codec;
mod messages;

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use prost::{DecodeError, Message};
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic::{Request, Status};

use bytes_codec::BytesCodec;

/// A method with request `Q` and response `A`.
#[derive(Debug)]
pub struct Method<Q, A> {
    path: &'static str,
    encode: fn(&Q) -> Vec<u8>,
    decode: fn(Bytes) -> Result<A, DecodeError>,
}

impl<Q: Message, A: Message + Default> Method<Q, A> {
    /// Returns the method with this path, such as `/runtime.v1.RuntimeService/Version`.
    pub const fn new(path: &'static str) -> Self {
        Self { path, encode: Q::encode_to_vec, decode: |bytes| A::decode(bytes) }
    }
}

impl<Q, A> Method<Q, A> {
    /// The path.
    pub fn path(&self) -> PathAndQuery {
        PathAndQuery::from_static(self.path)
    }
}

/// Calls a unary method. Fails with `DeadlineExceeded` after `within`; `None` means no timeout.
pub async fn unary<Q, A>(
    channel: Channel,
    method: &Method<Q, A>,
    request: Request<Q>,
    within: Option<Duration>,
) -> Result<A, Status> {
    let request = request.map(|message| Bytes::from((method.encode)(&message)));
    let response = exchange(channel, method.path(), request, within).await?;
    let undecodable =
        |error| Status::internal(format!("the response of {} cannot be decoded: {error}", method.path));
    (method.decode)(response).map_err(undecodable)
}

/// Returns a client without a limit on the size of responses: servers have their own, and long lists would exceed the default.
pub fn client(channel: Channel) -> Grpc<Channel> {
    Grpc::new(channel).max_decoding_message_size(usize::MAX)
}

/// Waits until the connection is ready.
pub async fn ready(client: &mut Grpc<Channel>) -> Result<(), Status> {
    client.ready().await.map_err(|error| Status::from_error(Box::new(error)))
}

/// Sends an encoded request, and returns the encoded response.
///
/// The future is boxed so that it is compiled here: the code of a future is compiled where it is polled.
fn exchange(
    channel: Channel,
    path: PathAndQuery,
    request: Request<Bytes>,
    within: Option<Duration>,
) -> Pin<Box<dyn Future<Output = Result<Bytes, Status>> + Send>> {
    Box::pin(async move {
        let mut client = client(channel);
        let call = async {
            ready(&mut client).await?;
            client.unary(request, path, BytesCodec).await
        };
        let response = match within {
            None => call.await,
            Some(within) => tokio::time::timeout(within, call).await.unwrap_or_else(|_elapsed| {
                Err(Status::deadline_exceeded(format!("no response within {within:?}")))
            }),
        };
        Ok(response?.into_inner())
    })
}
