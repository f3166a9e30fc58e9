//! The recipe of docs/testing.md for Rust: a Deployment is rolled out in a cluster inside this test.

use std::time::Duration;

use gantry_cluster::Cluster;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::PostParams;
use kube::runtime::wait::await_condition;
use kube::{Api, Client};

#[tokio::test]
async fn a_deployment_rolls_out() -> Result<(), Box<dyn std::error::Error>> {
    let cluster = Cluster::start().await?;
    let deployments: Api<Deployment> = Api::default_namespaced(Client::new(cluster.service(), "default"));
    let web: Deployment = serde_json::from_value(serde_json::json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx:1"}]},
            },
        },
    }))?;
    deployments.create(&PostParams::default(), &web).await?;
    let is_available = |web: Option<&Deployment>| {
        web.and_then(|web| web.status.as_ref()).is_some_and(|status| status.available_replicas == Some(3))
    };
    let rolled_out = await_condition(deployments, "web", is_available);
    tokio::time::timeout(Duration::from_secs(60), rolled_out).await??;
    Ok(())
}
