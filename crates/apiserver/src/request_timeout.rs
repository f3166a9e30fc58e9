//! Request timeouts: the `timeout` parameter, up to the server's limit.

use std::time::Duration;

use http::Method;

use crate::error::ApiError;
use crate::request_info::RequestInfo;

/// The limit for writes.
const WRITE_MAX: Duration = Duration::from_secs(34);
/// The limit for all requests, including reading the body. It ends when the response starts, so watches may run longer.
const REQUEST_MAX: Duration = Duration::from_secs(60);

/// Returns the timeout of a request.
pub(crate) fn of(info: &RequestInfo<'_>) -> Result<Duration, ApiError> {
    let limit = if *info.method == Method::GET { REQUEST_MAX } else { WRITE_MAX };
    match info.query.first("timeout").unwrap_or_default() {
        "" => Ok(limit),
        _ if info.query.flag("watch") => Ok(limit),
        text => match duration(text) {
            // Zero and negative values mean the default.
            Ok(requested) if requested.is_zero() => Ok(limit),
            Ok(requested) => Ok(requested.min(limit)),
            Err(why) => {
                Err(ApiError::bad_request(format!("invalid timeout specified in the request URL - {why}")))
            }
        },
    }
}

/// Parses a duration in Go's format, such as `1m30s`; negative ones are zero.
fn duration(text: &str) -> Result<Duration, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut seconds = 0.0_f64;
    while !rest.is_empty() {
        let digits = rest.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let length = after.find(|sign: char| sign.is_ascii_digit() || sign == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(length);
        seconds += number * seconds_in(unit, text)?;
        rest = after;
    }
    Ok(Duration::try_from_secs_f64(if negative { 0.0 } else { seconds }).unwrap_or(Duration::MAX))
}

fn seconds_in(unit: &str, text: &str) -> Result<f64, String> {
    match unit {
        "ns" => Ok(1e-9),
        "us" | "µs" | "μs" => Ok(1e-6),
        "ms" => Ok(1e-3),
        "s" => Ok(1.0),
        "m" => Ok(60.0),
        "h" => Ok(3600.0),
        "" => Err(format!("time: missing unit in duration {text:?}")),
        unit => Err(format!("time: unknown unit {unit:?} in duration {text:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(method: Method, uri: &str) -> Result<Duration, String> {
        let request = http::Request::builder().method(method).uri(uri).body(()).unwrap();
        let (parts, ()) = request.into_parts();
        of(&RequestInfo::parse(&parts, parts.uri.path())).map_err(|error| error.refusal().message)
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

    /// A0.10: watches ignore it; they have `timeoutSeconds`.
    #[test]
    fn a_watch_ignores_it() {
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
