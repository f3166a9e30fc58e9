//! Reading a Deployment and all around it, once.

use gantry_kubectl::Failure;
use gantry_view::Objects;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Event, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelectorRequirement;
use kube::Api;
use kube::api::ListParams;

use crate::cluster::Cluster;
use crate::output;

/// The Deployment that an argument names: `web`, `deployment/web`, `deploy web`.
pub(crate) fn deployment_name(words: &[String]) -> Result<&str, String> {
    let (kind, name) = match words {
        [word] => word.split_once('/').map_or((None, word.as_str()), |(kind, name)| (Some(kind), name)),
        [kind, name] => (Some(kind.as_str()), name.as_str()),
        _ => return Err("name one Deployment, such as deployment/web".to_owned()),
    };
    let kind = kind.map(str::to_lowercase);
    match kind.as_deref() {
        None | Some("deployment" | "deployments" | "deploy" | "deployment.apps" | "deployments.apps")
            if !name.is_empty() =>
        {
            Ok(name)
        }
        Some(kind) if !name.is_empty() => {
            Err(format!("{kind} does not roll out\nhint: name a Deployment, such as deployment/web"))
        }
        _ => Err("the name is missing\nhint: write deployment/NAME".to_owned()),
    }
}

/// Reads a Deployment, what its selector selects, and what is said about it.
pub(crate) async fn objects(cluster: &Cluster, name: &str) -> Result<Objects, Failure> {
    let Cluster { client, namespace, .. } = cluster;
    let failure = |error| cluster.failure(error);
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    let sets: Api<ReplicaSet> = Api::namespaced(client.clone(), namespace);
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let events: Api<Event> = Api::namespaced(client.clone(), namespace);
    let deployment = deployments.get(name).await.map_err(failure)?;
    let selected = ListParams::default().labels(&selector(&deployment));
    let warnings = ListParams::default().fields("type=Warning");
    let all = ListParams::default();
    let (sets, pods, events, deployments) = tokio::join!(
        sets.list(&selected),
        pods.list(&selected),
        events.list(&warnings),
        deployments.list(&all),
    );
    Ok(Objects {
        deployment,
        sets: sets.map_err(failure)?.items,
        pods: pods.map_err(failure)?.items,
        events: optional(events, "events").map_err(failure)?,
        deployments: optional(deployments, "other Deployments").map_err(failure)?,
    })
}

/// A Deployment's selector as a list takes it. One that cannot be read selects everything: ownership tells then.
pub(crate) fn selector(deployment: &Deployment) -> String {
    let selector = &deployment.spec.selector;
    let labels = selector.match_labels.iter().flatten().map(|(key, value)| Some(format!("{key}={value}")));
    let expressions = selector.match_expressions.iter().flatten().map(|expression| {
        let LabelSelectorRequirement { key, operator, values } = expression;
        let values = values.as_deref().unwrap_or_default().join(",");
        match operator.as_str() {
            "In" => Some(format!("{key} in ({values})")),
            "NotIn" => Some(format!("{key} notin ({values})")),
            "Exists" => Some(key.clone()),
            "DoesNotExist" => Some(format!("!{key}")),
            _ => None,
        }
    });
    let all: Option<Vec<_>> = labels.chain(expressions).collect();
    all.unwrap_or_default().join(",")
}

/// What may be missing if it may not be read; a report without it is better than none.
fn optional<T: Clone>(listed: kube::Result<kube::api::ObjectList<T>>, what: &str) -> kube::Result<Vec<T>> {
    match listed {
        Err(kube::Error::Api(status)) if status.code == 403 => {
            output::talk(&format!("note: {what} may not be read, so they are left out: {}", status.message));
            Ok(Vec::new())
        }
        listed => Ok(listed?.items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        deployment_name(&words).map(str::to_owned)
    }

    #[test]
    fn a_deployment_is_named_as_kubectl_would_take_it() {
        for words in [
            &["web"][..],
            &["deployment/web"],
            &["deploy/web"],
            &["deployments.apps/web"],
            &["Deployment", "web"],
        ] {
            assert_eq!(named(words).as_deref(), Ok("web"), "{words:?}");
        }
        assert!(named(&["pod/web"]).unwrap_err().contains("name a Deployment"));
        assert!(named(&["deployment/"]).unwrap_err().contains("the name is missing"));
    }

    #[test]
    fn a_selector_is_asked_for_as_a_list_takes_it() {
        let mut deployment = Deployment::default();
        let mut asked = |json| {
            deployment.spec.selector = serde_json::from_value(json).unwrap();
            selector(&deployment)
        };
        assert_eq!(
            asked(serde_json::json!({"matchLabels": {"app": "web"}, "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["a", "b"]},
                {"key": "old", "operator": "DoesNotExist"}]})),
            "app=web,tier in (a,b),!old"
        );
        assert_eq!(asked(serde_json::json!({"matchExpressions": [{"key": "a", "operator": "Foo"}]})), "");
    }
}
