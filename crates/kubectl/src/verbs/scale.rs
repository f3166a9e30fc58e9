//! `scale` (K4).

use std::time::Duration;

use serde_json::{Value, json};

use super::report::Report;
use crate::call::{Call, PatchKind};
use crate::failure::Failure;
use crate::field::{number, text};
use crate::selection::{BareType, Found, Selection, find_each};
use crate::session::Session;

/// What to scale, and to how many.
#[derive(Clone, Debug, Default)]
pub struct Scale {
    /// Which objects.
    pub selection: Selection,
    /// How many pods.
    pub replicas: i32,
    /// Only if there are so many now.
    pub current_replicas: Option<i32>,
    /// Only if it has this version now.
    pub resource_version: Option<String>,
    /// How long to wait until it has so many.
    pub timeout: Option<Duration>,
    /// How it is told.
    pub report: Report,
}

const MANAGER: &str = "kubectl-scale";
/// How long a write is tried that others get ahead of: every second, for five minutes.
const ATTEMPTS: usize = 300;

impl Scale {
    /// Reads the value of `--replicas`.
    pub fn replicas(value: Option<&str>) -> Result<i32, Failure> {
        let Some(value) = value else {
            return Err(Failure::other("required flag(s) \"replicas\" not set"));
        };
        let number: i32 = value.parse().map_err(|_| {
            Failure::other(format!(
                "invalid argument \"{value}\" for \"--replicas\" flag: strconv.ParseInt: parsing \"{value}\": invalid \
                 syntax\nSee 'kubectl scale --help' for usage."
            ))
        })?;
        if number < 0 {
            return Err(Failure::other(
                "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0",
            ));
        }
        Ok(number)
    }
}

/// Scales objects.
pub async fn scale(session: &mut Session, asked: &Scale) -> Result<(), Failure> {
    let found = find_each(session, &asked.selection, BareType::Mistake).await?;
    if found.is_empty() {
        return Err(Failure::other("no objects passed to scale"));
    }
    let mut failures = Vec::new();
    for one in found {
        let done = match one {
            Ok(one) => scale_one(session, asked, &one).await,
            Err(failure) => Err(failure),
        };
        failures.extend(done.err());
    }
    Failure::all(failures)
}

async fn scale_one(session: &mut Session, asked: &Scale, one: &Found) -> Result<(), Failure> {
    if !asked.report.dry_run.is_client() {
        if asked.current_replicas.is_some() || asked.resource_version.is_some() {
            replace(session, asked, one).await?;
        } else {
            let patch = json!({"spec": {"replicas": asked.replicas}});
            let call = Call::patch(format!("{}/scale", one.path()), PatchKind::Merge, &patch);
            session.ask(call.by(MANAGER, asked.report.dry_run)).await?;
        }
    }
    if let Some(limit) = asked.timeout {
        let reached = tokio::time::timeout(limit, until_reached(session, one)).await;
        reached.unwrap_or_else(|_| {
            Err(Failure::other(format!("timed out waiting for \"{}\" to be synced", one.name)))
        })?;
    }
    asked.report.tell(session, &one.title(), "scaled", &one.object)
}

/// Writes the scale that was read and is as expected.
async fn replace(session: &mut Session, asked: &Scale, one: &Found) -> Result<(), Failure> {
    let path = format!("{}/scale", one.path());
    for attempt in 1.. {
        let mut scale = session.ask(Call::get(path.as_str())).await?;
        check(asked, &scale)?;
        scale["spec"]["replicas"] = asked.replicas.into();
        match session.ask(Call::put(path.as_str(), &scale).by(MANAGER, asked.report.dry_run)).await {
            Err(failure) if failure.reason() == Some("Conflict") && attempt < ATTEMPTS => {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            other => return other.map(|_| ()),
        }
    }
    Ok(())
}

fn check(asked: &Scale, scale: &Value) -> Result<(), Failure> {
    let (replicas, version) = (number(scale, "/spec/replicas"), text(scale, "/metadata/resourceVersion"));
    match (asked.current_replicas, &asked.resource_version) {
        (Some(expected), _) if i64::from(expected) != replicas => {
            Err(Failure::other(format!("Expected replicas to be {expected}, was {replicas}")))
        }
        (_, Some(expected)) if expected != version => {
            Err(Failure::other(format!("Expected resource version to be {expected}, was {version}")))
        }
        _ => Ok(()),
    }
}

async fn until_reached(session: &mut Session, one: &Found) -> Result<(), Failure> {
    loop {
        let scale = session.ask(Call::get(format!("{}/scale", one.path()))).await?;
        if number(&scale, "/spec/replicas") == number(&scale, "/status/replicas") {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K4 table: what `--replicas` may say.
    #[test]
    fn replicas_are_a_count() {
        assert_eq!(Scale::replicas(Some("3")).unwrap(), 3);
        let told = |value| Scale::replicas(value).unwrap_err().lines();
        assert_eq!(told(None), "error: required flag(s) \"replicas\" not set\n");
        assert_eq!(
            told(Some("abc")),
            "error: invalid argument \"abc\" for \"--replicas\" flag: strconv.ParseInt: parsing \"abc\": invalid \
             syntax\nSee 'kubectl scale --help' for usage.\n"
        );
        assert_eq!(
            told(Some("-1")),
            "error: The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0\n"
        );
    }

    /// K4 table: expectations that do not hold.
    #[test]
    fn expectations_are_checked() {
        let scale = json!({"spec": {"replicas": 5}, "metadata": {"resourceVersion": "366"}});
        let count = Scale { current_replicas: Some(3), ..Scale::default() };
        assert_eq!(check(&count, &scale).unwrap_err().lines(), "error: Expected replicas to be 3, was 5\n");
        let version = Scale { resource_version: Some("1".into()), ..Scale::default() };
        assert_eq!(
            check(&version, &scale).unwrap_err().lines(),
            "error: Expected resource version to be 1, was 366\n"
        );
    }
}
