//! Transactions that are accepted but not yet visible: what a group commit makes durable together.

use std::collections::BTreeMap;

use crate::{Key, Revision, Transaction, Versioned};

/// A batch of transactions with consecutive revisions, each allowed by the state after the one before it.
#[derive(Debug, Default)]
pub struct Staged {
    transactions: Vec<Transaction>,
    /// The new values of the keys; `None` for deleted.
    outcome: BTreeMap<Key, Option<Versioned>>,
}

impl Staged {
    /// The transactions, in the order of their revisions.
    pub fn transactions(&self) -> &[Transaction] {
        &self.transactions
    }

    /// Whether nothing has been staged.
    pub fn is_empty(&self) -> bool {
        self.transactions.is_empty()
    }

    /// Returns the transactions.
    pub fn into_transactions(self) -> Vec<Transaction> {
        self.transactions
    }

    /// The batch's value of a key: the outer `None` when it does not write it.
    pub(crate) fn get(&self, key: &Key) -> Option<&Option<Versioned>> {
        self.outcome.get(key)
    }

    /// Adds a transaction whose conditions hold, with the deletion that follows it, and returns its last revision.
    pub(crate) fn push(&mut self, current: Revision, transaction: Transaction) -> Revision {
        let revision = current.advanced(self.transactions.len() as u64 + 1);
        let deletion = transaction.following_deletion(revision);
        for (key, op) in transaction.ops() {
            let outcome = op.value().map(|value| Versioned { value: value.clone(), revision });
            self.outcome.insert(key.clone(), outcome);
        }
        self.transactions.push(transaction);
        match deletion {
            Some(deletion) => self.push(current, deletion),
            None => revision,
        }
    }
}
