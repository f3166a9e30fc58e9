//! The cost of a decision. `cargo xtask bench decide` prints time and instructions per decision.
//!
//! Sizes are in pairs or triples, so that growth can be read off: twice the sets or pods must cost about twice as much.

use std::hint::black_box;
use std::process::ExitCode;

use gantry_bench_protocol::Case;
use gantry_decide::deployment;
use gantry_decide::replica_set::{self, ExpectationState, ManageResult, Observed};
use gantry_model::{Deployment, Limit, Pod, ReplicaSet, Template, keys};
use gantry_testkit::{
    DeploymentBuilder, NOON, PodBuilder, ReplicaSetBuilder, deployment as a_deployment, noon_plus, pod,
    replica_set as a_set, template,
};

const CASES: &[Case] = &[
    Case { name: "deployment-settled-10-sets", set_up: || settled(10) },
    Case { name: "deployment-settled-20-sets", set_up: || settled(20) },
    Case { name: "deployment-rolling-10-sets", set_up: || rolling(10) },
    Case { name: "deployment-rolling-20-sets", set_up: || rolling(20) },
    Case { name: "deployment-scaling-10-sets", set_up: scaling },
    Case { name: "deployment-first-rollout", set_up: first_rollout },
    Case { name: "replicaset-status-1250-pods", set_up: || status(1250) },
    Case { name: "replicaset-status-5000-pods", set_up: || status(5000) },
    Case { name: "replicaset-victims-1250-pods", set_up: || victims(1250) },
    Case { name: "replicaset-victims-2500-pods", set_up: || victims(2500) },
    Case { name: "replicaset-victims-5000-pods", set_up: || victims(5000) },
    Case { name: "template-parse", set_up: parse_template },
];

fn main() -> ExitCode {
    gantry_bench_protocol::main(CASES)
}

/// A Deployment of 10 pods with this number of sets, of which only the last is in use.
fn history_of(count: usize) -> (Deployment, Vec<ReplicaSet>) {
    let web = a_deployment("web").size(10).rolling(Limit::Count(3), Limit::Count(2));
    let web = web.image(&format!("nginx:{count}")).annotated(keys::REVISION, &count.to_string());
    let sets = (1..=count).map(|nth| {
        let set = a_set(&format!("web-{nth}")).owned_by(&web).image(&format!("nginx:{nth}"));
        let nth = i64::try_from(nth).unwrap_or(0);
        set.revision(nth).created(noon_plus(nth - 1000)).sized_for(10, 13)
    });
    (web.clone(), sets.collect())
}

fn deciding(mut web: Deployment, sets: Vec<ReplicaSet>) -> Box<dyn FnMut()> {
    // The status that the first sync reports exists when the second one is measured.
    let first = decide(&web, &sets);
    for step in first.steps {
        if let deployment::Action::UpdateStatus { status, .. } = step.action {
            web.status = *status;
        }
    }
    Box::new(move || {
        black_box(decide(black_box(&web), black_box(&sets)));
    })
}

fn decide(web: &Deployment, sets: &[ReplicaSet]) -> deployment::Decision {
    let sets: Vec<_> = sets.iter().collect();
    deployment::decide(
        NOON,
        &deployment::Observed {
            deployment: web,
            sets: &sets,
            pods: &[],
            refused: None,
            repairs: deployment::Repairs::default(),
        },
    )
}

fn settled(count: usize) -> Box<dyn FnMut()> {
    let (web, mut sets) = history_of(count);
    sets[count - 1] = sets[count - 1].clone().size(10).available(10);
    deciding(web, sets)
}

fn rolling(count: usize) -> Box<dyn FnMut()> {
    let (web, mut sets) = history_of(count);
    sets[count - 2] = sets[count - 2].clone().size(8).available(8);
    sets[count - 1] = sets[count - 1].clone().size(5).available(3);
    deciding(web, sets)
}

fn scaling() -> Box<dyn FnMut()> {
    let (web, sets) = history_of(10);
    let sets = sets.into_iter().map(|set| set.size(2).available(2)).collect();
    deciding(web.size(40), sets)
}

fn first_rollout() -> Box<dyn FnMut()> {
    let web = a_deployment("web").size(10);
    Box::new(move || {
        black_box(decide(black_box(&web), &[]));
    })
}

/// Pods on 50 nodes, of all ages, four in five of them ready.
fn pods_of(set: &ReplicaSet, count: usize) -> Vec<Pod> {
    (0..count)
        .map(|nth| {
            let age = i64::try_from(nth).unwrap_or(0) * 37 % 90_000;
            let pod = pod(&format!("web-{nth}"))
                .owned_by(set)
                .on(&format!("node-{}", nth % 50))
                .created(noon_plus(-age));
            let running = pod.clone().ready_since(noon_plus(-age / 2));
            if nth % 5 == 0 { pod } else { running }
        })
        .collect()
}

fn observing(size: u16, pods: usize) -> Box<dyn FnMut()> {
    let set = a_set("web").owned_by(&a_deployment("web")).size(size);
    let pods = pods_of(&set, pods);
    Box::new(move || {
        let active: Vec<_> = pods.iter().collect();
        let observed = Observed {
            set: &set,
            expectation_state: ExpectationState::Satisfied,
            related: active.clone(),
            active,
            terminating: Vec::new(),
        };
        let decision = replica_set::decide(NOON, black_box(&observed));
        black_box(replica_set::report(NOON, &observed, &decision, &ManageResult::nothing()));
    })
}

fn status(pods: u16) -> Box<dyn FnMut()> {
    observing(pods, pods.into())
}

fn victims(pods: u16) -> Box<dyn FnMut()> {
    observing(pods - 300, pods.into())
}

fn parse_template() -> Box<dyn FnMut()> {
    let written = template("nginx:1").render();
    Box::new(move || {
        black_box(Template::parse(black_box(&written).clone()));
    })
}
