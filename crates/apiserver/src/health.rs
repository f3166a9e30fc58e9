//! The health of the server, as set by its host.

use std::sync::atomic::{AtomicU8, Ordering};

/// The phase of the server, set by its host; initially ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It is starting: live, but not ready.
    Starting,
    /// It accepts requests.
    Ready,
    /// It completes pending requests and should receive no new ones.
    ShuttingDown,
}

/// The shared health of a server.
#[derive(Debug)]
pub(crate) struct HealthState(AtomicU8);

impl Default for HealthState {
    fn default() -> Self {
        Self(AtomicU8::new(code(Health::Ready)))
    }
}

impl HealthState {
    pub(crate) fn get(&self) -> Health {
        let now = self.0.load(Ordering::Relaxed);
        [Health::Starting, Health::ShuttingDown]
            .into_iter()
            .find(|health| code(*health) == now)
            .unwrap_or(Health::Ready)
    }

    pub(crate) fn set(&self, health: Health) {
        self.0.store(code(health), Ordering::Relaxed);
    }
}

fn code(health: Health) -> u8 {
    match health {
        Health::Starting => 0,
        Health::Ready => 1,
        Health::ShuttingDown => 2,
    }
}
