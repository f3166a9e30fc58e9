//! Headers of proxied requests and responses: credentials of the client, and headers about one connection, are not passed on.

use http::header::{
    AUTHORIZATION, CONNECTION, HOST, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION,
    SEC_WEBSOCKET_PROTOCOL, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue};

use crate::request_info::{PeerAddress, RequestInfo};

/// Headers about one connection.
const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];
/// Headers with the other origins that may read a response: the API server sets them itself.
const CROSS_ORIGIN: [&str; 4] = [
    "access-control-allow-credentials",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
];
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// The prefix of a token as WebSocket protocol.
const TOKEN_PROTOCOL: &str = "base64url.bearer.authorization.k8s.io.";

/// The headers of a client without its credentials.
pub(crate) fn without_credentials(headers: &HeaderMap) -> HeaderMap {
    let is_identity = |name: &str| {
        name.starts_with("impersonate-")
            || name.starts_with("x-remote-extra-")
            || matches!(name, "x-remote-user" | "x-remote-uid" | "x-remote-group")
    };
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        if *name == SEC_WEBSOCKET_PROTOCOL {
            if let Some(value) = without_token(value) {
                kept.append(name.clone(), value);
            }
        } else if *name != AUTHORIZATION && !is_identity(name.as_str()) {
            kept.append(name.clone(), value.clone());
        }
    }
    kept
}

/// WebSocket protocols without a token; `None` if none remains.
fn without_token(protocols: &HeaderValue) -> Option<HeaderValue> {
    let text = protocols.to_str().ok()?;
    if !text.contains(TOKEN_PROTOCOL) {
        return Some(protocols.clone());
    }
    let rest: Vec<&str> =
        text.split(',').map(str::trim).filter(|name| !name.starts_with(TOKEN_PROTOCOL)).collect();
    HeaderValue::from_str(&rest.join(", ")).ok().filter(|rest| !rest.is_empty())
}

/// The headers of a proxied request.
pub(super) fn of_request(info: &RequestInfo) -> HeaderMap {
    let mut headers = without_credentials(&info.headers);
    if !info.is_upgrade() {
        let takes_trailers = headers.get_all(TE).iter().any(|value| value.as_bytes() == b"trailers");
        headers = without_hops(&headers);
        if takes_trailers {
            headers.insert(TE, HeaderValue::from_static("trailers"));
        }
    }
    if let Some(host) = HeaderValue::from_str(info.host()).ok().filter(|host| !host.is_empty()) {
        headers.insert(HOST, host);
    }
    if let Some(PeerAddress(address)) = info.extensions.get() {
        let earlier = headers.get_all(&FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
        let mut all: Vec<String> = earlier.map(str::to_owned).collect();
        all.push(address.to_canonical().to_string());
        if let Ok(all) = HeaderValue::from_str(&all.join(", ")) {
            headers.insert(FORWARDED_FOR, all);
        }
    }
    headers
}

/// The headers of a proxied response.
pub(super) fn of_response(headers: &HeaderMap) -> HeaderMap {
    let mut headers = without_hops(headers);
    for name in CROSS_ORIGIN {
        headers.remove(name);
    }
    headers
}

/// Removes headers about the connection, including those that `Connection` names.
fn without_hops(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> =
        named.flat_map(|value| value.split(',')).map(|name| name.trim().to_ascii_lowercase()).collect();
    let mut kept = headers.clone();
    for name in &HOP_BY_HOP {
        kept.remove(name);
    }
    for name in named.iter().filter(|name| !name.is_empty()) {
        kept.remove(name.as_str());
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_of_the_client_are_not_passed_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer x"),
            ("impersonate-user", "root"),
            ("x-remote-user", "root"),
            ("x-remote-extra-a", "b"),
            ("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.abc, chat"),
            ("cookie", "a=b"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let kept = without_credentials(&headers);
        let names: Vec<_> = kept.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["sec-websocket-protocol", "cookie"]);
        assert_eq!(kept["sec-websocket-protocol"], "chat");
    }

    #[test]
    fn headers_about_one_connection_are_not_passed_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in
            [("connection", "close, X-Hop"), ("x-hop", "1"), ("upgrade", "h2c"), ("x-kept", "1")]
        {
            headers.append(name, HeaderValue::from_static(value));
        }
        headers.append("access-control-allow-origin", HeaderValue::from_static("*"));
        let names: Vec<_> = of_response(&headers).keys().map(|name| name.as_str().to_owned()).collect();
        assert_eq!(names, ["x-kept"]);
    }
}
