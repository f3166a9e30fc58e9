//! Hostile headers, in otherwise valid requests.

use gantry_rng::Rng;

use super::objects::{self, JSON, collection};
use super::size;
use crate::case::{Case, Message, Piece, Script, Step, Transport};

pub(super) fn case(rng: &mut Rng, case: &mut Case) {
    for _ in 0..rng.between(1, 6) {
        let message = match rng.below(3) {
            0 => impersonating(rng),
            1 => negotiating(rng),
            _ => unusual(rng),
        };
        case.send(message);
    }
    if rng.one_in(3) {
        let pieces = vec![Piece::Bytes(ambiguous(rng)), Piece::Pause { millis: 20 }];
        case.steps.push(Step::Raw(Script::new(Transport::Http1, pieces)));
    }
}

fn plain(rng: &mut Rng) -> Message {
    let pods = collection("v1", "pods");
    match rng.below(3) {
        0 => Message::get(pods),
        1 => Message::new("POST", format!("{pods}?dryRun=All"))
            .with(JSON, objects::pod("h").to_string().into_bytes()),
        _ => Message::get("/apis"),
    }
}

fn value(rng: &mut Rng) -> Vec<u8> {
    match rng.below(10) {
        0 => "José".as_bytes().to_vec(),
        1 => b"\xff\xfe".to_vec(),
        2 => Vec::new(),
        3 => b"system:masters".to_vec(),
        4 => b"system:serviceaccount:kube-system:default".to_vec(),
        5 => vec![b'x'; size(rng, 1, 15_000)],
        6 => b"a, b ,c;d=\"e\"".to_vec(),
        7 => b"system:anonymous".to_vec(),
        8 => b"\x01tab\there".to_vec(),
        _ => {
            let count = rng.between(1, 30);
            rng.bytes(count).into_iter().filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)).collect()
        }
    }
}

fn impersonating(rng: &mut Rng) -> Message {
    let mut message = plain(rng);
    for _ in 0..size(rng, 1, 60) {
        let name = rng.pick(&[
            "Impersonate-User",
            "Impersonate-Group",
            "Impersonate-Uid",
            "Impersonate-Extra-scopes",
            "Impersonate-Extra-%2f%ff",
            "Impersonate-Extra-",
            "impersonate-anything",
            "IMPERSONATE-USER",
        ]);
        let value = value(rng);
        message = message.header(name, value);
    }
    message
}

fn negotiating(rng: &mut Rng) -> Message {
    let name = rng.pick(&[
        "accept",
        "accept-encoding",
        "content-type",
        "content-encoding",
        "user-agent",
        "if-none-match",
    ]);
    let long = rng.pick(&[
        "application/json;q=0.1,",
        "*/*;q=2,",
        "gzip;q=1,identity;q=0,",
        "text/plain;as=Table;v=v9;g=x,",
    ]);
    let value = match rng.below(3) {
        0 => value(rng),
        1 => long.repeat(size(rng, 1, 600)).into_bytes(),
        _ => rng
            .pick(&[
                "application/json;as=Table",
                "application/yaml;stream=watch",
                "gzip, gzip, br",
                "application/cbor",
                ";;;=",
            ])
            .into(),
    };
    plain(rng).header(name, value)
}

fn unusual(rng: &mut Rng) -> Message {
    let message = plain(rng);
    match rng.below(9) {
        0 => {
            (0..size(rng, 1, 300)).fold(message, |message, index| message.header(&format!("x-{index}"), "y"))
        }
        1 => message.header("x-long", vec![b'x'; size(rng, 1, 2 << 20)]),
        2 => {
            let token = value(rng);
            message.header("authorization", [b"Bearer ".as_slice(), &token].concat())
        }
        3 => message.header("authorization", "Basic YTpi"),
        4 => message.header("expect", "100-continue"),
        5 => message
            .header("connection", "upgrade")
            .header("upgrade", rng.pick(&["h2c", "websocket", "SPDY/3.1"])),
        6 => message.header("x-remote-user", "admin").header("x-remote-group", "system:masters"),
        7 => message.header("x-forwarded-for", value(rng)).header("forwarded", "for=unknown;host=a"),
        _ => message.header("audit-id", value(rng)).header("x-request-id", value(rng)),
    }
}

/// Returns bytes whose length, host or line ends two parsers might interpret differently.
fn ambiguous(rng: &mut Rng) -> Vec<u8> {
    let lines: &[&str] = rng.pick(&[
        &["Host: a", "Host: b"],
        &[],
        &["Host: a", "Content-Length: 5", "Content-Length: 6"],
        &["Host: a", "Content-Length: 5", "Transfer-Encoding: chunked"],
        &["Host: a", "Transfer-Encoding: gzip, chunked"],
        &["Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
        &["Host: a", "Transfer-Encoding: chunked, identity"],
        &["Host: a", "Content-Length: +5"],
        &["Host: a", "Content-Length: 18446744073709551616"],
        &["Host: a", "Content-Length: -1"],
        &["Host : a"],
        &["Host: a", " folded: b"],
        &["Host: a b", "X: \u{0}"],
        &["Host: a", "Expect: 100-continue", "Content-Length: 99999999999"],
        &["Host: a", "Trailer: Authorization", "Transfer-Encoding: chunked"],
    ]);
    let request = rng.pick(&[
        "POST /api/v1/namespaces HTTP/1.1",
        "GET /api HTTP/1.0",
        "GET /api HTTP/9.9",
        "GET  /api  HTTP/1.1",
        "G\u{0}T / HTTP/1.1",
        "CONNECT a:1 HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "GET http://other/api HTTP/1.1",
        "PRI * HTTP/2.0",
    ]);
    let end = rng.pick(&["\r\n", "\n", "\r"]);
    let head = [&[request], lines].concat().join(end);
    let body = rng.pick(&[
        "",
        "5\r\nhello\r\n0\r\n\r\n",
        "ffffffffffffffff\r\n",
        "0;a=b\r\nX: y\r\n\r\n",
        "GET /smuggled HTTP/1.1\r\n\r\n",
    ]);
    format!("{head}{end}{end}{body}").into_bytes()
}
