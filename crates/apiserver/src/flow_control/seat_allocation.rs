//! Divides the seats of the server among the priority levels: by shares, and by lending seats that a level does not need.

use std::time::Duration;

use super::configuration::LevelLimits;

/// The lowest target, so that a level without demand still gets its part of idle seats.
const TARGET_MIN: f64 = 0.001;
/// How much of the smoothed demand of one period carries over to the next.
const DECAY: f64 = 0.977;
/// The part of a level's seats that one request may take.
const WIDTH_MAX_PERCENT: u32 = 15;

/// The seats of a level: the nominal number, and the minimum and maximum after lending and borrowing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SeatBounds {
    pub(super) nominal: u32,
    pub(super) min: u32,
    pub(super) max: u32,
    /// The maximum number of seats of one request.
    pub(super) width_max: u32,
}

impl SeatBounds {
    /// The seats of a level, as its share of the server's seats; the shares of all levels add up to `all_shares`.
    pub(super) fn of(limits: &LevelLimits, server_seats: u32, all_shares: u64) -> Self {
        let shared = u64::from(server_seats) * u64::from(limits.shares);
        let nominal = u32::try_from(shared.div_ceil(all_shares.max(1))).unwrap_or(u32::MAX);
        let lendable = percent_of(nominal, limits.lendable_percent);
        let borrowable =
            limits.borrowing_percent.map_or(server_seats, |percent| percent_of(nominal, percent));
        let width_max = limits.queuing.map_or(u32::MAX, |queuing| {
            let part = u64::from(nominal) * u64::from(WIDTH_MAX_PERCENT);
            let part = u32::try_from(part.div_ceil(100)).unwrap_or(u32::MAX);
            part.min(nominal / queuing.hand_size.max(1)).max(1)
        });
        Self {
            nominal,
            min: nominal - lendable.min(nominal),
            max: nominal.saturating_add(borrowable),
            width_max,
        }
    }
}

fn percent_of(seats: u32, percent: u32) -> u32 {
    let rounded = (u64::from(seats) * u64::from(percent) + 50) / 100;
    u32::try_from(rounded).unwrap_or(u32::MAX)
}

/// The seats that a level needed, over time.
#[derive(Clone, Debug, Default)]
pub(super) struct SeatDemand {
    current: f64,
    since: Duration,
    period_start: Duration,
    /// The integrals of the demand and of its square over this period.
    sum: f64,
    sum_of_squares: f64,
    high: f64,
    smoothed: f64,
}

/// The demand of a level in the last period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DemandSummary {
    /// The maximum number of seats needed at once.
    pub(super) high: f64,
    /// The average, raised by the deviation and smoothed over periods.
    pub(super) smoothed: f64,
}

impl SeatDemand {
    /// Records that this many seats are needed from now on.
    pub(super) fn set(&mut self, seats: u32, now: Duration) {
        self.integrate(now);
        self.current = f64::from(seats);
        self.high = self.high.max(self.current);
    }

    /// Ends the period and returns its summary.
    pub(super) fn take(&mut self, now: Duration) -> DemandSummary {
        self.integrate(now);
        let length = now.saturating_sub(self.period_start).as_secs_f64();
        let (average, of_squares) = if length > 0.0 {
            (self.sum / length, self.sum_of_squares / length)
        } else {
            (self.current, self.current * self.current)
        };
        let deviation = (of_squares - average * average).max(0.0).sqrt();
        let envelope = average + deviation;
        self.smoothed = envelope.max(DECAY * self.smoothed + (1.0 - DECAY) * envelope);
        let summary = DemandSummary { high: self.high, smoothed: self.smoothed };
        (self.sum, self.sum_of_squares, self.high, self.period_start) = (0.0, 0.0, self.current, now);
        summary
    }

    fn integrate(&mut self, now: Duration) {
        let elapsed = now.saturating_sub(self.since).as_secs_f64();
        self.sum += elapsed * self.current;
        self.sum_of_squares += elapsed * self.current * self.current;
        self.since = self.since.max(now);
    }
}

/// Divides the seats of all levels by their demand: every level gets its target times the same factor, within its bounds.
pub(super) fn allocate(levels: &[(SeatBounds, DemandSummary)]) -> Vec<u32> {
    let total: f64 = levels.iter().map(|(bounds, _)| f64::from(bounds.nominal)).sum();
    let ranges: Vec<_> = levels.iter().map(|(bounds, demand)| TargetRange::of(*bounds, *demand)).collect();
    let sum_at = |factor: f64| ranges.iter().map(|range| range.at(factor)).sum::<f64>();
    // The sum grows with the factor; halving finds the factor at which it is the total.
    let (mut low, mut high) = (0.0, 1.0);
    while sum_at(high) < total && high < 1e9 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if sum_at(middle) < total { low = middle } else { high = middle }
    }
    ranges.iter().map(|range| rounded(range.at(high))).collect()
}

