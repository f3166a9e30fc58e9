//! The report: results of cases, counted by family and by kind.

use std::collections::BTreeMap;

use crate::families::Family;

/// The result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Same,
    Different,
    /// Two responses of Kubernetes differ.
    Undecided,
    /// Two responses of the right server differ, and one of them equals that of Kubernetes.
    Unstable,
    /// The difference is documented ([`crate::known`]); the case is not comparable.
    Known,
}

/// Counts of outcomes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report(BTreeMap<(Family, String), [usize; 5]>);

impl Report {
    pub(crate) fn count(&mut self, family: Family, kind: &str, outcome: Outcome) {
        self.0.entry((family, kind.to_owned())).or_default()[outcome as usize] += 1;
    }

    /// Whether the responses to any case differ.
    pub(crate) fn has_differences(&self) -> bool {
        self.0.values().any(|counts| counts[Outcome::Different as usize] > 0)
    }

    /// Returns a line per family and, below it, one per kind with differences.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut families: BTreeMap<Family, [usize; 5]> = BTreeMap::new();
        for ((family, _), counts) in &self.0 {
            let sums = families.entry(*family).or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let mut lines = Vec::new();
        for (family, sums) in families {
            lines.push(line(family.name(), &sums));
            let kinds = self
                .0
                .iter()
                .filter(|((of, _), counts)| *of == family && counts[Outcome::Different as usize] > 0);
            lines.extend(kinds.map(|((_, kind), counts)| line(&format!("  {kind}"), counts)));
        }
        lines
    }
}

fn line(name: &str, [same, different, undecided, unstable, known]: &[usize; 5]) -> String {
    let decided = same + different;
    // In hundredths of a percent, rounded down: with a single difference it is never 100 %.
    let share = (same * 10_000).checked_div(decided).unwrap_or(10_000);
    let (percent, hundredths) = (share / 100, share % 100);
    format!(
        "{name:<34} {same} same, {different} different, {undecided} undecided, {unstable} unstable, \
         {known} known ({percent}.{hundredths:02} %)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_summed_and_only_kinds_with_differences_are_listed() {
        let mut report = Report::default();
        report.count(Family::Lists, "pods", Outcome::Same);
        report.count(Family::Lists, "pods", Outcome::Different);
        report.count(Family::Lists, "secrets", Outcome::Same);
        report.count(Family::Lists, "secrets", Outcome::Undecided);
        assert!(report.has_differences());
        let lines = report.lines();
        assert_eq!(lines.len(), 2);
        assert!(
            lines[0].starts_with("lists")
                && lines[0].ends_with("2 same, 1 different, 1 undecided, 0 unstable, 0 known (66.66 %)")
        );
        assert!(lines[1].starts_with("  pods") && lines[1].contains("1 same, 1 different"));
    }

    #[test]
    fn undecided_and_known_cases_are_no_differences() {
        let mut report = Report::default();
        report.count(Family::Lists, "pods", Outcome::Undecided);
        report.count(Family::Lists, "pods", Outcome::Unstable);
        report.count(Family::Lists, "pods", Outcome::Known);
        assert!(!report.has_differences());
    }
}
