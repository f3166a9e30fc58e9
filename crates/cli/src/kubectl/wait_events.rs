//! `wait` and `events`.

use clap::Args;
use gantry_kubectl::verbs::{EventsOptions, Goal, ResultPrinter, WaitOptions, WaitTimeout, events, wait};
use gantry_kubectl::{ClientContext, Failure, Selection};

use super::{SelectionFlags, duration};
use crate::cluster::ClusterFlags;

/// The flags of `wait`.
#[derive(Debug, Args)]
pub(crate) struct WaitFlags {
    /// Types and names: `TYPE NAME…`, `TYPE/NAME…`
    words: Vec<String>,
    /// The condition to wait for: create, delete, condition=NAME[=VALUE] or jsonpath='{PATH}'[=VALUE]
    #[arg(long = "for", value_name = "GOAL", default_value = "", hide_default_value = true)]
    goal: String,
    /// How long to wait; 0 to check once, negative for a week
    #[arg(long, value_parser = wait_timeout, default_value = "30s", allow_hyphen_values = true)]
    timeout: WaitTimeout,
    #[command(flatten)]
    selection: SelectionFlags,
    /// Only objects with these fields
    #[arg(long, value_name = "FIELDS")]
    field_selector: Option<String>,
    /// In all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// The output format: name, json, yaml, jsonpath=…
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<String>,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The flags of `events`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of kubectl's")]
pub(crate) struct EventsFlags {
    /// Only events about this object
    #[arg(long = "for", value_name = "TYPE/NAME")]
    about: Option<String>,
    /// Only events of these types: Normal, Warning
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    types: Vec<String>,
    /// In all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Watch for further events
    #[arg(short, long)]
    watch: bool,
    /// The output format: name, json, yaml, jsonpath=…
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<String>,
    /// Do not print the header
    #[arg(long)]
    no_headers: bool,
    /// Show managedFields
    #[arg(long)]
    show_managed_fields: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

impl WaitFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        let selection = Selection {
            fields: self.field_selector,
            all_namespaces: self.all_namespaces,
            // kubectl's `wait` always reads directories recursively.
            recursive: true,
            ..self.selection.selection(self.words)
        };
        let goal = Goal::parse(&self.goal)?;
        let printer = ResultPrinter { output: self.output, ..ResultPrinter::default() };
        wait(ctx, &WaitOptions { selection, goal, timeout: self.timeout, printer }).await
    }
}

impl EventsFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        let options = EventsOptions {
            about: self.about,
            types: self.types,
            all_namespaces: self.all_namespaces,
            watch: self.watch,
            output: self.output,
            no_headers: self.no_headers,
            managed_fields: self.show_managed_fields,
        };
        events(ctx, &options).await
    }
}

/// Parses --timeout: zero checks once, negative waits a week.
fn wait_timeout(text: &str) -> Result<WaitTimeout, String> {
    match text.strip_prefix('-') {
        Some(text) => duration(text).map(|_| WaitTimeout::WEEK),
        None => duration(text)
            .map(|limit| if limit.is_zero() { WaitTimeout::CheckOnce } else { WaitTimeout::AtMost(limit) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn zero_checks_once_and_negative_timeouts_are_a_week() {
        assert_eq!(wait_timeout("0s"), Ok(WaitTimeout::CheckOnce));
        assert_eq!(wait_timeout("-1s"), Ok(WaitTimeout::WEEK));
        assert_eq!(wait_timeout("1m30s"), Ok(WaitTimeout::AtMost(Duration::from_secs(90))));
        assert!(wait_timeout("soon").is_err() && wait_timeout("-soon").is_err());
    }
}
