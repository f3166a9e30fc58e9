//! Decoders on arbitrary bytes: they neither panic nor accept them.

use std::collections::BTreeSet;

use gantry_store::suite::{Rng, key, seeds};
use gantry_store::{Item, Op, Revision, Transaction};

use crate::codec::{self, Input};
use crate::frame::{self, Kind, ScannedFrame};
use crate::segment;

#[test]
fn transactions_and_items_survive_encoding() {
    let transaction = Transaction::create(key("/a"), "value")
        .and(key("/b"), Op::Update { value: "".into(), seen: Revision::EMPTY })
        .and_then(|transaction| transaction.and(key("/c"), Op::Delete { seen: Revision::EMPTY.next() }))
        .unwrap();
    let item = Item { key: key("/k"), value: vec![0; 1000].into(), revision: Revision::EMPTY };
    let mut bytes = Vec::new();
    codec::put_transaction(&mut bytes, &transaction);
    codec::put_item(&mut bytes, &item);
    let mut input = Input(&bytes);
    assert_eq!(input.transaction(), Ok(transaction));
    assert_eq!(input.item(), Ok(item));
    assert!(input.is_empty());
}

#[test]
fn random_bytes_are_decoded_to_something_or_refused() {
    for seed in seeds(2_000, 500_000) {
        let mut rng = Rng::new(seed);
        let length = rng.index(200);
        let mut bytes = rng.bytes(length);
        // Small numbers make lengths plausible, where decoders are most likely to fail.
        for byte in &mut bytes {
            if rng.one_in(2) {
                *byte = rng.number().to_le_bytes()[0] % 4;
            }
        }
        let _ = Input(&bytes).transaction();
        let _ = Input(&bytes).item();
        let _ = segment::Header::decode(&bytes);
        assert!(
            !matches!(frame::read(&bytes, 0, seed), ScannedFrame::Frame(_)),
            "GANTRY_SEED={seed}: a frame by chance"
        );
        assert_eq!(frame::find(&bytes, 0, seed), None, "GANTRY_SEED={seed}");
    }
}

#[test]
fn a_mutated_log_never_yields_a_frame_that_was_not_written() {
    const NONCE: u64 = 99;
    let mut segment = Vec::new();
    let mut written = BTreeSet::new();
    for number in 0..20 {
        let transaction = Transaction::create(key(format!("/{number}")), vec![b'x'; number * 7]);
        let frame = frame::batch(NONCE, Revision::EMPTY.advanced(number as u64), 5, &[transaction]);
        if let ScannedFrame::Frame(frame) = frame::read(&frame, 0, NONCE) {
            written.insert(frame.payload.to_vec());
        }
        segment.extend(frame);
    }
    segment.extend(frame::mark(NONCE, Kind::Close, Revision::EMPTY.advanced(20), 5));
    written.insert(Vec::new());
    assert_eq!(written.len(), 21);
    for seed in seeds(500, 100_000) {
        let mut rng = Rng::new(seed);
        let mut mutated = segment.clone();
        mutate(&mut mutated, &mut rng);
        let mut offset = 0;
        while let Some(found) = frame::find(&mutated, offset, NONCE) {
            let ScannedFrame::Frame(frame) = frame::read(&mutated, found, NONCE) else { unreachable!() };
            assert!(written.contains(frame.payload), "GANTRY_SEED={seed}: {frame:?}");
            frame.transactions().unwrap();
            offset = found + frame::ALIGNMENT;
        }
        assert!(!matches!(frame::read(&mutated, 0, NONCE + 1), ScannedFrame::Frame(_)), "of another segment");
    }
}

/// Changes, copies, cuts or zeroes some of the bytes.
fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..=rng.below(4) {
        if bytes.is_empty() {
            return;
        }
        let (from, to) = (rng.index(bytes.len()), rng.index(bytes.len()));
        let length = rng.index(100).min(bytes.len() - from.max(to));
        match rng.below(5) {
            0 => bytes.truncate(from),
            1 => bytes[from..from + length].fill(0),
            2 => bytes.copy_within(from..from + length, to),
            3 => drop(bytes.drain(from..from + length)),
            _ => bytes[from] ^= rng.number().to_le_bytes()[0],
        }
    }
}
