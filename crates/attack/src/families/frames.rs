//! Connections that misuse TLS, HTTP/1 or HTTP/2 itself.

use gantry_rng::Rng;

use super::objects::{JSON, collection};
use super::size;
use crate::case::{Case, Message, Piece, Script, Step, Transport};
use crate::http2::{
    CONTINUATION, DATA, END_HEADERS, HEADERS, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE, encode_headers,
    encode_settings, frame, preface,
};

/// The identifier of the setting for the initial window.
const INITIAL_WINDOW: u16 = 4;

pub(super) fn case(rng: &mut Rng, case: &mut Case) {
    let mut script = match rng.below(14) {
        0 => slow_head(rng),
        1 => slow_body(rng),
        2 => half_open_tls(rng),
        3 => pipelined(rng),
        4 => rapid_reset(rng),
        5 => many_streams(rng),
        6 => flood_of(rng, &frame(PING, 0, 0, &[7; 8])),
        7 => flood_of(rng, &frame(SETTINGS, 0, 0, &encode_settings(&[(INITIAL_WINDOW, 65_535)]))),
        8 => continuations(rng),
        9 => large_table(rng),
        10 => bad_windows(rng),
        11 => random_frames(rng),
        12 => half_closed(rng),
        _ => garbage(rng),
    };
    script.connections = if rng.one_in(4) { rng.between(2, 40) } else { 1 };
    case.steps.push(Step::Raw(script));
}

fn slow_head(rng: &mut Rng) -> Script {
    let mut pieces = vec![Piece::Bytes(b"GET /api HTTP/1.1\r\nhost: a\r\n".to_vec())];
    for index in 0..rng.between(3, 20) {
        pieces.push(Piece::Pause { millis: 100 });
        pieces.push(Piece::Bytes(format!("x-{index}: y\r\n").into_bytes()));
    }
    Script { hold_millis: 500, ..Script::new(Transport::Http1, pieces) }
}

fn slow_body(rng: &mut Rng) -> Script {
    let message = Message::new("POST", collection("v1", "configmaps"))
        .with(JSON, b"{".to_vec())
        .header("content-length", rng.pick(&["3000000", "9000000000", "100"]));
    let message = if rng.one_in(2) { message } else { message.anonymous() };
    let mut pieces = vec![Piece::Message(message)];
    for _ in 0..rng.between(3, 20) {
        pieces.extend([Piece::Pause { millis: 100 }, Piece::Bytes(b" ".to_vec())]);
    }
    Script::new(Transport::Http1, pieces)
}

fn half_open_tls(rng: &mut Rng) -> Script {
    // A handshake record that is shorter than its length, or invalid.
    let mut bytes = rng
        .pick(&[
            &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
            b"\x16\x03\x01",
            b"\x80\x2e\x01\x00\x02",
            b"GET / HTTP/1.1\r\n\r\n",
            b"",
        ])
        .to_vec();
    let count = size(rng, 1, 600);
    bytes.extend(rng.bytes(count));
    Script { hold_millis: size_millis(rng), ..Script::new(Transport::Tcp, vec![Piece::Bytes(bytes)]) }
}

fn pipelined(rng: &mut Rng) -> Script {
    let message = Message::get(rng.pick(&["/api/v1/namespaces", "/openapi/v2", "/apis"]));
    let pieces = vec![Piece::Message(message); rng.between(10, 500)];
    Script { is_read: rng.one_in(2), hold_millis: 500, ..Script::new(Transport::Http1, pieces) }
}

fn start(settings: &[(u16, u32)]) -> Vec<Piece> {
    vec![Piece::Bytes(preface(settings))]
}

/// Returns the identifiers of a client's streams.
fn streams(count: usize) -> impl Iterator<Item = u32> {
    (0..u32::try_from(count).unwrap_or(0)).map(|index| 2 * index + 1)
}

fn request(rng: &mut Rng, stream: u32) -> Piece {
    let path = rng.pick(&[
        "/api/v1/namespaces",
        "/openapi/v2",
        "/api/v1/namespaces/attack/configmaps?watch=true",
        "/apis",
    ]);
    Piece::Headers { stream, method: "GET", path: path.to_owned(), ends: true }
}

fn rapid_reset(rng: &mut Rng) -> Script {
    let mut pieces = start(&[]);
    for stream in streams(size(rng, 10, 5000)) {
        pieces.push(request(rng, stream));
        pieces.push(Piece::Bytes(frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])));
    }
    Script::new(Transport::Http2, pieces)
}

