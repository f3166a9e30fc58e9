//! Lists and watches that are requested and not read.

use gantry_json::json;
use gantry_rng::Rng;

use super::objects::{self, TABLE, collection};
use crate::case::{Case, Message, Piece, Script, Step, Transport};
use crate::http2::preface;

pub(super) fn case(rng: &mut Rng, case: &mut Case) {
    let configmaps = collection("v1", "configmaps");
    let name = format!("l{}", case.id.seed);
    // The listed objects: up to 16 MB.
    let count = rng.between(4, 64);
    for index in 0..count {
        let object = format!("{name}-{index}");
        let mut body = objects::config_map(&object);
        body["metadata"]["labels"] = json!({"case": name});
        body["data"] = json!({"k": "x".repeat(250_000)});
        case.create(&configmaps, &object, &body);
    }
    let list = format!("{configmaps}?labelSelector=case%3D{name}");
    let watch = format!("{list}&watch=true&timeoutSeconds=20");
    let (path, connections) = match rng.below(4) {
        0 => (watch, rng.between(10, 200)),
        1 => (
            format!(
                "{watch}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
            ),
            rng.between(10, 100),
        ),
        _ => (list.clone(), rng.between(10, 100)),
    };
    let hold_millis = rng.pick(&[1000, 3000]);
    let script = if rng.one_in(2) {
        // One connection with as many streams. The window of the connection is large, the windows of the streams are
        // not.
        let mut pieces = vec![Piece::Bytes(preface(&[(4, rng.pick(&[0, 1000, 0x7fff_ffff]))]))];
        for stream in 0..u32::try_from(connections).unwrap_or(0) {
            pieces.push(Piece::Headers {
                stream: 2 * stream + 1,
                method: "GET",
                path: path.clone(),
                ends: true,
            });
        }
        Script { is_read: false, hold_millis, ..Script::new(Transport::Http2, pieces) }
    } else {
        let message = Message::get(path).header("accept", rng.pick(&[objects::JSON, TABLE, objects::YAML]));
        Script {
            is_read: false,
            hold_millis,
            connections,
            ..Script::new(Transport::Http1, vec![Piece::Message(message)])
        }
    };
    case.steps.push(Step::Raw(script));
    case.send(Message::get(list).header("accept-encoding", "gzip"));
    // Events for the watchers that do not read.
    let change = json!({"metadata": {"annotations": {"changed": "y".repeat(1000)}}});
    let path = format!("{configmaps}/{name}-0");
    case.send(Message::new("PATCH", path).with(objects::MERGE, change.to_string().into_bytes()));
}
