//! Transactions and items as bytes. Each is preceded by its length; numbers are little-endian.
//!
//! Decoding validates every length, although checksums were verified.

use bytes::Bytes;
use gantry_store::{Item, Key, Op, Revision, Transaction};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// The remaining bytes to decode.
#[derive(Clone, Debug)]
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

const CREATE: u8 = 1;
const UPDATE: u8 = 2;
const DELETE: u8 = 3;

pub(crate) fn put_transaction(out: &mut Vec<u8>, transaction: &Transaction) {
    put_u32(out, transaction.ops().len());
    for (key, op) in transaction.ops() {
        let (tag, seen) = match op {
            Op::Create { .. } => (CREATE, None),
            Op::Update { seen, .. } => (UPDATE, Some(seen)),
            Op::Delete { seen } => (DELETE, Some(seen)),
        };
        out.push(tag);
        put_u32(out, key.as_bytes().len());
        out.extend_from_slice(key.as_bytes());
        if let Some(seen) = seen {
            out.extend_from_slice(&seen.get().to_le_bytes());
        }
        if let Some(value) = op.value() {
            put_u32(out, value.len());
            out.extend_from_slice(value);
        }
    }
}

pub(crate) fn put_item(out: &mut Vec<u8>, item: &Item) {
    put_u32(out, item.key.as_bytes().len());
    out.extend_from_slice(item.key.as_bytes());
    out.extend_from_slice(&item.revision.get().to_le_bytes());
    put_u32(out, item.value.len());
    out.extend_from_slice(&item.value);
}

impl Input<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn transaction(&mut self) -> Result<Transaction, Malformed> {
        let ops = self.u32()?;
        let (key, op) = self.op()?;
        let mut transaction = Transaction::single(key, op);
        for _ in 1..ops {
            let (key, op) = self.op()?;
            transaction = transaction.and(key, op).map_err(|_| Malformed("a key twice in a transaction"))?;
        }
        Ok(transaction)
    }

    pub(crate) fn item(&mut self) -> Result<Item, Malformed> {
        let key = self.key()?;
        let revision = self.revision()?;
        Ok(Item { key, revision, value: self.value()? })
    }

    pub(crate) fn revision(&mut self) -> Result<Revision, Malformed> {
        Revision::new(self.u64()?).ok_or(Malformed("a revision of zero"))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Malformed("an early end"))?;
        self.0 = rest;
        Ok(*head)
    }

    fn op(&mut self) -> Result<(Key, Op), Malformed> {
        let [tag] = self.array()?;
        let key = self.key()?;
        let op = match tag {
            CREATE => Op::Create { value: self.value()? },
            UPDATE => {
                let seen = self.revision()?;
                Op::Update { value: self.value()?, seen }
            }
            DELETE => Op::Delete { seen: self.revision()? },
            _ => return Err(Malformed("an unknown kind of write")),
        };
        Ok((key, op))
    }

    fn key(&mut self) -> Result<Key, Malformed> {
        // With its own memory: a key sliced from a segment would keep the whole segment alive.
        Key::new(self.value()?).map_err(|_| Malformed("a key of an impossible length"))
    }

    fn value(&mut self) -> Result<Bytes, Malformed> {
        let length = self.u32()?;
        let length = usize::try_from(length).map_err(|_| Malformed("an impossible length"))?;
        let (value, rest) = self.0.split_at_checked(length).ok_or(Malformed("an early end"))?;
        self.0 = rest;
        Ok(Bytes::copy_from_slice(value))
    }
}

/// Writes a length. None reaches `u32::MAX`: transactions are far smaller.
fn put_u32(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}
