//! The numbers of one run: as a table, as JSON to keep, and compared with an earlier run.

use super::measure::Cost;
use crate::failure::Failure;
use gantry_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The costs of all cases.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Report {
    costs: BTreeMap<String, Cost>,
}

impl Report {
    pub(super) fn add(&mut self, label: String, cost: Cost) {
        self.costs.insert(label, cost);
    }

    /// Reads a report that `save` wrote.
    pub(super) fn load(file: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::Failed(format!("cannot read {}: {error}", file.display())))?;
        Self::from_json(&text)
            .ok_or_else(|| Failure::Failed(format!("{} is not a saved benchmark report", file.display())))
    }

    /// Writes the report for a later comparison.
    pub(super) fn save(&self, file: &Path) -> Result<(), Failure> {
        std::fs::write(file, self.to_json())
            .map_err(|error| Failure::Failed(format!("cannot write {}: {error}", file.display())))
    }

    /// One line per case; with an earlier report, the ratio of now to then beside each number.
    pub(super) fn table(&self, earlier: Option<&Self>) -> String {
        let width = self.costs.keys().map(String::len).max().unwrap_or_default().max("case".len());
        let mut table = format!("{:<width$}  {:>14}  {:>16}", "case", "ns/iter", "instructions");
        if earlier.is_some() {
            table.push_str("   time ratio  instructions ratio");
        }
        table.push('\n');
        for (label, now) in &self.costs {
            let _ = write!(table, "{label:<width$}  {:>14.1}  {:>16.1}", now.nanoseconds, now.instructions);
            match earlier.map(|report| report.costs.get(label)) {
                None => {}
                Some(None) => table.push_str("   (not in the earlier run)"),
                Some(Some(then)) => {
                    let time = ratio(now.nanoseconds, then.nanoseconds);
                    let _ =
                        write!(table, "   {time:>10}  {:>18}", ratio(now.instructions, then.instructions));
                }
            }
            table.push('\n');
        }
        table
    }

    fn to_json(&self) -> String {
        let cases: BTreeMap<&String, Value> = self
            .costs
            .iter()
            .map(|(label, cost)| {
                let Cost { nanoseconds, instructions } = cost;
                let numbers =
                    json!({ "ns_per_iteration": nanoseconds, "instructions_per_iteration": instructions });
                (label, numbers)
            })
            .collect();
        format!("{:#}\n", json!({ "cases": cases }))
    }

    fn from_json(text: &str) -> Option<Self> {
        let value: Value = gantry_json::from_str(text).ok()?;
        let cases = value["cases"].as_object()?.iter();
        let costs = cases.map(|(label, numbers)| {
            let nanoseconds = numbers["ns_per_iteration"].as_f64()?;
            let instructions = numbers["instructions_per_iteration"].as_f64()?;
            Some((label.to_string(), Cost { nanoseconds, instructions }))
        });
        Some(Self { costs: costs.collect::<Option<_>>()? })
    }
}

fn ratio(now: f64, then: f64) -> String {
    if then > 0.0 { format!("{:.3}", now / then) } else { "-".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(nanoseconds: f64, instructions: f64) -> Report {
        Report { costs: BTreeMap::from([("decide/ten".to_owned(), Cost { nanoseconds, instructions })]) }
    }

    #[test]
    fn a_saved_report_is_read_back_as_it_was() {
        let report = report(812.5, 4_000.0);
        assert_eq!(Report::from_json(&report.to_json()), Some(report));
        assert_eq!(Report::from_json("{}"), None);
        assert_eq!(Report::from_json(r#"{"cases":{"a":{"ns_per_iteration":1}}}"#), None);
    }

    #[test]
    fn a_comparison_shows_the_ratio_of_now_to_then() {
        let table = report(1_000.0, 3_000.0).table(Some(&report(800.0, 4_000.0)));
        let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row, ["decide/ten", "1000.0", "3000.0", "1.250", "0.750"]);
    }

    #[test]
    fn a_case_without_an_earlier_run_is_reported() {
        let table = report(1.0, 1.0).table(Some(&Report::default()));
        assert!(table.contains("(not in the earlier run)"), "{table}");
    }

    #[test]
    fn a_run_alone_has_no_ratios() {
        let table = report(1.0, 2.0).table(None);
        assert!(!table.contains("ratio"), "{table}");
    }
}
