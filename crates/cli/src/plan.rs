//! `gantry plan`: replays a change in virtual time and shows what it will do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use gantry_json::{Value, json};
use gantry_kubectl::{Failure, Manifest, read_manifests};
use gantry_plan::text::Detail;
use gantry_plan::{
    Assumptions, ClusterObjects, ReplayRequest, RolloutEnding, RolloutPlan, StartState, Variant, compare,
    html, replay, svg, text,
};
use gantry_runtime::Clock;

use crate::cluster::{self, Cluster, ClusterFlags};
use crate::kubectl::duration;
use crate::output::{fail, print, print_stderr};
use crate::sim_profile;
use crate::{ansi, fetch, why};

/// The flags of `gantry plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanFlags {
    /// The manifests of the change, a directory of them, or `-` for standard input
    #[arg(short, long, value_name = "FILE", value_delimiter = ',', required = true)]
    filename: Vec<String>,
    /// The manifests before the change [default: nothing exists before]
    #[arg(long, value_name = "FILE", value_delimiter = ',', conflicts_with = "cluster")]
    from: Vec<String>,
    /// Read directories recursively
    #[arg(short = 'R', long)]
    recursive: bool,
    /// The output format
    #[arg(short, long, value_enum, default_value = "text")]
    output: Output,
    /// Show all steps instead of merging them to about a screen
    #[arg(long)]
    all_steps: bool,
    /// Another strategy to compare with, such as maxSurge=100%,maxUnavailable=0 or Recreate; may be repeated
    #[arg(long, value_name = "STRATEGY")]
    compare: Vec<Variant>,
    /// What to assume about all pods, such as start-seconds=20±5 or crash-percent=5; may be repeated
    #[arg(long, value_name = "TRAIT=VALUE", help_heading = ASSUMPTIONS)]
    assume: Vec<String>,
    /// What to assume about pods of images that the change brings, such as ready=never; may be repeated
    #[arg(long, value_name = "TRAIT=VALUE", help_heading = ASSUMPTIONS)]
    assume_new: Vec<String>,
    /// A profile that defines how pods behave, as for `gantry up`
    #[arg(long, value_name = "FILE", help_heading = ASSUMPTIONS)]
    sim_profile: Option<PathBuf>,
    /// How many pods the nodes have room for [default: enough for all]
    #[arg(long, value_name = "PODS", conflicts_with = "nodes", help_heading = ASSUMPTIONS)]
    room: Option<u32>,
    /// The number of nodes, each with 8 cores, 32Gi of memory and room for 110 pods [default: enough for all]
    #[arg(long, value_name = "N", help_heading = ASSUMPTIONS)]
    nodes: Option<usize>,
    /// How long to follow the rollout at most, in virtual time
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1h", help_heading = ASSUMPTIONS)]
    horizon: Duration,
    /// Decides which pods are slow and which crash
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = ASSUMPTIONS)]
    seed: u64,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// The heading of the flags about assumptions.
const ASSUMPTIONS: &str = "Assumptions";

/// How a plan is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// For programs; the fields are described in docs/plan.md
    Json,
    /// A picture of every Deployment and strategy
    Svg,
    /// A page with pictures, facts and steps
    Html,
}

/// Plans a change; the exit code is the worst ending, as for `gantry why`. Flags before the command count, too.
pub(crate) fn run(mut flags: PlanFlags, before: &ClusterFlags) -> ExitCode {
    let is_from_cluster = flags.cluster.take_bare_cluster();
    flags.cluster = flags.cluster.or(before);
    match request(&flags, is_from_cluster).and_then(|request| plans(&flags, &request)) {
        Ok(plans) => show(&flags, &plans),
        Err(failure) => {
            print_stderr(failure.lines().trim_end());
            ExitCode::FAILURE
        }
    }
}

