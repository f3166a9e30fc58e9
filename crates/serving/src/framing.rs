//! Rejects HTTP/1 requests that are ambiguous: without a host or with several, and with transfer codings other than
//! `chunked`. Two servers in a row could understand such a request differently. Messages are Go's.

use bytes::Bytes;
use gantry_apiserver::Body;
use http::header::{CONNECTION, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, Response, StatusCode, Version};

/// Returns the response to a request with such a head.
pub(crate) fn rejection(version: Version, headers: &HeaderMap) -> Option<Response<Body>> {
    if version == Version::HTTP_2 {
        return None;
    }
    let (status, message) = wrong(version, headers)?;
    let mut response = Response::new(Body::Whole(Some(Bytes::from_static(message.as_bytes()))));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    Some(response)
}

fn wrong(version: Version, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if version == Version::HTTP_11 => {
            return Some((StatusCode::BAD_REQUEST, "400 Bad Request: missing required Host header"));
        }
        (Some(_), Some(_)) => return Some((StatusCode::BAD_REQUEST, "400 Bad Request")),
        (Some(host), None) if !host.as_bytes().iter().all(|byte| is_in_host(*byte)) => {
            return Some((StatusCode::BAD_REQUEST, "400 Bad Request: malformed Host header"));
        }
        _ => {}
    }
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let is_supported = match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(only), None) => only.as_bytes().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    };
    // HTTP/1.0 has no transfer codings.
    let is_read = version == Version::HTTP_11;
    (is_read && !is_supported).then_some((StatusCode::NOT_IMPLEMENTED, "Unsupported transfer encoding"))
}

/// Whether a byte may be in a `Host` header.
fn is_in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!$%&'()*+,-.:;=[]_~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use http::HeaderName;

    use super::*;

    fn status(version: Version, sent: &[(HeaderName, &'static str)]) -> Option<u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(name, HeaderValue::from_static(value));
        }
        rejection(version, &headers).map(|response| response.status().as_u16())
    }

    /// The status codes are those of kube-apiserver 1.37.
    #[test]
    fn a_request_has_one_host() {
        let (old, new) = (Version::HTTP_10, Version::HTTP_11);
        assert_eq!(status(new, &[(HOST, "localhost:6443")]), None);
        assert_eq!(status(new, &[(HOST, "[::1]:6443")]), None);
        assert_eq!(status(new, &[(HOST, "")]), None);
        assert_eq!(status(new, &[]), Some(400));
        assert_eq!(status(old, &[]), None);
        assert_eq!(status(Version::HTTP_2, &[]), None);
        assert_eq!(status(new, &[(HOST, "a"), (HOST, "a")]), Some(400));
        assert_eq!(status(new, &[(HOST, "a b")]), Some(400));
        assert_eq!(status(new, &[(HOST, "a/b?")]), Some(400));
    }

    #[test]
    fn chunked_is_the_only_transfer_coding() {
        let host = (HOST, "a");
        let coded = |coding| (TRANSFER_ENCODING, coding);
        assert_eq!(status(Version::HTTP_11, &[host.clone(), coded("Chunked")]), None);
        assert_eq!(status(Version::HTTP_11, &[host.clone(), coded("gzip, chunked")]), Some(501));
        assert_eq!(status(Version::HTTP_11, &[host.clone(), coded("chunked, chunked")]), Some(501));
        assert_eq!(status(Version::HTTP_11, &[host, coded("chunked"), coded("chunked")]), Some(501));
    }
}
