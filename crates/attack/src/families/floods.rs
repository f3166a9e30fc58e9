//! Many connections, bodies or requests at once.

use gantry_json::json;
use gantry_rng::Rng;

use super::objects::{self, JSON, collection};
use super::{BODY_BYTES_MAX, size};
use crate::case::{Case, Message, Piece, Script, Step, Transport};

pub(super) fn case(rng: &mut Rng, case: &mut Case) {
    let configmaps = collection("v1", "configmaps");
    match rng.below(7) {
        // 1,000 anonymous connections with a body of almost the largest size once took 2.9 GB.
        0 => {
            let message = Message::new("POST", configmaps).with(JSON, vec![b' '; 2_750_000]).anonymous();
            case.steps.push(Step::Together { message, connections: rng.between(100, 1000) });
        }
        1 => {
            let body = vec![b'['; size(rng, 1, BODY_BYTES_MAX)];
            let message = Message::new("POST", configmaps).with(JSON, body);
            case.steps.push(Step::Together { message, connections: rng.between(20, 300) });
        }
        2 => {
            let path = rng.pick(&[
                "/api/v1/namespaces",
                "/openapi/v2",
                "/openapi/v3",
                "/apis/apps/v1/deployments",
                "/metrics",
            ]);
            let message = Message::get(path);
            case.steps.push(Step::Together { message, connections: rng.between(50, 500) });
        }
        3 => {
            let name = format!("f{}", case.id.seed);
            let message =
                create(&configmaps, &json!({"metadata": {"generateName": name}, "data": {"k": "v"}}));
            let message = Message { path: format!("{}?dryRun=All", message.path), ..message };
            case.steps.push(Step::Together { message, connections: rng.between(50, 500) });
        }
        // Connections without any bytes.
        4 => {
            let transport = rng.pick(&[Transport::Tcp, Transport::Http1, Transport::Http2]);
            let script = Script {
                connections: rng.between(100, 1000),
                hold_millis: 1000,
                ..Script::new(transport, vec![])
            };
            case.steps.push(Step::Raw(script));
        }
        // Bodies that are started and never end.
        5 => {
            let message = Message::new("POST", configmaps)
                .with(JSON, vec![b' '; size(rng, 1, 2_000_000)])
                .header("content-length", BODY_BYTES_MAX.to_string());
            let message = if rng.one_in(2) { message.anonymous() } else { message };
            let pieces = vec![Piece::Message(message)];
            let script = Script {
                connections: rng.between(50, 400),
                hold_millis: 2000,
                ..Script::new(Transport::Http1, pieces)
            };
            case.steps.push(Step::Raw(script));
        }
        _ => {
            let pods = collection("v1", "pods");
            let mut pod = objects::pod("flood");
            let env: Vec<_> = (0..size(rng, 1, 20_000))
                .map(|index| json!({"name": format!("E{index}"), "value": "x"}))
                .collect();
            pod["spec"]["containers"][0]["env"] = env.into();
            let message = create(&format!("{pods}?dryRun=All"), &pod);
            case.steps.push(Step::Together { message, connections: rng.between(10, 60) });
        }
    }
}

fn create(path: &str, object: &gantry_json::Value) -> Message {
    Message::new("POST", path).with(JSON, object.to_string().into_bytes())
}
