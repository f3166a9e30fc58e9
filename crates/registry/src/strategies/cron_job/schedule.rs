//! Parses schedules such as `*/5 * * * *`.

use gantry_formats::duration;

use super::validation::is_time_zone;

/// Minute, hour, day of the month, month, day of the week.
const RANGES: [(u32, u32); 5] = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const DESCRIPTORS: [&str; 7] =
    ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Returns the error in a schedule.
pub(crate) fn parse(schedule: &str) -> Result<(), String> {
    // Another rule reports a time zone in the schedule.
    let schedule = match schedule.split_once(' ') {
        Some((zone, rest)) => match zone.strip_prefix("TZ=").or(zone.strip_prefix("CRON_TZ=")) {
            Some(zone) if zone == "Local" || is_time_zone(zone) => rest.trim(),
            Some(zone) => return Err(format!("provided bad location {zone}: unknown time zone {zone}")),
            None => schedule,
        },
        None => schedule,
    };
    if let Some(text) = schedule.strip_prefix("@every ") {
        return match duration::parse(text) {
            Ok(_) => Ok(()),
            Err(why) => Err(format!("failed to parse duration {schedule}: {why}")),
        };
    }
    if schedule.starts_with('@') {
        return if DESCRIPTORS.contains(&schedule) {
            Ok(())
        } else {
            Err(format!("unrecognized descriptor: {schedule}"))
        };
    }
    let fields: Vec<_> = schedule.split_whitespace().collect();
    if fields.len() != RANGES.len() {
        let listed = fields.join(" ");
        return Err(format!("expected exactly 5 fields, found {}: [{listed}]", fields.len()));
    }
    for (index, field) in fields.into_iter().enumerate() {
        for part in field.split(',') {
            range(part, index)?;
        }
    }
    Ok(())
}

fn range(part: &str, index: usize) -> Result<(), String> {
    let (least, most) = RANGES[index];
    let mut slashes = part.split('/');
    let bounds: Vec<_> = slashes.next().unwrap_or("").split('-').collect();
    let step = slashes.next();
    if slashes.next().is_some() {
        return Err(format!("too many slashes: {part}"));
    }
    let (start, end) = match bounds.as_slice() {
        ["*" | "?"] => (least, most),
        [only] if step.is_some() => (value(only, index)?, most),
        [only] => (value(only, index)?, value(only, index)?),
        [low, high] => (value(low, index)?, value(high, index)?),
        _ => return Err(format!("too many hyphens: {part}")),
    };
    let step = step.map_or(Ok(1), number)?;
    if start < least {
        return Err(format!("beginning of range ({start}) below minimum ({least}): {part}"));
    }
    if end > most {
        return Err(format!("end of range ({end}) above maximum ({most}): {part}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {part}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {part}"));
    }
    Ok(())
}

fn value(word: &str, index: usize) -> Result<u32, String> {
    let (names, first): (&[&str], u32) = match index {
        3 => (&MONTHS, 1),
        4 => (&DAYS, 0),
        _ => (&[], 0),
    };
    let position = names.iter().position(|name| name.eq_ignore_ascii_case(word));
    match position.and_then(|place| u32::try_from(place).ok()) {
        Some(place) => Ok(place + first),
        None => number(word),
    }
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| {
        format!("failed to parse int from {word}: strconv.Atoi: parsing \"{word}\": invalid syntax")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_have_five_fields_in_range() {
        for good in ["*/5 * * * *", "0 0 1 jan sun", "1-5,7 8-10/2 ? * 1", "@daily", "@every 5m"] {
            assert_eq!(parse(good), Ok(()), "{good}");
        }
        for bad in [
            "x",
            "60 * * * *",
            "* * 0 * *",
            "5-1 * * * *",
            "*/0 * * * *",
            "* * * * x",
            "@never",
            "1/2/3 * * * *",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert_eq!(parse("x").unwrap_err(), "expected exactly 5 fields, found 1: [x]");
    }
}
