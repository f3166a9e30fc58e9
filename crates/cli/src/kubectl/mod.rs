//! kubectl's verbs: parses flags and calls `gantry-kubectl`.

mod change_cause;
mod diff;
mod discovery_commands;
mod fail_when_stuck;
mod get_describe;
mod label_annotate;
mod pod_streams;
mod rollout;
mod standard_input;
mod wait_events;
mod write;

use std::io;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use gantry_kubectl::verbs::{DryRun, ResultPrinter};
use gantry_kubectl::{ClientContext, Failure, ImplicitContext, OutputStreams, Selection};
use gantry_primitives::Timestamp;

pub(crate) use rollout::RolloutVerb;

use crate::cluster::{self, ClusterFlags};
use crate::output::print_stderr;
use diff::DiffFlags;
use discovery_commands::{ApiResourcesFlags, ExplainFlags, VersionFlags};
use get_describe::{DescribeFlags, GetFlags};
use label_annotate::LabelAnnotateFlags;
use pod_streams::{AttachFlags, CopyFlags, ExecFlags, LogsFlags, PortForwardFlags};
use wait_events::{EventsFlags, WaitFlags};
use write::{ApplyFlags, CreateFlags, DeleteFlags, PatchFlags, ReplaceFlags, ScaleFlags, SetCommand};

/// kubectl's verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show objects
    #[command(after_help = "Example:\n  gantry get deployments,rs,pods -o wide\n  gantry get pods -A -w")]
    Get(#[command(flatten)] GetFlags),
    /// Show details of objects, with their events
    #[command(after_help = "Example:\n  gantry describe deployment web")]
    Describe(#[command(flatten)] DescribeFlags),
    /// Describe the fields of a resource type
    #[command(
        after_help = "Example:\n  gantry explain deployment.spec.strategy\n  gantry explain pod --recursive"
    )]
    Explain(#[command(flatten)] ExplainFlags),
    /// List the resource types of the server
    #[command(after_help = "Example:\n  gantry api-resources --namespaced=true -o wide")]
    ApiResources(#[command(flatten)] ApiResourcesFlags),
    /// Print the versions of this client and of the server
    #[command(after_help = "Example:\n  gantry version\n  gantry version --client -o json")]
    Version(#[command(flatten)] VersionFlags),
    /// Create objects from manifests, or by name
    #[command(
        after_help = "Example:\n  gantry create -f web.yaml --context gantry\n  gantry create deployment web --image=nginx:1 --replicas=3 --context gantry"
    )]
    Create(#[command(flatten)] CreateFlags),
    /// Apply manifests to the cluster
    #[command(
        after_help = "Example:\n  gantry apply -f web.yaml --context gantry\n  cat web.yaml | gantry apply --server-side -f - --context gantry"
    )]
    Apply(#[command(flatten)] ApplyFlags),
    /// Replace objects by those of manifests
    #[command(after_help = "Example:\n  gantry replace -f web.yaml --context gantry")]
    Replace(#[command(flatten)] ReplaceFlags),
    /// Delete objects
    #[command(
        after_help = "Example:\n  gantry delete deployment web --context gantry\n  gantry delete -f web.yaml --cascade=orphan --context gantry"
    )]
    Delete(#[command(flatten)] DeleteFlags),
    /// Set the number of replicas of a workload
    #[command(
        after_help = "Example:\n  gantry scale deployment/web --replicas=5 --context gantry",
        allow_negative_numbers = true
    )]
    Scale(#[command(flatten)] ScaleFlags),
    /// Set single fields of objects
    #[command(
        subcommand,
        after_help = "Example:\n  gantry set image deployment/web nginx=nginx:1.9.1 --context gantry"
    )]
    Set(SetCommand),
    /// Patch fields of objects
    #[command(
        after_help = "Example:\n  gantry patch deployment web -p '{\"spec\":{\"minReadySeconds\":5}}' --context gantry"
    )]
    Patch(#[command(flatten)] PatchFlags),
    /// Set or remove labels of objects
    #[command(
        after_help = "Example:\n  gantry label deployment web tier=gold --context gantry\n  gantry label deployment web tier- --context gantry"
    )]
    Label(#[command(flatten)] LabelAnnotateFlags),
    /// Set or remove annotations of objects
    #[command(
        after_help = "Example:\n  gantry annotate deployment web kubernetes.io/change-cause='new image' --context gantry"
    )]
    Annotate(#[command(flatten)] LabelAnnotateFlags),
    /// Show what applying manifests would change
    ///
    /// The differences are shown by the program in KUBECTL_EXTERNAL_DIFF, or by `diff -u -N`.
    #[command(after_help = DIFF_EXAMPLE)]
    Diff(#[command(flatten)] DiffFlags),
    /// Wait until objects are created, deleted, or meet a condition
    #[command(
        after_help = "Example:\n  gantry wait deployment/web --for=condition=Available --timeout=2m\n  gantry wait pods -l app=web --for=delete\n  gantry wait deployment/web --for=jsonpath='{.status.readyReplicas}'=3"
    )]
    Wait(#[command(flatten)] WaitFlags),
    /// List events
    #[command(
        after_help = "Example:\n  gantry events --for deployment/web\n  gantry events -A --types=Warning -w"
    )]
    Events(#[command(flatten)] EventsFlags),
    /// Print the logs of containers
    #[command(after_help = LOGS_EXAMPLE)]
    Logs(#[command(flatten)] Box<LogsFlags>),
    /// Run a command in a container
    #[command(
        after_help = "Example:\n  gantry exec web-5d4f -- ls /\n  gantry exec -it deploy/web -c nginx -- sh"
    )]
    Exec(#[command(flatten)] ExecFlags),
    /// Connect with the process in a container
    #[command(after_help = "Example:\n  gantry attach web-5d4f\n  gantry attach -it deploy/web -c shell")]
    Attach(#[command(flatten)] AttachFlags),
    /// Forward local ports to a pod
    #[command(after_help = PORT_FORWARD_EXAMPLE)]
    PortForward(#[command(flatten)] PortForwardFlags),
    /// Copy files to and from containers
    ///
    /// It needs `tar` in the container. Symbolic links are not copied from a container.
    #[command(
        after_help = "Example:\n  gantry cp site web-5d4f:/usr/share/nginx/html\n  gantry cp shop/web-5d4f:/etc/nginx nginx -c nginx"
    )]
    Cp(#[command(flatten)] CopyFlags),
}

const LOGS_EXAMPLE: &str = "\
Example:
  gantry logs web-5d4f
  gantry logs -f deploy/web --tail=20
  gantry logs -l app=web --all-containers --prefix
  gantry logs --previous web-5d4f -c nginx";

const PORT_FORWARD_EXAMPLE: &str = "\
Example:
  gantry port-forward web-5d4f 8080:80
  gantry port-forward service/web 8443:https
  gantry port-forward deploy/web :80";

const DIFF_EXAMPLE: &str = "\
Exit codes:
  0  no differences
  1  differences
  2  an error

Example:
  gantry diff -f web.yaml
  cat web.yaml | gantry diff --server-side -f -";

/// The flags that select objects.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SelectionFlags {
    /// A manifest file, a directory of them, or `-` for standard input
    #[arg(short, long, value_name = "FILE", value_delimiter = ',')]
    filename: Vec<String>,
    /// Read directories recursively
    #[arg(short = 'R', long)]
    recursive: bool,
    /// Only objects with these labels, such as app=web
    #[arg(short = 'l', long, value_name = "LABELS")]
    selector: Option<String>,
    /// All objects of the type in the namespace
    #[arg(long)]
    all: bool,
}

