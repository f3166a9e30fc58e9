//! `wait` and `events`: what becomes of objects in the course of time.

use clap::Args;
use gantry_kubectl::verbs::{Events, Goal, Patience, Report, Wait, events, wait};
use gantry_kubectl::{Failure, Selection, Session};

use super::{SelectionFlags, duration};
use crate::cluster::ClusterFlags;

/// The flags of `wait`.
#[derive(Debug, Args)]
pub(crate) struct WaitFlags {
    /// Types and names: `TYPE NAME…`, `TYPE/NAME…`
    words: Vec<String>,
    /// What to wait for: create, delete, condition=NAME[=VALUE] or jsonpath='{PATH}'[=VALUE]
    #[arg(long = "for", value_name = "GOAL", default_value = "", hide_default_value = true)]
    goal: String,
    /// How long to wait; 0 to look once, negative for a week
    #[arg(long, value_parser = patience, default_value = "30s", allow_hyphen_values = true)]
    timeout: Patience,
    #[command(flatten)]
    selection: SelectionFlags,
    /// Only objects with these fields
    #[arg(long, value_name = "FIELDS")]
    field_selector: Option<String>,
    /// In all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// How to print what came of it: name, json, yaml, jsonpath=…
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
    /// Go on with what happens
    #[arg(short, long)]
    watch: bool,
    /// How to print: name, json, yaml, jsonpath=…
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<String>,
    /// Leave out the header
    #[arg(long)]
    no_headers: bool,
    /// Show who wrote which field
    #[arg(long)]
    show_managed_fields: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

impl WaitFlags {
    pub(super) async fn run(self, session: &mut Session) -> Result<(), Failure> {
        let selection = Selection {
            fields: self.field_selector,
            all_namespaces: self.all_namespaces,
            // Unlike elsewhere, that is what kubectl does here.
            recursive: true,
            ..self.selection.selection(self.words)
        };
        let goal = Goal::parse(&self.goal)?;
        let report = Report { output: self.output, ..Report::default() };
        wait(session, &Wait { selection, goal, patience: self.timeout, report }).await
    }
}

impl EventsFlags {
    pub(super) async fn run(self, session: &mut Session) -> Result<(), Failure> {
        let asked = Events {
            about: self.about,
            types: self.types,
            all_namespaces: self.all_namespaces,
            watch: self.watch,
            output: self.output,
            no_headers: self.no_headers,
            managed_fields: self.show_managed_fields,
        };
        events(session, &asked).await
    }
}

/// How long to wait: zero is not at all, and whoever has less than no time has a week.
fn patience(text: &str) -> Result<Patience, String> {
    match text.strip_prefix('-') {
        Some(text) => duration(text).map(|_| Patience::A_WEEK),
        None => duration(text)
            .map(|limit| if limit.is_zero() { Patience::LookOnce } else { Patience::AtMost(limit) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn no_time_is_one_look_and_less_is_a_week() {
        assert_eq!(patience("0s"), Ok(Patience::LookOnce));
        assert_eq!(patience("-1s"), Ok(Patience::A_WEEK));
        assert_eq!(patience("1m30s"), Ok(Patience::AtMost(Duration::from_secs(90))));
        assert!(patience("soon").is_err() && patience("-soon").is_err());
    }
}
