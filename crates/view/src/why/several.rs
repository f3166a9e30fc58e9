//! Several rollouts: a table of all, the details of those that are not done, and the worst verdict.

use gantry_json::json;

use super::json;
use super::report::{Report, Verdict};
use super::text;
use crate::span::{Line, Style};

/// The reports of several Deployments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Several {
    /// One for each Deployment.
    pub reports: Vec<Report>,
    /// Whether they may be in different namespaces.
    pub all_namespaces: bool,
}

/// The column separator.
const GAP: &str = "   ";

impl Several {
    /// The most important verdict: stuck, then moving, then paused; done if all are.
    pub fn verdict(&self) -> Verdict {
        let rank = |verdict: Verdict| match verdict {
            Verdict::Done => 0,
            Verdict::Paused => 1,
            Verdict::Moving => 2,
            Verdict::Stuck => 3,
        };
        let verdicts = self.reports.iter().map(|report| report.verdict);
        verdicts.max_by_key(|verdict| rank(*verdict)).unwrap_or(Verdict::Done)
    }

    /// All reports as one JSON object, indented, with a newline.
    pub fn render_json(&self) -> String {
        let deployments: Vec<_> = self.reports.iter().map(json::value).collect();
        format!("{:#}\n", json!({"verdict": self.verdict().as_str(), "deployments": deployments}))
    }

    /// All reports as text, for pipes and files.
    pub fn render_text(&self) -> String {
        self.lines(None).iter().map(|line| line.text().trim_end().to_owned() + "\n").collect()
    }

    /// The table, then the details of those that are not done. Rows of the table are truncated to the terminal's
    /// width: the details have the rest.
    pub fn lines(&self, columns: Option<usize>) -> Vec<Line> {
        let table = self.table();
        let fitted = table.into_iter().map(|line| match columns {
            Some(columns) => line.cut(columns),
            None => line,
        });
        let mut lines: Vec<_> = fitted.collect();
        for report in self.reports.iter().filter(|report| report.verdict != Verdict::Done) {
            lines.push(Line::default());
            let title = if self.all_namespaces {
                format!("{} in namespace {}", report.title(), report.deployment.namespace)
            } else {
                report.title()
            };
            lines.extend(text::titled(report, &title, columns));
        }
        lines
    }

    fn table(&self) -> Vec<Line> {
        let header = ["NAMESPACE", "DEPLOYMENT", "VERDICT", "AVAILABLE"].map(str::to_owned);
        let rows = self.reports.iter().map(|report| {
            let key = &report.deployment;
            let available = format!("{}/{}", report.pods.available, report.pods.wanted);
            [key.namespace.to_string(), key.name.to_string(), report.verdict.as_str().to_owned(), available]
        });
        let rows: Vec<_> = std::iter::once(header).chain(rows).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let shown = if self.all_namespaces { 0..4 } else { 1..4 };
        let line = |(index, row): (usize, &[String; 4])| {
            let report = index.checked_sub(1).and_then(|index| self.reports.get(index));
            let mut line = Line::default();
            for column in shown.clone() {
                let style = match (report, column) {
                    (None, _) => Style::Dim,
                    (Some(report), 2) => report.verdict.style(),
                    (Some(_), _) => Style::Plain,
                };
                line.push(style, &format!("{:1$}{GAP}", row[column], width(column)));
            }
            match report {
                Some(report) => line.with(Style::Plain, &report.headline),
                None => line.with(Style::Dim, "WHY"),
            }
        };
        rows.iter().enumerate().map(line).collect()
    }
}