/// The output flags of writes.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ResultFlags {
    /// The output format: name, json, yaml, jsonpath=…
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<String>,
    /// Do not persist changes: client (send nothing), server (send as a dry run), or none
    #[arg(long, value_name = "WHERE", num_args = 0..=1, default_missing_value = "client", require_equals = true)]
    dry_run: Option<String>,
    /// Show managedFields
    #[arg(long)]
    show_managed_fields: bool,
}

impl SelectionFlags {
    fn selection(&self, words: Vec<String>) -> Selection {
        Selection {
            words,
            files: self.filename.clone(),
            recursive: self.recursive,
            selector: self.selector.clone(),
            all: self.all,
            ..Selection::default()
        }
    }
}

impl ResultFlags {
    fn printer(&self) -> Result<ResultPrinter, Failure> {
        let printer = ResultPrinter::with(self.output.clone(), DryRun::parse(self.dry_run.as_deref())?)?;
        Ok(ResultPrinter { managed_fields: self.show_managed_fields, ..printer })
    }
}

impl Verb {
    /// Runs the verb; connection flags before it apply too.
    pub(crate) fn run(self, before: &ClusterFlags) -> ExitCode {
        let cluster = self.cluster().clone();
        let failed = match &self {
            Self::Diff(_) => ExitCode::from(diff::FAILED),
            _ => ExitCode::FAILURE,
        };
        match self {
            Self::Version(flags) if flags.client => flags.print_client_version(),
            verb => with_exit_code(&cluster, before, failed, async |ctx| verb.play(ctx).await),
        }
    }

