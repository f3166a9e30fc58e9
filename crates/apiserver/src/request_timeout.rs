//! Request timeouts: the `timeout` parameter, up to the server's limit.

use std::time::Duration;

use gantry_formats::duration;
use http::Method;

use crate::error::ApiError;
use crate::request_info::RequestInfo;

/// The limit for writes.
const WRITE_MAX: Duration = Duration::from_secs(34);
/// The limit for all requests, including reading the body. It ends when the response starts, so watches may run longer.
const REQUEST_MAX: Duration = Duration::from_secs(60);

/// Returns the timeout of a request.
pub(crate) fn of(info: &RequestInfo) -> Result<Duration, ApiError> {
    let limit = if info.method == Method::GET { REQUEST_MAX } else { WRITE_MAX };
    match info.query.first("timeout").unwrap_or_default() {
        "" => Ok(limit),
        _ if info.query.flag("watch") => Ok(limit),
        text => match duration::parse(text) {
            Ok(nanos @ 1..) => Ok(Duration::from_nanos(nanos.unsigned_abs()).min(limit)),
            // Zero and negative values mean the default.
            Ok(_) => Ok(limit),
            Err(why) => {
                Err(ApiError::bad_request(format!("invalid timeout specified in the request URL - {why}")))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(method: Method, uri: &str) -> Result<Duration, String> {
        let request = http::Request::builder().method(method).uri(uri).body(()).unwrap();
        let (parts, ()) = request.into_parts();
        of(&RequestInfo::parse(parts)).map_err(|error| error.refusal().message)
    }

    /// A0.10: the shorter of parameter and limit is used.
    #[test]
    fn the_shorter_of_parameter_and_limit_is_used() {
        let get = |uri: &str| allowed(Method::GET, uri).unwrap().as_millis();
        assert_eq!(get("/api/v1/pods"), 60_000);
        assert_eq!(get("/api/v1/pods?timeout=32s"), 32_000);
        assert_eq!(get("/api/v1/pods?timeout=1h"), 60_000);
        assert_eq!(get("/api/v1/pods?timeout=0s"), 60_000);
        assert_eq!(get("/api/v1/pods?timeout=-5s"), 60_000);
        assert_eq!(get("/api/v1/pods?timeout="), 60_000);
        assert_eq!(get("/api/v1/pods?timeout=0.5s"), 500);
        assert_eq!(get("/api/v1/pods?timeout=1s500ms"), 1500);
        assert_eq!(allowed(Method::PUT, "/x?timeout=50s").unwrap(), WRITE_MAX);
    }

    /// A0.10: watches ignore the parameter; they have `timeoutSeconds`.
    #[test]
    fn a_watch_ignores_the_timeout() {
        assert_eq!(allowed(Method::GET, "/api/v1/pods?watch=true&timeout=abc").unwrap(), REQUEST_MAX);
        assert_eq!(allowed(Method::GET, "/api/v1/pods?timeoutSeconds=5").unwrap(), REQUEST_MAX);
    }

    /// A0.10: malformed durations are rejected with Go's messages.
    #[test]
    fn malformed_durations_are_refused() {
        let refused = |text: &str| allowed(Method::GET, &format!("/api?timeout={text}")).unwrap_err();
        let start = "invalid timeout specified in the request URL - ";
        assert_eq!(refused("abc"), format!("{start}time: invalid duration \"abc\""));
        assert_eq!(refused("5"), format!("{start}time: missing unit in duration \"5\""));
        assert_eq!(refused("5x"), format!("{start}time: unknown unit \"x\" in duration \"5x\""));
        assert_eq!(refused("-"), format!("{start}time: invalid duration \"-\""));
    }
}