fn request(flags: &PlanFlags, is_from_cluster: bool) -> Result<ReplayRequest, Failure> {
    let after = read_manifests(&flags.filename, flags.recursive)?;
    let mut namespace = flags.cluster.namespace.clone().unwrap_or_else(|| "default".to_owned());
    let before = if is_from_cluster {
        let (state, of_context) = cluster::block_on(cluster_state(&flags.cluster, &after))?;
        namespace = of_context;
        StartState::Cluster(state, Clock::system().now().to_whole_seconds())
    } else if flags.from.is_empty() {
        StartState::Manifests(Vec::new())
    } else {
        StartState::Manifests(read_manifests(&flags.from, flags.recursive)?)
    };
    let assumptions = assumptions(flags, &before, &after).map_err(Failure::other)?;
    Ok(ReplayRequest { before, after, namespace, assumptions, horizon: flags.horizon, seed: flags.seed })
}

fn assumptions(flags: &PlanFlags, before: &StartState, after: &[Manifest]) -> Result<Assumptions, String> {
    let profile = sim_profile::read(flags.sim_profile.as_deref())?;
    let mut assumptions = Assumptions::new(profile, pods(before, after));
    if let StartState::Cluster(cluster, _) = before {
        assumptions = assumptions.with_unread(cluster);
        if flags.nodes.is_none() && flags.room.is_none() {
            assumptions = assumptions.with_nodes_of(cluster);
        }
    }
    assumptions.all_pods.clone_from(&flags.assume);
    assumptions.new_pods.clone_from(&flags.assume_new);
    if let Some(nodes) = flags.nodes {
        assumptions.nodes = nodes;
    }
    Ok(match flags.room {
        Some(room) => assumptions.with_capacity(room),
        None => assumptions,
    })
}

/// The number of pods before and after the change.
fn pods(before: &StartState, after: &[Manifest]) -> usize {
    let replicas =
        |object: &Value| usize::try_from(object["spec"]["replicas"].as_u64().unwrap_or(1)).unwrap_or(0);
    let before: usize = match before {
        StartState::Manifests(before) => before.iter().map(|it| replicas(&it.object)).sum(),
        StartState::Cluster(state, _) => state.pods.len(),
    };
    before + after.iter().map(|it| replicas(&it.object)).sum::<usize>()
}

/// Reads the Deployments of a change from the cluster, with their ReplicaSets and pods, and the namespace of the context.
async fn cluster_state(
    flags: &ClusterFlags,
    after: &[Manifest],
) -> Result<(ClusterObjects, String), Failure> {
    let cluster = flags.open().await?;
    let mut state = ClusterObjects::default();
    let mut wanted: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for manifest in after.iter().filter(|manifest| manifest.object["kind"] == "Deployment") {
        let meta = &manifest.object["metadata"];
        let namespace = meta["namespace"].as_str().unwrap_or(&cluster.namespace);
        wanted.entry(namespace).or_default().push(&meta["name"]);
    }
    for (namespace, names) in wanted {
        let mut deployments = fetch::raw(&cluster, "apps/v1", namespace, "deployments").await?;
        deployments.retain(|deployment| names.contains(&&deployment["metadata"]["name"]));
        let mut sets = fetch::raw(&cluster, "apps/v1", namespace, "replicasets").await?;
        sets.retain(|set| is_owned(set, &deployments));
        let pods = fetch::raw(&cluster, "v1", namespace, "pods").await?;
        let (pods, others) = pods.into_iter().partition(|pod| is_owned(pod, &sets));
        add_limits(&cluster, namespace, &mut state).await?;
        state.other_pods.extend::<Vec<_>>(others);
        state.deployments.extend(deployments);
        state.sets.extend(sets);
        state.pods.extend::<Vec<_>>(pods);
    }
    add_nodes(&cluster, &mut state).await?;
    Ok((state, cluster.namespace))
}