struct TargetRange {
    lower: f64,
    upper: f64,
    target: f64,
}

impl TargetRange {
    fn of(bounds: SeatBounds, demand: DemandSummary) -> Self {
        let (nominal, min) = (f64::from(bounds.nominal), f64::from(bounds.min));
        // Seats in use are not lent.
        let lower = min.max(nominal.min(demand.high));
        Self {
            lower,
            upper: f64::from(bounds.max).max(lower),
            target: lower.max(demand.smoothed).max(TARGET_MIN),
        }
    }

    fn at(&self, factor: f64) -> f64 {
        (factor * self.target).clamp(self.lower, self.upper)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is clamped to the range"
)]
fn rounded(seats: f64) -> u32 {
    seats.round().clamp(0.0, f64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use gantry_rng::Rng;

    use super::super::configuration::Queuing;
    use super::*;

    fn limits(shares: u32, lendable_percent: u32) -> LevelLimits {
        let queuing = Some(Queuing { queues: 128, hand_size: 6, queue_length_limit: 50 });
        LevelLimits { shares, lendable_percent, borrowing_percent: None, queuing }
    }

    /// The seats of the default levels with the default 600, as kube-apiserver 1.37 reports them in its metrics.
    #[test]
    fn the_default_levels_have_the_seats_of_kubernetes() {
        for (shares, lendable, nominal, min, width_max) in
            [(20, 50, 49, 24, 8), (100, 90, 245, 24, 37), (40, 50, 98, 49, 15), (30, 33, 74, 50, 12)]
        {
            let bounds = SeatBounds::of(&limits(shares, lendable), 600, 245);
            assert_eq!((bounds.nominal, bounds.min, bounds.max), (nominal, min, nominal + 600));
            assert_eq!(bounds.width_max, width_max, "{shares} shares");
        }
        let none = SeatBounds::of(&limits(0, 0), 600, 0);
        assert_eq!((none.nominal, none.min), (0, 0));
    }

    /// A level that needs more seats gets those that idle ones may lend, and no others.
    #[test]
    fn idle_levels_lend_their_seats() {
        let bounds = |shares, lendable| SeatBounds::of(&limits(shares, lendable), 100, 100);
        let busy = DemandSummary { high: 90.0, smoothed: 90.0 };
        let idle = DemandSummary::default();
        let seats = allocate(&[(bounds(20, 0), busy), (bounds(80, 50), idle)]);
        assert_eq!(seats, [60, 40], "half of 80 are lent");
        let seats = allocate(&[(bounds(20, 0), busy), (bounds(80, 0), idle)]);
        assert_eq!(seats, [20, 80], "nothing is lent");
        let seats =
            allocate(&[(bounds(20, 0), busy), (bounds(80, 50), DemandSummary { high: 70.0, smoothed: 1.0 })]);
        assert_eq!(seats, [30, 70], "seats in use are not lent");
    }

    /// The total number of seats is unchanged, and every level keeps within its bounds.
    #[test]
    fn allocated_seats_sum_to_the_limit() {
        for seed in 0..500 {
            let mut rng = Rng::new(seed);
            let count = rng.between(1, 9);
            let shares: Vec<u32> = (0..count).map(|_| u32::try_from(rng.between(1, 100)).unwrap()).collect();
            let all = shares.iter().map(|shares| u64::from(*shares)).sum();
            let levels: Vec<_> = shares
                .iter()
                .map(|shares| {
                    let lendable = u32::try_from(rng.below(101)).unwrap();
                    let high = f64::from(u32::try_from(rng.below(700)).unwrap());
                    let demand = DemandSummary { high, smoothed: high / 2.0 };
                    (SeatBounds::of(&limits(*shares, lendable), 600, all), demand)
                })
                .collect();
            let seats = allocate(&levels);
            for (seats, (bounds, _)) in seats.iter().zip(&levels) {
                assert!((bounds.min..=bounds.max).contains(seats), "seed {seed}: {seats} {bounds:?}");
            }
            let total: u32 = levels.iter().map(|(bounds, _)| bounds.nominal).sum();
            let given: u32 = seats.iter().sum();
            assert!(
                given.abs_diff(total) <= u32::try_from(count).unwrap(),
                "seed {seed}: {given} of {total}"
            );
        }
    }

    #[test]
    fn demand_is_averaged_over_its_period() {
        let seconds = Duration::from_secs;
        let mut demand = SeatDemand::default();
        demand.set(10, seconds(0));
        demand.set(0, seconds(5));
        let summary = demand.take(seconds(10));
        assert!((summary.high - 10.0).abs() < 1e-9);
        assert!((summary.smoothed - 10.0).abs() < 1e-9, "average 5, deviation 5: {summary:?}");
        let next = demand.take(seconds(20));
        assert!(next.high < 1e-9 && next.smoothed > 9.0, "it decays slowly: {next:?}");
    }
}
