//! Lines of logs in CRI's format: time, stream, tag, text.

use gantry_model::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

/// The lines of a log that a client requests, and their format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSelection {
    pub(super) follow: bool,
    /// Whether the log of the container before the last restart is requested.
    pub previous: bool,
    pub(super) timestamps: bool,
    pub(super) since: Option<Timestamp>,
    pub(super) tail: Option<usize>,
    pub(super) limit_bytes: Option<usize>,
    /// `stdout` or `stderr`; both if `None`.
    pub(super) stream: Option<&'static str>,
}

impl LogSelection {
    /// Parses the query of a request; an error names the parameter.
    pub fn parse(query: &[(String, String)], now: Timestamp) -> Result<Self, String> {
        let mut options = Self::default();
        for (name, value) in query {
            let wrong = || format!("{name}: {value:?} is not valid");
            let number = || value.parse::<u64>().map_err(|_| wrong());
            let is_set = matches!(value.as_str(), "true" | "1");
            match name.as_str() {
                "follow" => options.follow = is_set,
                "previous" => options.previous = is_set,
                "timestamps" => options.timestamps = is_set,
                "tailLines" => options.tail = Some(usize::try_from(number()?).unwrap_or(usize::MAX)),
                "limitBytes" => options.limit_bytes = Some(usize::try_from(number()?).unwrap_or(usize::MAX)),
                "sinceSeconds" => {
                    options.since = Some(now.minus(std::time::Duration::from_secs(number()?)));
                }
                "sinceTime" => options.since = Some(time(value).ok_or_else(wrong)?),
                "stream" => {
                    options.stream = match value.as_str() {
                        "Stdout" => Some("stdout"),
                        "Stderr" => Some("stderr"),
                        _ => None,
                    }
                }
                _ => {}
            }
        }
        Ok(options)
    }

    /// Returns the selected lines of a complete log in the requested format.
    pub fn select(&self, log: &str) -> String {
        let shown = self.shown(&log[self.tail_start(log)..]);
        limited(shown, self.limit_bytes.unwrap_or(usize::MAX))
    }

    /// Returns the selected lines of a part of a log in the requested format.
    pub(super) fn shown(&self, part: &str) -> String {
        part.lines().filter_map(|line| self.rendered(line)).collect()
    }

    /// Returns a line in the requested format; `None` if it is not selected.
    fn rendered(&self, line: &str) -> Option<String> {
        let mut parts = line.splitn(4, ' ');
        let (stamp, stream, tag) = (parts.next()?, parts.next()?, parts.next()?);
        let text = parts.next().unwrap_or_default();
        if self.stream.is_some_and(|wanted| wanted != stream) {
            return None;
        }
        if self.since.is_some_and(|since| time(stamp).is_none_or(|at| at < since)) {
            return None;
        }
        let end = if tag.starts_with('P') { "" } else { "\n" };
        Some(if self.timestamps { format!("{stamp} {text}{end}") } else { format!("{text}{end}") })
    }

    /// Returns the start of the last lines of a text that `tail` selects. Parts of a line count as one.
    pub(super) fn tail_start(&self, text: &str) -> usize {
        let Some(tail) = self.tail else { return 0 };
        let mut starts = Vec::new();
        let (mut at, mut continues) = (0, false);
        for line in text.split_inclusive('\n') {
            let tag = line.split(' ').nth(2).unwrap_or_default();
            if !continues && self.rendered(line.trim_end_matches('\n')).is_some() {
                starts.push(at);
            }
            continues = tag.starts_with('P');
            at += line.len();
        }
        match starts.len().checked_sub(tail) {
            Some(_) if tail == 0 => text.len(),
            Some(skipped) => starts.get(skipped).copied().unwrap_or(0),
            None => 0,
        }
    }
}

/// Cuts a text at this size, between two characters.
pub(super) fn limited(mut text: String, bytes_max: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

fn time(text: &str) -> Option<Timestamp> {
    let time: Time = gantry_json::from_value(gantry_json::Value::from(text)).ok()?;
    Some(Timestamp::parse(&time))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "2026-01-01T00:00:00.5Z stdout F one\n2026-01-01T00:00:01.0Z stdout P tw\n\
                       2026-01-01T00:00:01.1Z stdout F o\n2026-01-01T00:00:02Z stderr F three\n";

    fn shown(query: &[(&str, &str)]) -> String {
        let query: Vec<_> =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let now = time("2026-01-01T00:00:03Z").unwrap();
        let options = LogSelection::parse(&query, now).unwrap();
        options.select(LOG)
    }

    #[test]
    fn lines_are_selected() {
        assert_eq!(shown(&[]), "one\ntwo\nthree\n");
        assert_eq!(shown(&[("tailLines", "2")]), "two\nthree\n");
        assert_eq!(shown(&[("tailLines", "0")]), "");
        assert_eq!(shown(&[("tailLines", "9")]), "one\ntwo\nthree\n");
        assert_eq!(shown(&[("sinceSeconds", "1")]), "three\n");
        assert_eq!(shown(&[("sinceTime", "2026-01-01T00:00:01Z")]), "two\nthree\n");
        assert_eq!(shown(&[("stream", "Stderr")]), "three\n");
        assert_eq!(shown(&[("timestamps", "true"), ("tailLines", "1")]), "2026-01-01T00:00:02Z three\n");
    }

    #[test]
    fn an_invalid_parameter_is_reported() {
        let query = [("tailLines".to_owned(), "x".to_owned())];
        assert_eq!(
            LogSelection::parse(&query, Timestamp::EPOCH),
            Err("tailLines: \"x\" is not valid".to_owned())
        );
    }
}
