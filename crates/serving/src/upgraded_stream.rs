//! One-directional streams over an upgraded connection: the frames of a WebSocket after `101 Switching Protocols`.

use std::future::poll_fn;
use std::pin::Pin;

use gantry_apiserver::Body;
use gantry_formats::websocket::{ClientFrame, Opcode, frame, take_client_frame};
use http::{Response, StatusCode};
use http_body::Body as _;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::stop::Stop;

/// Takes the stream of a response that switches protocols, and sends it when the connection is upgraded.
///
/// Other responses that switch protocols have no stream: their connections were already joined with another server's.
pub(crate) fn detach(response: &mut Response<Body>, client: Option<OnUpgrade>, stop: &Stop) {
    let is_switched = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    if !is_switched || !matches!(response.body(), Body::Stream(_)) {
        return;
    }
    let body = std::mem::replace(response.body_mut(), Body::Whole(None));
    let mut stop = stop.clone();
    if let Some(client) = client {
        tokio::spawn(async move {
            tokio::select! {
                () = stop.wait() => {}
                () = send(client, body) => {}
            }
        });
    }
}

/// Sends the stream to its end, or until the client closes the connection.
async fn send(client: OnUpgrade, mut body: Body) {
    let Ok(upgraded) = client.await else { return };
    let (mut reader, mut writer) = tokio::io::split(TokioIo::new(upgraded));
    let mut received = Vec::new();
    loop {
        let next = poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        let out = tokio::select! {
            next = next => match next {
                Some(Ok(part)) => part.into_data().map(|data| data.to_vec()).unwrap_or_default(),
                Some(Err(never)) => match never {},
                None => break,
            },
            // Bytes that were read stay in the buffer if the other branch is first.
            read = reader.read_buf(&mut received) => match read {
                Ok(1..) => match answers(&mut received) {
                    Some(answers) => answers,
                    None => break,
                },
                Ok(_) | Err(_) => break,
            },
        };
        if writer.write_all(&out).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
    let _ = writer.shutdown().await;
}

/// The responses to the client's frames; `None` if it closes the connection.
fn answers(received: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut answers = Vec::new();
    while let Some(sent) = take_client_frame(received) {
        match sent {
            ClientFrame::Ping(content) => answers.extend(frame(Opcode::Pong, &content)),
            ClientFrame::Other => {}
            ClientFrame::Close => return None,
        }
    }
    Some(answers)
}
