//! The faults of connections, decided by a seed.

use std::time::Duration;

use gantry_rng::Rng;

/// The rates and kinds of faults of connections. The default has no faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The maximum delay of a request on its way to the server, and of its response, in milliseconds.
    pub delay_ms: u64,
    /// How many of 1,000 requests are refused before they take effect: 429, 500, 503 or 504.
    pub refused: u64,
    /// How many of 1,000 updates are refused with a conflict.
    pub conflicts: u64,
    /// How many of 1,000 requests take effect but get an error, or the end of the connection, as their response.
    pub lost: u64,
    /// How many of 1,000 requests get no response. Half of them take effect.
    pub silent: u64,
    /// The maximum delay of the lines of a watch, in milliseconds.
    pub watch_delay_ms: u64,
    /// How many of 1,000 deliveries of a watch are delayed much longer.
    pub stalled: u64,
    /// The maximum of this delay, in seconds.
    pub stall_seconds: u64,
    /// How many of 1,000 deliveries end the watch instead.
    pub cut: u64,
    /// How many of 1,000 deliveries are replaced by the error that the version has expired.
    pub expired: u64,
}

/// The faults and delays of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestFaults {
    /// The delay before the server gets it.
    pub(super) before: Duration,
    pub(super) fault: Option<Fault>,
    /// The delay of the response.
    pub(super) after: Duration,
}

/// A fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The server does not get it, and this status is returned.
    Refused(u16),
    /// The server processes it, and this status is returned.
    Lost(u16),
    /// The server processes it, and the connection ends.
    Closed,
    /// There is no response.
    Silence {
        /// Whether the server processes it.
        takes_effect: bool,
    },
}

/// The delivery of some lines of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    After(Duration),
    Cut,
    Expired,
}

impl Faults {
    /// The maximum time by which a cache may be late, including the requests of one sync.
    pub fn staleness(&self) -> Duration {
        let is_calm =
            [self.refused, self.conflicts, self.lost, self.silent, self.stalled, self.cut, self.expired]
                .iter()
                .all(|rate| *rate == 0);
        let delays = Duration::from_millis(40 * self.delay_ms + 4 * self.watch_delay_ms);
        let retries = if is_calm { Duration::from_secs(2) } else { Duration::from_secs(180) };
        let stalls = if self.stalled == 0 { 0 } else { 2 * self.stall_seconds };
        delays + retries + Duration::from_secs(stalls)
    }

    /// Decides the faults and delays of a request.
    pub(super) fn draw_faults(&self, rng: &mut Rng, is_update: bool) -> RequestFaults {
        let mut delay = || Duration::from_millis(rng.below(self.delay_ms + 1));
        let (before, after) = (delay(), delay());
        let number = rng.below(1000);
        let mut bound = 0;
        let mut is_below = |rate: u64| {
            bound += rate;
            number < bound
        };
        let fault = if is_below(self.refused) {
            Some(Fault::Refused(rng.pick(&[429, 500, 503, 504])))
        } else if is_below(self.conflicts) {
            is_update.then_some(Fault::Refused(409))
        } else if is_below(self.lost) {
            Some(if rng.one_in(2) { Fault::Closed } else { Fault::Lost(rng.pick(&[500, 504])) })
        } else if is_below(self.silent) {
            Some(Fault::Silence { takes_effect: rng.one_in(2) })
        } else {
            None
        };
        RequestFaults { before, fault, after }
    }

    /// Decides the delivery of the next lines of a watch.
    pub(super) fn delivery(&self, rng: &mut Rng) -> Delivery {
        let number = rng.below(1000);
        if number < self.stalled {
            return Delivery::After(Duration::from_millis(rng.below(1000 * self.stall_seconds + 1)));
        }
        if number < self.stalled + self.cut {
            return Delivery::Cut;
        }
        if number < self.stalled + self.cut + self.expired {
            return Delivery::Expired;
        }
        Delivery::After(Duration::from_millis(rng.below(self.watch_delay_ms + 1)))
    }
}
