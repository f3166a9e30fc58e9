//! Plans as one self-contained HTML page: pictures, facts, warnings and steps.

use std::fmt::Write as _;

use crate::plan::RolloutPlan;
use crate::steps::{RolloutStep, condense};
use crate::svg::{self, Axes, escape};
use crate::time::span;
use crate::{compare, phrases, text};

/// The maximum number of steps in a table; more are merged.
const STEPS_MAX: usize = 60;

const STYLE: &str = "\
body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:#1f2937;background:#f3f4f6;margin:0;padding:24px}\
main{max-width:1008px;margin:auto}section{background:#fff;border:1px solid #e5e7eb;border-radius:8px;padding:24px;margin-bottom:24px}\
svg{display:block;width:100%;height:auto}h1{font-size:22px;margin:0 0 16px}h2{font-size:16px;margin:20px 0 8px}\
table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:left;padding:4px 12px 4px 0;border-bottom:1px solid #e5e7eb;\
vertical-align:top;font-variant-numeric:tabular-nums}th{color:#6b7280;font-weight:600}\
.warnings{background:#fef3f2;border-left:4px solid #b42318;padding:8px 16px;margin:16px 0}.warnings p{margin:4px 0}\
footer{color:#6b7280;font-size:13px}@media print{body{background:#fff;padding:0}section{break-inside:avoid;border:0}}";

/// The plans as a page. Variants of one Deployment are compared at the top.
pub fn render(plans: &[RolloutPlan]) -> String {
    let axes = Axes::of(plans);
    let mut page = String::new();
    let title = plans.first().map(phrases::title).unwrap_or_default();
    page.push_str("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    let _ = write!(
        page,
        "<title>{} - gantry plan</title><style>{STYLE}</style></head>\n<body><main>\n",
        escape(&title)
    );
    if plans.iter().any(|plan| !plan.variant.is_empty()) {
        page.push_str("<section><h1>Comparison</h1>\n");
        table(&mut page, &compare::rows(plans));
        page.push_str("</section>\n");
    }
    for plan in plans {
        section(&mut page, plan, axes);
    }
    page.push_str("<footer>Replayed in virtual time by <code>gantry plan</code>. Pods behave as assumed, not as yours will.</footer>\n");
    page.push_str("</main></body></html>\n");
    page
}

fn section(page: &mut String, plan: &RolloutPlan, axes: Axes) {
    page.push_str("<section>\n");
    page.push_str(&svg::render(plan, axes));
    if !plan.warnings.is_empty() {
        page.push_str("<div class=\"warnings\">");
        for warning in &plan.warnings {
            let _ = write!(page, "<p>{}</p>", escape(&warning.to_string()));
        }
        page.push_str("</div>\n");
    }
    page.push_str("<table>");
    for (title, fact) in text::facts(plan) {
        let _ = write!(page, "<tr><th>{title}</th><td>{}</td></tr>", escape(&fact));
    }
    page.push_str("</table>\n<h2>Steps</h2>\n");
    let steps = condense(&plan.steps(), STEPS_MAX);
    let mut rows = vec![text::header(plan)];
    rows.extend(steps.iter().map(|step: &RolloutStep| text::row(plan, step)));
    table(page, &rows);
    if plan.summary.complete_after.is_none() {
        let _ = write!(page, "<h2>Left after {}</h2>\n<p>", span(plan.observed_for));
        page.push_str(
            &phrases::left_over(plan).iter().map(|line| escape(line)).collect::<Vec<_>>().join("<br>"),
        );
        page.push_str("</p>\n");
    }
    page.push_str("</section>\n");
}

/// A table whose first row is its header.
fn table(page: &mut String, rows: &[Vec<String>]) {
    page.push_str("<table>");
    for (index, row) in rows.iter().enumerate() {
        let tag = if index == 0 { "th" } else { "td" };
        page.push_str("<tr>");
        for cell in row {
            let _ = write!(page, "<{tag}>{}</{tag}>", escape(cell));
        }
        page.push_str("</tr>");
    }
    page.push_str("</table>\n");
}
