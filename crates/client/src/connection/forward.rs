//! Passes a request on to another server, and joins connections that were upgraded.

use std::error::Error;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Empty;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};

/// Sends a request without a body, as [`forward_with_body`] does.
pub async fn forward<S>(stream: S, request: Request<()>) -> Result<Response<Incoming>, hyper::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    forward_with_body(stream, request.map(|()| Empty::<Bytes>::new())).await
}

/// Sends a request over a new connection, and returns the response.
///
/// After `101 Switching Protocols`, the client whose request it is and the server are connected with each other; the
/// request must have the extensions of the client's request.
pub async fn forward_with_body<S, B>(
    stream: S,
    mut request: Request<B>,
) -> Result<Response<Incoming>, hyper::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let client = hyper::upgrade::on(&mut request);
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection.with_upgrades());
    let mut response = sender.send_request(request).await?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let server = hyper::upgrade::on(&mut response);
        tokio::spawn(async move {
            if let (Ok(client), Ok(server)) = tokio::join!(client, server) {
                // Either side may end it at any time.
                let _ = copy_bidirectional(&mut TokioIo::new(client), &mut TokioIo::new(server)).await;
            }
        });
    }
    Ok(response)
}
