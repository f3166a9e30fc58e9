//! Values as differences from similar ones.
//!
//! A new state of an object mostly differs from the previous one in a few members. The difference is a sequence of
//! literals and copies from the base, found by hashes of its blocks: a few microseconds for an object of some
//! kilobytes.

use bytes::Bytes;

/// The longest value that is written as a difference. Positions in the table have 16 bits.
pub(crate) const VALUE_MAX: usize = 1 << 16;
/// The length of the blocks by which equal parts are found.
const BLOCK: usize = 16;
/// The number of bits of a hash. Blocks of a large base may share a slot of the table, which then has the last one.
const HASH_BITS: u32 = 10;

/// The difference from a base to a value, if it is worth it: at most half as long as the value.
pub(crate) fn between(base: &[u8], value: &[u8]) -> Option<Vec<u8>> {
    if base.len() > VALUE_MAX || value.len() > VALUE_MAX {
        return None;
    }
    let mut delta = DeltaWriter { value, written: 0, out: Vec::with_capacity(value.len() / 4) };
    let prefix = equal_start(base, value);
    delta.copy(0, 0, prefix);
    let suffix = equal_end(&base[prefix..], &value[prefix..]);
    delta.find_copies(base, prefix..base.len() - suffix, value.len() - suffix);
    delta.copy(base.len() - suffix, value.len() - suffix, suffix);
    delta.literal(value.len());
    (delta.out.len() <= value.len() / 2).then_some(delta.out)
}

/// The value whose difference from a base this is.
pub(crate) fn apply(base: &[u8], mut delta: &[u8]) -> Bytes {
    let mut value = Vec::with_capacity(base.len());
    while !delta.is_empty() {
        let literal = read_number(&mut delta);
        value.extend_from_slice(&delta[..literal]);
        delta = &delta[literal..];
        let (from, length) = (read_number(&mut delta), read_number(&mut delta));
        value.extend_from_slice(&base[from..from + length]);
    }
    value.into_boxed_slice().into()
}

struct DeltaWriter<'a> {
    value: &'a [u8],
    /// How much of the value is written.
    written: usize,
    out: Vec<u8>,
}

impl DeltaWriter<'_> {
    /// Writes copies for what a part of the base and the value up to `end` have in common.
    fn find_copies(&mut self, base: &[u8], part: std::ops::Range<usize>, end: usize) {
        let table = block_table(base, part.clone());
        let mut at = self.written;
        while at + BLOCK <= end {
            let from = usize::from(table[hash(&self.value[at..])]);
            if !part.contains(&from) || base[from..part.end].get(..BLOCK) != Some(&self.value[at..at + BLOCK])
            {
                at += 1;
                continue;
            }
            let back = equal_end(&base[part.start..from], &self.value[self.written..at]);
            let length = back + equal_start(&base[from..part.end], &self.value[at..end]);
            self.copy(from - back, at - back, length);
            at = self.written;
        }
    }

    /// Writes the bytes before `at` as a literal, and then a copy.
    fn copy(&mut self, from: usize, at: usize, length: usize) {
        if length == 0 {
            return;
        }
        write_number(&mut self.out, at - self.written);
        self.out.extend_from_slice(&self.value[self.written..at]);
        write_number(&mut self.out, from);
        write_number(&mut self.out, length);
        self.written = at + length;
    }

    /// Writes the remaining bytes before `end` as a literal.
    fn literal(&mut self, end: usize) {
        if self.written < end {
            write_number(&mut self.out, end - self.written);
            self.out.extend_from_slice(&self.value[self.written..end]);
            self.out.extend_from_slice(&[0, 0]);
            self.written = end;
        }
    }
}

/// The positions of the blocks of a part of the base, by their hash.
fn block_table(base: &[u8], part: std::ops::Range<usize>) -> [u16; 1 << HASH_BITS] {
    let mut table = [u16::MAX; 1 << HASH_BITS];
    for (number, block) in base[part.clone()].chunks_exact(BLOCK).enumerate() {
        table[hash(block)] = u16::try_from(part.start + number * BLOCK).unwrap_or(u16::MAX);
    }
    table
}

/// The hash of the first block of some bytes.
fn hash(bytes: &[u8]) -> usize {
    let half = |bytes: &[u8]| bytes.first_chunk().map_or(0, |half| u64::from_le_bytes(*half));
    let mixed = (half(bytes) ^ half(&bytes[8..]).rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(mixed >> (u64::BITS - HASH_BITS)).unwrap_or_default()
}

/// How many bytes are equal from the start on.
fn equal_start(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let start = BLOCK * blocks.take_while(|(one, other)| one == other).count();
    start + one[start..].iter().zip(&other[start..]).take_while(|(one, other)| one == other).count()
}

/// How many bytes are equal up to the end.
fn equal_end(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.rchunks_exact(BLOCK).zip(other.rchunks_exact(BLOCK));
    let end = BLOCK * blocks.take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[..one.len() - end], &other[..other.len() - end]);
    end + one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

/// Writes a number, seven bits per byte.
fn write_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(0x80 | u8::try_from(number & 0x7f).unwrap_or_default());
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or_default());
}

fn read_number(bytes: &mut &[u8]) -> usize {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use gantry_rng::Rng;

    use super::*;

    /// The value with some parts replaced, removed and inserted.
    fn edited(rng: &mut Rng, value: &[u8]) -> Vec<u8> {
        let mut edited = value.to_vec();
        for _ in 0..rng.index(6) {
            let at = rng.between(0, edited.len());
            let end = edited.len().min(at + rng.between(0, 40));
            let length = rng.between(0, 40);
            edited.splice(at..end, rng.bytes(length));
        }
        edited
    }

    #[test]
    fn a_value_is_its_base_with_the_difference_applied() {
        for seed in 0..2000 {
            let mut rng = Rng::new(seed);
            let length = rng.between(0, 3000);
            let base = rng.bytes(length);
            let value = if rng.one_in(8) { rng.bytes(length) } else { edited(&mut rng, &base) };
            if let Some(delta) = between(&base, &value) {
                assert_eq!(apply(&base, &delta), value, "seed {seed}");
                assert!(delta.len() <= value.len() / 2, "seed {seed}");
            } else {
                assert!(length < 1000 || value.len() < 300 || between(&base, &base).is_some());
            }
        }
    }

    #[test]
    fn changes_at_both_ends_leave_the_middle_to_be_copied() {
        let mut rng = Rng::new(1);
        let middle = rng.bytes(2000);
        let base = [b"one".as_slice(), &middle, b"tail"].concat();
        let value = [b"another start".as_slice(), &middle, b"end"].concat();
        let delta = between(&base, &value).unwrap();
        assert!(delta.len() < 64, "{}", delta.len());
        assert_eq!(apply(&base, &delta), value);
    }

    #[test]
    fn a_value_that_has_nothing_in_common_has_no_difference() {
        let mut rng = Rng::new(2);
        let (one, other) = (rng.bytes(2000), rng.bytes(2000));
        assert_eq!(between(&one, &other), None);
    }

    #[test]
    fn a_large_value_is_not_looked_at() {
        let large = vec![7; VALUE_MAX + 1];
        assert_eq!(between(&large, &large), None);
    }
}