fn many_streams(rng: &mut Rng) -> Script {
    let mut pieces = start(&[(INITIAL_WINDOW, rng.pick(&[0, 1, 65_535]))]);
    for stream in streams(rng.between(10, 1500)) {
        let ends = rng.percent(90);
        pieces.push(match request(rng, stream) {
            Piece::Headers { stream, path, .. } => Piece::Headers { stream, method: "GET", path, ends },
            other => other,
        });
    }
    Script { is_read: rng.one_in(2), hold_millis: size_millis(rng), ..Script::new(Transport::Http2, pieces) }
}

fn flood_of(rng: &mut Rng, frame: &[u8]) -> Script {
    let mut pieces = start(&[]);
    let many = frame.repeat(100);
    pieces.extend(vec![Piece::Bytes(many); rng.between(10, 300)]);
    // Every frame requires a response; unread ones accumulate in some buffer.
    Script { is_read: rng.one_in(2), hold_millis: 500, ..Script::new(Transport::Http2, pieces) }
}

fn continuations(rng: &mut Rng) -> Script {
    let mut pieces = start(&[]);
    pieces.push(Piece::Bytes(frame(HEADERS, 0, 1, &encode_headers(&[("x", "y")]))));
    let payload = if rng.one_in(2) { encode_headers(&[("x", &"y".repeat(8000))]) } else { Vec::new() };
    pieces.extend(vec![Piece::Bytes(frame(CONTINUATION, 0, 1, &payload)); size(rng, 10, 3000)]);
    Script::new(Transport::Http2, pieces)
}

/// Puts one large header into the table and refers to it many times.
fn large_table(rng: &mut Rng) -> Script {
    let mut pieces = start(&[]);
    let mut block = vec![0x40];
    block.extend(&encode_headers(&[("x", &"y".repeat(3000))])[1..]);
    block.extend(vec![0x80 | 0x3e; rng.between(100, 12_000)]);
    for stream in streams(rng.between(1, 50)) {
        pieces.push(Piece::Bytes(frame(HEADERS, END_HEADERS | 1, stream, &block)));
    }
    Script::new(Transport::Http2, pieces)
}

fn bad_windows(rng: &mut Rng) -> Script {
    let mut pieces = start(&[(INITIAL_WINDOW, rng.pick(&[0, 0x7fff_ffff, 0xffff_ffff]))]);
    for stream in streams(20) {
        pieces.push(request(rng, stream));
        let increment: u32 = rng.pick(&[0, 1, 0x7fff_ffff]);
        let target = rng.pick(&[0, stream]);
        pieces.push(Piece::Bytes(frame(WINDOW_UPDATE, 0, target, &increment.to_be_bytes())));
    }
    Script::new(Transport::Http2, pieces)
}

fn random_frames(rng: &mut Rng) -> Script {
    let mut pieces = start(&[]);
    for _ in 0..rng.between(1, 60) {
        if rng.one_in(3) {
            let stream = u32::try_from(rng.below(9)).unwrap_or(0);
            pieces.push(request(rng, stream));
            continue;
        }
        let [kind, flags] = [rng.bytes(1)[0] % 12, rng.bytes(1)[0]];
        let count = size(rng, 1, 17_000);
        let payload = rng.bytes(count);
        pieces.push(Piece::Bytes(frame(kind, flags, u32::try_from(rng.below(9)).unwrap_or(0), &payload)));
    }
    Script::new(Transport::Http2, pieces)
}

/// Opens streams with bodies that never end.
fn half_closed(rng: &mut Rng) -> Script {
    let mut pieces = start(&[]);
    let path = collection("v1", "configmaps");
    for stream in streams(rng.between(1, 300)) {
        pieces.push(Piece::Headers { stream, method: "POST", path: path.clone(), ends: false });
        pieces.push(Piece::Bytes(frame(DATA, 0, stream, &vec![b' '; size(rng, 1, 16_000)])));
    }
    Script { hold_millis: size_millis(rng), ..Script::new(Transport::Http2, pieces) }
}

fn garbage(rng: &mut Rng) -> Script {
    let transport = rng.pick(&[Transport::Http1, Transport::Http2]);
    let count = size(rng, 1, 200_000);
    let mut bytes = rng.bytes(count);
    if rng.one_in(2) {
        bytes.retain(|byte| *byte != b'\n');
    }
    Script::new(transport, vec![Piece::Bytes(bytes)])
}

fn size_millis(rng: &mut Rng) -> u64 {
    rng.pick(&[0, 100, 1000, 3000])
}