    async fn play(self, ctx: &mut ClientContext) -> Result<ExitCode, Failure> {
        match self {
            Self::Diff(flags) => return flags.run(ctx).await,
            Self::Exec(flags) => return flags.run(ctx).await,
            Self::Attach(flags) => return flags.run(ctx).await,
            Self::Cp(flags) => return flags.run(ctx).await,
            Self::Get(flags) => flags.run(ctx).await?,
            Self::Describe(flags) => flags.run(ctx).await?,
            Self::Explain(flags) => flags.run(ctx).await?,
            Self::ApiResources(flags) => flags.run(ctx).await?,
            Self::Version(flags) => flags.run(ctx).await?,
            Self::Create(flags) => flags.run(ctx).await?,
            Self::Apply(flags) => flags.run(ctx).await?,
            Self::Replace(flags) => flags.run(ctx).await?,
            Self::Delete(flags) => flags.run(ctx).await?,
            Self::Scale(flags) => flags.run(ctx).await?,
            Self::Set(SetCommand::Image(flags)) => flags.run(ctx).await?,
            Self::Patch(flags) => flags.run(ctx).await?,
            Self::Label(flags) => flags.label(ctx).await?,
            Self::Annotate(flags) => flags.annotate(ctx).await?,
            Self::Wait(flags) => flags.run(ctx).await?,
            Self::Events(flags) => flags.run(ctx).await?,
            Self::Logs(flags) => flags.run(ctx).await?,
            Self::PortForward(flags) => flags.run(ctx).await?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn cluster(&self) -> &ClusterFlags {
        match self {
            Self::Get(flags) => &flags.cluster,
            Self::Describe(flags) => &flags.cluster,
            Self::Explain(flags) => &flags.cluster,
            Self::ApiResources(flags) => &flags.cluster,
            Self::Version(flags) => &flags.cluster,
            Self::Create(flags) => flags.cluster(),
            Self::Apply(flags) => &flags.cluster,
            Self::Replace(flags) => &flags.cluster,
            Self::Delete(flags) => &flags.cluster,
            Self::Scale(flags) => &flags.cluster,
            Self::Set(SetCommand::Image(flags)) => &flags.cluster,
            Self::Patch(flags) => &flags.cluster,
            Self::Label(flags) | Self::Annotate(flags) => &flags.cluster,
            Self::Diff(flags) => &flags.cluster,
            Self::Wait(flags) => &flags.cluster,
            Self::Events(flags) => &flags.cluster,
            Self::Logs(flags) => &flags.cluster,
            Self::Exec(flags) => &flags.cluster,
            Self::Attach(flags) => &flags.cluster,
            Self::PortForward(flags) => &flags.cluster,
            Self::Cp(flags) => &flags.cluster,
        }
    }
}

/// Runs a verb with a client context, and prints its failure.
fn with_client_context(
    flags: &ClusterFlags,
    before: &ClusterFlags,
    work: impl AsyncFnOnce(&mut ClientContext) -> Result<(), Failure>,
) -> ExitCode {
    with_exit_code(flags, before, ExitCode::FAILURE, async |ctx| work(ctx).await.map(|()| ExitCode::SUCCESS))
}

/// Runs a verb that returns its own exit code; `failed` is the exit code of failures.
fn with_exit_code(
    flags: &ClusterFlags,
    before: &ClusterFlags,
    failed: ExitCode,
    work: impl AsyncFnOnce(&mut ClientContext) -> Result<ExitCode, Failure>,
) -> ExitCode {
    let flags = flags.clone().or(before);
    cluster::run(async {
        let done = async {
            let connection = flags.connection()?;
            let (client, server) = connection.open().await?;
            let streams = OutputStreams { out: Box::new(io::stdout()), err: Box::new(io::stderr()) };
            let notice = connection.by_default()?.map(|chosen| by_default(&chosen, &server));
            let ctx = ClientContext::new(client, server, streams, now).with_change_notice(notice);
            let mut ctx = match &flags.namespace {
                Some(namespace) => ctx.in_namespace(namespace),
                None => ctx,
            };
            work(&mut ctx).await
        };
        match done.await {
            Ok(code) => code,
            Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
            Err(failure) => {
                print_failure(&failure);
                failed
            }
        }
    })
}

/// The notice which cluster is changed, if none was named.
fn by_default(chosen: &ImplicitContext, server: &str) -> String {
    match &chosen.context {
        Some((context, file)) => format!("Using context \"{context}\" of {}: {server}", file.display()),
        None => format!("Using the cluster of this pod: {server}"),
    }
}

/// Prints a failure.
fn print_failure(failure: &Failure) {
    print_stderr(failure.lines().trim_end_matches('\n'));
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_secs(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// Parses a duration in Go's format, which must not be negative: `1m30s`, `500ms`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let nanos = gantry_formats::duration::parse(text).ok().and_then(|nanos| u64::try_from(nanos).ok());
    nanos
        .map(Duration::from_nanos)
        .ok_or_else(|| format!("invalid duration {text:?}: use for example 30s or 1m30s"))
}

/// A timeout; zero is none.
fn limit(timeout: Option<Duration>) -> Option<Duration> {
    timeout.filter(|timeout| !timeout.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_as_gos() {
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        assert!(["5", "", "x", "-1s"].iter().all(|text| duration(text).is_err()));
    }
}
