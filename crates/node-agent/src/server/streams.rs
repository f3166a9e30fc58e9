//! Connects clients with the streams of the container runtime.

use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::Incoming;
use tokio::net::TcpStream;

use super::Body;
use super::routes::text;

/// Passes a request on to the runtime's server at this URL, and connects both sides.
pub(super) async fn forward(url: &str, request: Request<Incoming>) -> Response<Body> {
    match connect(url, request).await {
        Ok(response) => response,
        Err(problem) => text(StatusCode::BAD_GATEWAY, &problem),
    }
}

async fn connect(url: &str, request: Request<Incoming>) -> Result<Response<Body>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("the container runtime cannot be reached: {error}");
    let target: Uri = url.parse().map_err(|error: http::uri::InvalidUri| failed(&error))?;
    let authority = target.authority().ok_or("the URL of the container runtime has no host")?.clone();
    let stream = TcpStream::connect(authority.as_str()).await.map_err(|error| failed(&error))?;
    let mut request = request.map(drop);
    let path = target.path_and_query().map_or("/", PathAndQuery::as_str);
    *request.uri_mut() = path.parse().map_err(|error: http::uri::InvalidUri| failed(&error))?;
    request.headers_mut().remove(header::AUTHORIZATION);
    let host = HeaderValue::from_str(authority.as_str()).map_err(|error| failed(&error))?;
    request.headers_mut().insert(header::HOST, host);
    let response = gantry_client::forward(stream, request).await.map_err(|error| failed(&error))?;
    let (parts, body) = response.into_parts();
    let body = if parts.status == StatusCode::SWITCHING_PROTOCOLS {
        Empty::new().boxed_unsync()
    } else {
        Full::new(body.collect().await.map_err(|error| failed(&error))?.to_bytes()).boxed_unsync()
    };
    Ok(Response::from_parts(parts, body))
}
