//! Hostile paths and queries: selectors, limits, versions and continue tokens.

use std::fmt::Write as _;

use gantry_rng::Rng;

use super::objects::{JSON, TABLE, collection};
use super::size;
use crate::case::{Case, Message};

pub(super) fn case(rng: &mut Rng, case: &mut Case) {
    for _ in 0..rng.between(2, 8) {
        let path = if rng.one_in(4) { path(rng) } else { collection("v1", "configmaps") };
        let query: Vec<String> = (0..rng.between(0, 3)).map(|_| parameter(rng)).collect();
        let method = rng.pick(&["GET", "GET", "GET", "DELETE", "POST", "HEAD", "OPTIONS"]);
        // Deleting a collection without a dry run would delete the object that the probe reads.
        let dry_run = if method == "DELETE" { "&dryRun=All" } else { "" };
        let mut message = Message::new(method, format!("{path}?{}{dry_run}", query.join("&")));
        if method == "POST" {
            message = message.with(JSON, br#"{"metadata":{"generateName":"q-"}}"#.to_vec());
            message.path.push_str("&dryRun=All");
        }
        case.send(message.header("accept", rng.pick(&[JSON, TABLE, "*/*"])));
    }
}

fn parameter(rng: &mut Rng) -> String {
    let name = rng.pick(&[
        "labelSelector",
        "labelSelector",
        "fieldSelector",
        "fieldSelector",
        "continue",
        "continue",
        "limit",
        "resourceVersion",
        "resourceVersionMatch",
        "timeoutSeconds",
        "timeout",
        "watch",
        "sendInitialEvents",
        "allowWatchBookmarks",
        "pretty",
        "fieldManager",
        "dryRun",
        "fieldValidation",
        "gracePeriodSeconds",
        "propagationPolicy",
        "includeObject",
    ]);
    let value = match name {
        "labelSelector" | "fieldSelector" => selector(rng),
        "continue" => continue_token(rng),
        _ => scalar(rng),
    };
    format!("{name}={}", escaped(value.as_bytes()))
}

fn selector(rng: &mut Rng) -> String {
    let count = size(rng, 1, 3000);
    match rng.below(8) {
        0 => vec!["a=b"; count].join(","),
        1 => format!("a in ({})", vec!["x"; count].join(",")),
        2 => (0..count).map(|index| format!("k{index} notin (a,b)")).collect::<Vec<_>>().join(","),
        3 => "(".repeat(count),
        4 => "!".repeat(count) + "a",
        5 => format!("a>{}", "9".repeat(count)),
        6 => format!("metadata.name={}", "\\".repeat(count)),
        _ => {
            let bytes = rng.bytes(40);
            String::from_utf8_lossy(&bytes).into_owned()
        }
    }
}

fn continue_token(rng: &mut Rng) -> String {
    let revision =
        rng.pick(&["-1", "0", "1", "9223372036854775807", "99999999999999999999", "\"1\"", "null", "1e3"]);
    let start = rng.pick(&["a\\u0000", "", "../../secrets/", "\\ud800", "zzzz", "/registry/"]);
    let text = match rng.below(6) {
        0..=2 => format!("{{\"v\":\"meta.k8s.io/v1\",\"rv\":{revision},\"start\":\"{start}\"}}"),
        3 => format!("{{\"v\":\"meta.k8s.io/v{}\"}}", rng.number()),
        4 => "[".repeat(size(rng, 1, 5000)),
        _ => {
            let bytes = rng.bytes(30);
            return String::from_utf8_lossy(&bytes).into_owned();
        }
    };
    base64(text.as_bytes())
}

fn scalar(rng: &mut Rng) -> String {
    match rng.below(10) {
        0 => "-1".to_owned(),
        1 => "99999999999999999999".to_owned(),
        2 => "1".to_owned(),
        3 => "true".to_owned(),
        4 => "9".repeat(size(rng, 1, 5000)),
        5 => "NotOlderThan".to_owned(),
        6 => "Exact".to_owned(),
        7 => "1h-5m0.0000001ns".to_owned(),
        8 => "All".to_owned(),
        _ => {
            let bytes = rng.bytes(8);
            String::from_utf8_lossy(&bytes).into_owned()
        }
    }
}

fn path(rng: &mut Rng) -> String {
    match rng.below(10) {
        0 => "/api/v1/namespaces/../../metrics".to_owned(),
        1 => format!("/api/v1/{}", "a/".repeat(size(rng, 1, 3000))),
        2 => format!("/api/v1/namespaces/{}/pods", "%2f".repeat(size(rng, 1, 1000))),
        3 => "/apis/apps/v1/namespaces/attack/deployments/%00/scale".to_owned(),
        4 => "//api//v1//pods".to_owned(),
        5 => format!("/api/v1/namespaces/attack/pods/{}", "x".repeat(size(rng, 1, 6000))),
        6 => rng
            .pick(&[
                "/openapi/v2",
                "/openapi/v3",
                "/metrics",
                "/version",
                "/apis",
                "/healthz/etcd",
                "/debug/pprof",
            ])
            .to_owned(),
        7 => "/api/v1/namespaces/attack/pods/a/log".to_owned(),
        8 => "/apis/%ff%fe/v1/x".to_owned(),
        _ => {
            let bytes = rng.bytes(20);
            format!("/{}", escaped(&bytes))
        }
    }
}

fn escaped(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'=' | b',') {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

/// Encodes as base64 for URLs, without padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number =
            (0..3).fold(0, |number, index| number << 8 | usize::from(chunk.get(index).copied().unwrap_or(0)));
        for digit in 0..=chunk.len() {
            text.push(char::from(DIGITS[number >> (18 - 6 * digit) & 63]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_encoded_as_kubernetes_encodes_them() {
        assert_eq!(base64(b"{\"v\":1}"), "eyJ2IjoxfQ");
        assert_eq!((base64(b"a"), base64(b"ab"), base64(b"abc")), ("YQ".into(), "YWI".into(), "YWJj".into()));
    }

    #[test]
    fn invalid_characters_of_a_query_are_escaped() {
        assert_eq!(escaped(b"a b\xff"), "a%20b%FF");
    }
}
