//! Hostile protobuf: Kubernetes' envelope around messages that are nested, truncated, or many and empty.

use gantry_rng::Rng;

use super::objects::{PROTOBUF, collection};
use super::{BODY_BYTES_MAX, mutate, size};
use crate::case::{Case, Message};

const MAGIC: &[u8] = b"k8s\0";

pub(super) fn case(rng: &mut Rng, case: &mut Case) {
    for _ in 0..rng.between(1, 4) {
        let (version, kind, resource) = rng.pick(&[
            ("v1", "Pod", "pods"),
            ("v1", "ConfigMap", "configmaps"),
            ("v1", "Service", "services"),
            ("apps/v1", "Deployment", "deployments"),
            ("v1", "Event", "events"),
            ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
        ]);
        let raw = raw(rng);
        let mut body = [MAGIC, &envelope(version, kind, &raw)].concat();
        if rng.one_in(3) {
            mutate(rng, &mut body);
        }
        body.truncate(BODY_BYTES_MAX);
        let accept = rng.pick(&[PROTOBUF, "application/json"]);
        let path = format!("{}?dryRun=All", collection(version, resource));
        case.send(Message::new("POST", path).with(PROTOBUF, body).header("accept", accept));
    }
}

fn envelope(version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let type_meta = [field(1, version.as_bytes()), field(2, kind.as_bytes())].concat();
    [field(1, &type_meta), field(2, raw)].concat()
}

fn raw(rng: &mut Rng) -> Vec<u8> {
    let metadata = field(1, &field(1, b"name"));
    match rng.below(7) {
        // A list field at one of the first numbers of the spec, with very many empty elements: two bytes each.
        0 => {
            let elements = field(rng.below(30) + 1, b"").repeat(size(rng, 1, BODY_BYTES_MAX / 2 - 100));
            [metadata, field(2, &elements)].concat()
        }
        1 => {
            let elements = field(rng.below(16) + 1, b"").repeat(size(rng, 1, BODY_BYTES_MAX / 2 - 100));
            field(1, &elements)
        }
        2 => {
            let (number, depth) = (rng.below(4) + 1, size(rng, 1, 20_000));
            let mut nested = Vec::new();
            for _ in 0..depth {
                nested = field(number, &nested);
                if nested.len() > 60_000 {
                    break;
                }
            }
            [metadata, nested].concat()
        }
        // A length beyond the end, up to the largest possible.
        3 => [metadata, vec![0x12], varint(rng.pick(&[1 << 20, u64::from(u32::MAX), u64::MAX, 1 << 63]))]
            .concat(),
        // Groups, which are obsolete.
        4 => [metadata, vec![0x0b; size(rng, 1, 500_000)]].concat(),
        5 => random_message(rng, 4),
        _ => {
            let count = size(rng, 1, 1000);
            rng.bytes(count)
        }
    }
}

fn random_message(rng: &mut Rng, depth: usize) -> Vec<u8> {
    let mut message = Vec::new();
    for _ in 0..rng.between(1, 8) {
        let number = rng.below(40) + 1;
        match rng.below(5) {
            0 => message.extend([varint(number << 3), varint(rng.number())].concat()),
            1 => message.extend([varint(number << 3 | 1), rng.bytes(8)].concat()),
            2 if depth > 0 => message.extend(field(number, &random_message(rng, depth - 1))),
            _ => {
                let count = size(rng, 1, 40);
                message.extend(field(number, &rng.bytes(count)));
            }
        }
    }
    message
}

fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    [varint(number << 3 | 2), varint(length), bytes.to_vec()].concat()
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or(0);
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}
