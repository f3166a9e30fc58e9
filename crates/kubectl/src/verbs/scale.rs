//! `scale` (K4).

use std::time::Duration;

use gantry_client::{ApiRequest, PatchForm, RefusalKind};
use gantry_json::{Value, json};

use super::result_printer::ResultPrinter;
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::{number, text};
use crate::selection::{BareType, FoundObject, Selection, find_each, for_each};
use crate::verbs::result_printer::WriteParameters as _;

/// The options of `scale`.
#[derive(Clone, Debug, Default)]
pub struct ScaleOptions {
    /// The objects.
    pub selection: Selection,
    /// The number of replicas.
    pub replicas: i32,
    /// The expected current number of replicas.
    pub current_replicas: Option<i32>,
    /// The expected current resource version.
    pub resource_version: Option<String>,
    /// How long to wait until the new number is reached.
    pub timeout: Option<Duration>,
    /// How results are printed.
    pub printer: ResultPrinter,
}

const MANAGER: &str = "kubectl-scale";
/// The attempts of a write that conflicts with others: one per second, for five minutes.
const ATTEMPTS: usize = 300;

impl ScaleOptions {
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
pub async fn scale(ctx: &mut ClientContext, options: &ScaleOptions) -> Result<(), Failure> {
    let found = find_each(ctx, &options.selection, BareType::Error).await?;
    if found.is_empty() {
        return Err(Failure::other("no objects passed to scale"));
    }
    for_each(ctx, found, async |ctx, one| scale_one(ctx, options, &one).await).await
}

async fn scale_one(
    ctx: &mut ClientContext,
    options: &ScaleOptions,
    one: &FoundObject,
) -> Result<(), Failure> {
    if !options.printer.dry_run.is_client() {
        if options.current_replicas.is_some() || options.resource_version.is_some() {
            replace(ctx, options, one).await?;
        } else {
            let patch = json!({"spec": {"replicas": options.replicas}});
            let call = ApiRequest::patch(format!("{}/scale", one.path()), PatchForm::JsonMerge, &patch);
            ctx.request(call.by(MANAGER, options.printer.dry_run)).await?;
        }
    }
    if let Some(limit) = options.timeout {
        let reached = tokio::time::timeout(limit, until_reached(ctx, one)).await;
        reached.unwrap_or_else(|_| {
            Err(Failure::other(format!("timed out waiting for \"{}\" to be synced", one.name)))
        })?;
    }
    options.printer.print(ctx, &one.title(), "scaled", &one.object)
}

/// Writes the scale if its current values are as expected.
async fn replace(ctx: &mut ClientContext, options: &ScaleOptions, one: &FoundObject) -> Result<(), Failure> {
    let path = format!("{}/scale", one.path());
    for attempt in 1.. {
        let mut scale = ctx.request(ApiRequest::get(path.as_str())).await?;
        check(options, &scale)?;
        scale["spec"]["replicas"] = options.replicas.into();
        match ctx.request(ApiRequest::put(path.as_str(), &scale).by(MANAGER, options.printer.dry_run)).await {
            Err(failure) if failure.kind() == Some(RefusalKind::Conflict) && attempt < ATTEMPTS => {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            other => return other.map(|_| ()),
        }
    }
    Ok(())
}

fn check(options: &ScaleOptions, scale: &Value) -> Result<(), Failure> {
    let (replicas, version) = (number(scale, "/spec/replicas"), text(scale, "/metadata/resourceVersion"));
    match (options.current_replicas, &options.resource_version) {
        (Some(expected), _) if i64::from(expected) != replicas => {
            Err(Failure::other(format!("Expected replicas to be {expected}, was {replicas}")))
        }
        (_, Some(expected)) if expected != version => {
            Err(Failure::other(format!("Expected resource version to be {expected}, was {version}")))
        }
        _ => Ok(()),
    }
}

async fn until_reached(ctx: &mut ClientContext, one: &FoundObject) -> Result<(), Failure> {
    loop {
        let scale = ctx.request(ApiRequest::get(format!("{}/scale", one.path()))).await?;
        if number(&scale, "/spec/replicas") == number(&scale, "/status/replicas") {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K4 table: values of `--replicas`.
    #[test]
    fn replicas_are_a_count() {
        assert_eq!(ScaleOptions::replicas(Some("3")).unwrap(), 3);
        let rendered = |value| ScaleOptions::replicas(value).unwrap_err().lines();
        assert_eq!(rendered(None), "error: required flag(s) \"replicas\" not set\n");
        assert_eq!(
            rendered(Some("abc")),
            "error: invalid argument \"abc\" for \"--replicas\" flag: strconv.ParseInt: parsing \"abc\": invalid \
             syntax\nSee 'kubectl scale --help' for usage.\n"
        );
        assert_eq!(
            rendered(Some("-1")),
            "error: The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0\n"
        );
    }

    /// K4 table: preconditions that fail.
    #[test]
    fn expectations_are_checked() {
        let scale = json!({"spec": {"replicas": 5}, "metadata": {"resourceVersion": "366"}});
        let count = ScaleOptions { current_replicas: Some(3), ..ScaleOptions::default() };
        assert_eq!(check(&count, &scale).unwrap_err().lines(), "error: Expected replicas to be 3, was 5\n");
        let version = ScaleOptions { resource_version: Some("1".into()), ..ScaleOptions::default() };
        assert_eq!(
            check(&version, &scale).unwrap_err().lines(),
            "error: Expected resource version to be 1, was 366\n"
        );
    }
}
