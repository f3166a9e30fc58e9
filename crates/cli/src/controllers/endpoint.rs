//! `/healthz` and `/metrics` of a process that has no API of its own.
//!
//! A process is healthy if it responds, whether it leads or not: waiting for the lease is normal operation.

use std::net::SocketAddr;

use gantry_runtime::{Metrics, Shutdown, render};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The maximum size of a request head.
const REQUEST_MAX: u64 = 8 << 10;

/// Binds the address, and returns a future that serves until shutdown.
pub(super) async fn serve(
    address: SocketAddr,
    metrics: Metrics,
    shutdown: Shutdown,
) -> Result<impl Future<Output = Result<(), String>> + Send + 'static, String> {
    let unusable = |error| {
        format!(
            "cannot use --bind-address {address}: {error}\nhint: choose another port, or 127.0.0.1:0 for any"
        )
    };
    let listener = TcpListener::bind(address).await.map_err(unusable)?;
    // Port 0 was replaced by a free one, which is logged.
    let address = listener.local_addr().map_err(unusable)?;
    tracing::info!(%address, "serving /healthz and /metrics");
    Ok(async move {
        while let Some(accepted) = shutdown.unless(listener.accept()).await {
            // Clients retry failed connections.
            let Ok((stream, _)) = accepted else { continue };
            let metrics = metrics.clone();
            tokio::spawn(async move { respond(stream, &metrics).await });
        }
        Ok(())
    })
}

/// Serves one request and closes the connection; requests are rare.
async fn respond(mut stream: TcpStream, metrics: &Metrics) -> std::io::Result<()> {
    let request = head(&mut stream).await?;
    let line = String::from_utf8_lossy(&request);
    let path = line.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default();
    let (status, body) = match path {
        "/healthz" | "/livez" | "/readyz" => ("200 OK", "ok".to_owned()),
        "/metrics" => ("200 OK", render(&metrics.snapshot())),
        _ => ("404 Not Found", "404 page not found\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// Reads a request up to the end of its head, which may arrive in any number of pieces.
async fn head(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut request = Vec::new();
    let mut limited = stream.take(REQUEST_MAX);
    while !request.ends_with(b"\r\n\r\n") {
        if limited.read_buf(&mut request).await? == 0 {
            break;
        }
    }
    Ok(request)
}
