//! The work: Deployments that are created, rolled, doubled and deleted. Requests are values; this file sends nothing.

use std::collections::BTreeMap;

use gantry_json::json;
use http::Method;

use crate::connection::{ApiRequest, JSON, STRATEGIC_PATCH};
use crate::objects::{
    Container, Deployment, DeploymentSpec, LabelSelector, ObjectMeta, PROTOBUF, PodSpec, PodTemplate, encode,
};

gantry_formats::text_enum! {
    /// A step of the work.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Step {
        /// All Deployments are created.
        Create = "create",
        /// The image of each is changed.
        Roll = "roll",
        /// The replicas of each are doubled.
        Scale = "scale",
        /// All are deleted.
        Delete = "delete",
        /// The namespaces are deleted, with Deployments that were created again in them.
        DeleteNamespaces = "delete namespaces",
    }

    pub(crate) fn name(self) -> &'static str;
}

/// How many Deployments of how many pods, in how many namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Workload {
    pub(crate) deployments: usize,
    pub(crate) replicas: usize,
    pub(crate) namespaces: usize,
}

impl Step {
    /// The generation of every Deployment after the step: each step changes the spec once. None if no Deployment
    /// remains.
    pub(crate) fn generation(self) -> Option<i64> {
        match self {
            Self::Create => Some(1),
            Self::Roll => Some(2),
            Self::Scale => Some(3),
            Self::Delete | Self::DeleteNamespaces => None,
        }
    }

    /// Whether the step ends when the pods are deleted, and not when they are available.
    pub(crate) fn is_deletion(self) -> bool {
        self.generation().is_none()
    }
}

impl Workload {
    /// The replicas of each Deployment after a step.
    pub(crate) fn replicas_after(&self, step: Step) -> usize {
        match step {
            Step::Create | Step::Roll => self.replicas,
            Step::Scale => 2 * self.replicas,
            Step::Delete | Step::DeleteNamespaces => 0,
        }
    }

    /// How many requests a step sends.
    pub(crate) fn requests_of(&self, step: Step) -> usize {
        if step == Step::DeleteNamespaces { self.namespaces } else { self.deployments }
    }

    /// How many pods a step creates, replaces or deletes.
    pub(crate) fn pods_of(&self, step: Step) -> usize {
        let each = if step == Step::Delete { 2 * self.replicas } else { self.replicas };
        self.deployments * each
    }

    /// The name of a namespace.
    pub(crate) fn namespace(number: usize) -> String {
        format!("rollout-{number}")
    }

    /// The name of a Deployment.
    pub(crate) fn deployment(number: usize) -> String {
        format!("d{number}")
    }

    /// The number of the Deployment of this name.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        name.strip_prefix('d')?.parse().ok().filter(|number| *number < self.deployments)
    }

    /// A request of a step: about a Deployment, or about a namespace if namespaces are deleted.
    pub(crate) fn request(&self, step: Step, number: usize) -> ApiRequest {
        let collection =
            format!("/apis/apps/v1/namespaces/{}/deployments", Self::namespace(number % self.namespaces));
        let path = format!("{collection}/{}", Self::deployment(number));
        match step {
            Step::Create => {
                let body = encode("apps/v1", "Deployment", &self.object(number));
                ApiRequest::new(Method::POST, collection, PROTOBUF, body)
            }
            Step::Roll => {
                let containers = json!([{"name": "main", "image": "nginx:2"}]);
                let body = json!({"spec": {"template": {"spec": {"containers": containers}}}});
                ApiRequest::new(Method::PATCH, path, STRATEGIC_PATCH, body.to_string())
            }
            Step::Scale => {
                let body = json!({"spec": {"replicas": self.replicas_after(step)}});
                ApiRequest::new(Method::PATCH, path, STRATEGIC_PATCH, body.to_string())
            }
            Step::Delete => ApiRequest::new(Method::DELETE, path, PROTOBUF, ""),
            Step::DeleteNamespaces => delete_namespace(&Self::namespace(number)),
        }
    }

    fn object(&self, number: usize) -> Deployment {
        let labels = BTreeMap::from([("app".to_owned(), Self::deployment(number))]);
        let metadata = ObjectMeta { labels: labels.clone(), ..ObjectMeta::default() };
        let main = Container { name: "main".to_owned(), image: "nginx:1".to_owned() };
        let template = PodTemplate {
            metadata: metadata.clone(),
            spec: PodSpec { containers: vec![main], ..PodSpec::default() },
        };
        Deployment {
            metadata: ObjectMeta { name: Self::deployment(number), ..metadata },
            spec: DeploymentSpec {
                replicas: i32::try_from(self.replicas).ok(),
                selector: Some(LabelSelector { match_labels: labels }),
                template: Some(template),
            },
            ..Deployment::default()
        }
    }
}

/// The request that creates a namespace.
pub(crate) fn create_namespace(name: &str) -> ApiRequest {
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    ApiRequest::new(Method::POST, "/api/v1/namespaces".to_owned(), JSON, object.to_string())
}

/// The request that deletes a namespace.
pub(crate) fn delete_namespace(name: &str) -> ApiRequest {
    ApiRequest::new(Method::DELETE, format!("/api/v1/namespaces/{name}"), JSON, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKLOAD: Workload = Workload { deployments: 20, replicas: 5, namespaces: 10 };

    #[test]
    fn a_step_counts_the_pods_that_it_changes() {
        let steps = [Step::Create, Step::Roll, Step::Scale, Step::Delete, Step::DeleteNamespaces];
        assert_eq!(steps.map(|step| WORKLOAD.pods_of(step)), [100, 100, 100, 200, 100]);
        assert_eq!(steps.map(|step| WORKLOAD.replicas_after(step)), [5, 5, 10, 0, 0]);
        assert_eq!(steps.map(|step| WORKLOAD.requests_of(step)), [20, 20, 20, 20, 10]);
    }

    #[test]
    fn deployments_are_spread_over_the_namespaces() {
        let path = WORKLOAD.request(Step::Roll, 13).path;
        assert_eq!(path, "/apis/apps/v1/namespaces/rollout-3/deployments/d13");
        assert_eq!(WORKLOAD.number("d13"), Some(13));
        assert_eq!(WORKLOAD.number("d20"), None, "not a Deployment of the load");
    }
}
