//! Time, uids and names of a simulation.

use std::sync::{Mutex, PoisonError};

use gantry_cluster::Environment;
use gantry_rng::Rng;
use gantry_runtime::Clock;

/// The alphabet of generated names, as in Kubernetes.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The environment of a simulated API server.
#[derive(Debug)]
pub(super) struct SimEnvironment {
    clock: Clock,
    rng: Mutex<Rng>,
}

impl SimEnvironment {
    pub(super) fn new(clock: Clock, rng: Rng) -> Self {
        Self { clock, rng: Mutex::new(rng) }
    }

    fn number(&self) -> u64 {
        self.rng.lock().unwrap_or_else(PoisonError::into_inner).number()
    }
}

impl Environment for SimEnvironment {
    fn now(&self) -> gantry_primitives::Timestamp {
        gantry_primitives::Timestamp::from_secs(self.clock.now().as_nanos() / 1_000_000_000)
    }

    fn uid(&self) -> String {
        let (high, low) = (self.number(), self.number());
        let groups = [high >> 32, high >> 16 & 0xffff, high & 0xfff | 0x4000, low >> 48 & 0x3fff | 0x8000];
        let [first, second, third, fourth] = groups;
        format!("{first:08x}-{second:04x}-{third:04x}-{fourth:04x}-{:012x}", low & 0xffff_ffff_ffff)
    }

    fn name_suffix(&self) -> String {
        let mut number = self.number();
        let letter = |_| {
            let letter = LETTERS[usize::try_from(number % 27).unwrap_or(0)];
            number /= 27;
            char::from(letter)
        };
        (0..5).map(letter).collect()
    }
}
