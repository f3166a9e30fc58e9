//! Time, uids and names of a simulation.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gantry_cluster::Environment;
use gantry_formats::uuid;
use gantry_rng::Rng;
use gantry_runtime::Clock;

/// The alphabet of generated names, as in Kubernetes.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The environment of a simulated API server.
#[derive(Debug)]
pub(super) struct SimEnvironment {
    clock: Clock,
    identities: Mutex<Identities>,
}

/// Generates uids and suffixes of names.
#[derive(Clone, Debug)]
pub struct Identities {
    rng: Rng,
}

impl Identities {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed) }
    }

    /// The next uid.
    pub fn uid(&mut self) -> String {
        let (high, low) = (self.rng.number(), self.rng.number());
        uuid::encode((u128::from(high) << 64 | u128::from(low)).to_be_bytes(), 4)
    }

    /// The next suffix of a generated name.
    pub fn name_suffix(&mut self) -> String {
        let mut number = self.rng.number();
        let letter = |_| {
            let letter = LETTERS[usize::try_from(number % 27).unwrap_or(0)];
            number /= 27;
            char::from(letter)
        };
        (0..5).map(letter).collect()
    }
}

impl SimEnvironment {
    pub(super) fn new(clock: Clock, rng: Rng) -> Self {
        Self { clock, identities: Mutex::new(Identities { rng }) }
    }

    fn identities(&self) -> MutexGuard<'_, Identities> {
        self.identities.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Environment for SimEnvironment {
    fn now(&self) -> gantry_primitives::Timestamp {
        gantry_primitives::Timestamp::from_secs(self.clock.now().as_nanos() / 1_000_000_000)
    }

    fn uid(&self) -> String {
        self.identities().uid()
    }

    fn name_suffix(&self) -> String {
        self.identities().name_suffix()
    }
}