/// Adds the LimitRanges and ResourceQuotas of a namespace, if they may be read.
async fn add_limits(cluster: &Cluster, namespace: &str, state: &mut ClusterObjects) -> Result<(), Failure> {
    let unread = |plural| format!("{plural} of namespace {namespace}");
    match fetch::raw_if_permitted(cluster, Some(namespace), "limitranges").await? {
        Some(limits) => state.limit_ranges.extend(limits),
        None => state.unread.push(unread("limit ranges")),
    }
    match fetch::raw_if_permitted(cluster, Some(namespace), "resourcequotas").await? {
        Some(quotas) => state.quotas.extend(quotas),
        None => state.unread.push(unread("resource quotas")),
    }
    Ok(())
}

/// Adds the nodes and the pods of other namespaces, which use them, if they may be read.
async fn add_nodes(cluster: &Cluster, state: &mut ClusterObjects) -> Result<(), Failure> {
    let Some(nodes) = fetch::raw_if_permitted(cluster, None, "nodes").await? else {
        state.unread.push("nodes".to_owned());
        return Ok(());
    };
    state.nodes = nodes;
    match fetch::raw_if_permitted(cluster, None, "pods").await? {
        Some(all) => {
            let is_known = |pod: &Value| {
                let mut known = state.pods.iter().chain(&state.other_pods);
                known.any(|known| known["metadata"]["uid"] == pod["metadata"]["uid"])
            };
            let others: Vec<_> = all.into_iter().filter(|pod| !is_known(pod)).collect();
            state.other_pods.extend(others);
        }
        None => state.unread.push("pods of other namespaces".to_owned()),
    }
    Ok(())
}

/// Whether one of these objects is an owner of the other.
fn is_owned(object: &Value, owners: &[Value]) -> bool {
    let references = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    references.into_iter().any(|it| owners.iter().any(|owner| owner["metadata"]["uid"] == it["uid"]))
}

fn plans(flags: &PlanFlags, request: &ReplayRequest) -> Result<Vec<RolloutPlan>, Failure> {
    let mut plans = Vec::new();
    for variant in [Variant::AsWritten].iter().chain(&flags.compare) {
        plans.extend(replay(request, variant).map_err(|error| Failure::other(error.to_string()))?);
    }
    Ok(plans)
}

fn show(flags: &PlanFlags, plans: &[RolloutPlan]) -> ExitCode {
    let detail = if flags.all_steps { Detail::Full } else { Detail::Condensed };
    let shown = match flags.output {
        Output::Text => page(flags, plans, detail),
        Output::Json => {
            let values = plans.iter().map(gantry_plan::json::value).collect::<Vec<_>>();
            format!("{:#}\n", json!({"plans": values}))
        }
        Output::Svg => svg::render_all(plans),
        Output::Html => html::render(plans),
    };
    match print(&shown) {
        ExitCode::SUCCESS => exit_code(plans),
        failed => failed,
    }
}

fn page(flags: &PlanFlags, plans: &[RolloutPlan], detail: Detail) -> String {
    let mut lines = Vec::new();
    for (index, plan) in plans.iter().enumerate() {
        if index > 0 {
            lines.push(gantry_view::Line::default());
        }
        lines.extend(text::lines(plan, detail));
    }
    if !flags.compare.is_empty() {
        lines.push(gantry_view::Line::default());
        lines.extend(compare::lines(plans));
    }
    match ansi::columns() {
        Some(_) => ansi::page(&lines),
        None => lines.iter().map(|line| line.text() + "\n").collect(),
    }
}

/// The exit code of the worst ending of the change as written.
fn exit_code(plans: &[RolloutPlan]) -> ExitCode {
    let written = plans.iter().filter(|plan| plan.variant.is_empty());
    let verdict = written.map(RolloutPlan::ending).max_by_key(|ending| match ending {
        RolloutEnding::Complete(_) => 0,
        RolloutEnding::Paused => 1,
        RolloutEnding::Unfinished => 2,
        RolloutEnding::Stuck => 3,
    });
    match verdict {
        None => fail("there is nothing to plan"),
        Some(ending) => why::exit_code(ending.verdict()),
    }
}
