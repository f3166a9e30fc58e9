//! Valid objects of each kind, from which random ones are made.
//!
//! Names of cluster-wide objects contain the namespace of the play, so that plays do not conflict.

use gantry_json::{Value, json};

/// A resource and a valid object of it.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) resource: &'static str,
    pub(crate) object: Value,
}

impl Base {
    pub(crate) fn api_version(&self) -> &str {
        self.object["apiVersion"].as_str().unwrap_or_default()
    }

    pub(crate) fn kind(&self) -> &str {
        self.object["kind"].as_str().unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        self.object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        !self.name().contains("{ns}")
    }

    /// The path of all objects of the resource, in the play's namespace.
    pub(crate) fn collection(&self) -> String {
        let version = self.api_version();
        let prefix = if version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{version}") };
        let namespace = if self.is_namespaced() { "/namespaces/{ns}" } else { "" };
        format!("{prefix}{namespace}/{}", self.resource)
    }

    /// The path of the object.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.collection(), self.name())
    }

    /// Returns the object with another name and these labels.
    pub(crate) fn named(&self, name: &str, labels: Value) -> Value {
        let mut object = self.object.clone();
        object["metadata"]["name"] = json!(name);
        object["metadata"]["labels"] = labels;
        object
    }
}

/// Returns the base of a resource.
pub(crate) fn base(resource: &str) -> Base {
    let found = all().into_iter().find(|base| base.resource == resource);
    found.unwrap_or_else(|| base_of(("configmaps", "v1", "ConfigMap", "cm", json!({}))))
}

/// The groups and versions of all bases.
pub(crate) fn versions() -> Vec<String> {
    let mut versions: Vec<String> = all().iter().map(|base| base.api_version().to_owned()).collect();
    versions.sort();
    versions.dedup();
    versions
}

/// Returns the bases of all kinds.
pub(crate) fn all() -> Vec<Base> {
    let mut bases = workloads();
    bases.extend(namespaced());
    bases.extend(cluster_wide());
    bases
}

fn workloads() -> Vec<Base> {
    let selector = json!({"matchLabels": {"app": "web"}});
    let never = json!({"spec": {"restartPolicy": "Never", "containers": [container()]}});
    let pod = json!({"spec": {"serviceAccountName": "default", "automountServiceAccountToken": false, "containers": [container()]}});
    let deployment =
        json!({"spec": {"replicas": 2, "paused": true, "selector": selector, "template": template()}});
    let stateful =
        json!({"spec": {"replicas": 1, "serviceName": "db", "selector": selector, "template": template()}});
    let set = json!({"spec": {"replicas": 0, "selector": selector, "template": template()}});
    let daemons = json!({"spec": {"selector": selector, "template": template()}});
    let schedule = json!({"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": never}}}});
    let controller = json!({"spec": {"selector": {"app": "web"}, "template": template()}});
    [
        ("pods", "v1", "Pod", "p", pod),
        ("deployments", "apps/v1", "Deployment", "web", deployment),
        ("replicasets", "apps/v1", "ReplicaSet", "rs", set),
        ("statefulsets", "apps/v1", "StatefulSet", "db", stateful),
        ("daemonsets", "apps/v1", "DaemonSet", "ds", daemons),
        ("jobs", "batch/v1", "Job", "job", json!({"spec": {"template": never}})),
        ("cronjobs", "batch/v1", "CronJob", "cj", schedule),
        ("replicationcontrollers", "v1", "ReplicationController", "rc", controller),
    ]
    .map(base_of)
    .into()
}

fn namespaced() -> Vec<Base> {
    let claim =
        json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let limits =
        json!({"spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "100Gi"}}]}});
    let scaler = json!({"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}, "maxReplicas": 3}});
    let budget = json!({"spec": {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": 1}});
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    let ingress = json!({"spec": {"rules": [{"host": "a.b", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}]}});
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"});
    let service = json!({"spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}});
    let policy = json!({"spec": {"podSelector": {}, "policyTypes": ["Ingress"]}});
    let slice = json!({"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}]});
    [
        ("services", "v1", "Service", "svc", service),
        ("configmaps", "v1", "ConfigMap", "cm", json!({"data": {"a": "b"}})),
        ("secrets", "v1", "Secret", "s", json!({"stringData": {"a": "b"}})),
        ("serviceaccounts", "v1", "ServiceAccount", "sa", json!({})),
        ("persistentvolumeclaims", "v1", "PersistentVolumeClaim", "c", claim),
        ("resourcequotas", "v1", "ResourceQuota", "q", json!({"spec": {"hard": {"requests.cpu": "100"}}})),
        ("limitranges", "v1", "LimitRange", "lr", limits),
        ("horizontalpodautoscalers", "autoscaling/v2", "HorizontalPodAutoscaler", "h", scaler),
        ("poddisruptionbudgets", "policy/v1", "PodDisruptionBudget", "pdb", budget),
        ("ingresses", "networking.k8s.io/v1", "Ingress", "i", ingress),
        ("networkpolicies", "networking.k8s.io/v1", "NetworkPolicy", "np", policy),
        ("leases", "coordination.k8s.io/v1", "Lease", "l", json!({"spec": {"holderIdentity": "x"}})),
        ("roles", "rbac.authorization.k8s.io/v1", "Role", "r", json!({"rules": rules()})),
        ("rolebindings", "rbac.authorization.k8s.io/v1", "RoleBinding", "rb", json!({"roleRef": role})),
        ("endpointslices", "discovery.k8s.io/v1", "EndpointSlice", "es", slice),
    ]
    .map(base_of)
    .into()
}

fn cluster_wide() -> Vec<Base> {
    let volume = json!({"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}});
    [
        ("nodes", "v1", "Node", "{ns}-n", json!({})),
        ("persistentvolumes", "v1", "PersistentVolume", "{ns}-pv", volume),
        ("storageclasses", "storage.k8s.io/v1", "StorageClass", "{ns}-sc", json!({"provisioner": "a/b"})),
        ("priorityclasses", "scheduling.k8s.io/v1", "PriorityClass", "{ns}-pc", json!({"value": 5})),
        ("clusterroles", "rbac.authorization.k8s.io/v1", "ClusterRole", "{ns}-cr", json!({"rules": rules()})),
    ]
    .map(base_of)
    .into()
}

fn container() -> Value {
    json!({"name": "c", "image": "i:1"})
}

fn template() -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container()]}})
}

fn rules() -> Value {
    json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}])
}

fn base_of((resource, api_version, kind, name, mut object): (&'static str, &str, &str, &str, Value)) -> Base {
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    object["metadata"] = json!({"name": name});
    Base { resource, object }
}
