//! Objects as rows of a Table, which is what `kubectl get` shows, and reduced to their metadata.
//!
//! Each kind has a [`Printer`]: its columns, and how an object becomes cells. Kinds without one of their own show a
//! name and a time, kinds that users defined what their definition says. Rows always have all cells; leaving out those
//! of low priority is up to the client.

mod cluster;
mod column;
mod devices;
mod events;
mod field;
mod network;
mod partial;
mod pods;
mod storage;
mod workloads;

use serde_json::{Value, json};

use gantry_primitives::age;
pub use gantry_primitives::age::short;
pub use gantry_schema::custom::Column;
pub use partial::{is_a_list, not_a_list, partial, partial_list};

use crate::custom::Columns;
use crate::kinds::{Kind, Nature};
use crate::{FieldError, Moment, Refusal};

/// How objects of one kind become rows.
#[derive(Clone, Copy)]
pub struct Printer<'k> {
    /// The columns.
    pub columns: &'k [Column],
    cells: Cells<'k>,
}

/// How an object becomes cells.
#[derive(Clone, Copy)]
enum Cells<'k> {
    /// By code, for a kind that everybody knows; some rows have conditions.
    Known { cells: fn(&Value, Moment) -> Vec<Value>, conditions: fn(&Value) -> Option<Value> },
    /// By the paths of a definition.
    Custom(&'k Columns),
}

/// The version of `meta.k8s.io` that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `v1`.
    V1,
    /// `v1beta1`, of the same shape.
    V1Beta1,
}

/// How much of an object goes with its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata.
    Metadata,
    /// All of it.
    Object,
}

/// Whether a Table says what its columns are: on a watch only the first does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headings {
    /// It does.
    Shown,
    /// They are known.
    Known,
}

/// How a Table is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The version of the Table.
    pub version: Version,
    /// What goes with each row.
    pub include: IncludeObject,
    /// Whether columns are described.
    pub headings: Headings,
}

impl<'k> Printer<'k> {
    /// The printer for a kind that is served.
    pub fn of_kind(kind: &'k Kind) -> Self {
        match &kind.nature {
            Nature::BuiltIn(_) => Self::of(kind.group, kind.kind),
            Nature::Custom(custom) => Self::custom(&custom.columns),
        }
    }

    /// The printer for a kind; it is the default one for kinds that are not known.
    pub fn of(group: &str, kind: &str) -> Self {
        let (columns, cells): (_, fn(&Value, Moment) -> Vec<Value>) = match (group, kind) {
            ("", "Pod") => {
                let cells = Cells::Known { cells: pods::cells, conditions: pods::conditions };
                return Self { columns: pods::COLUMNS, cells };
            }
            ("apps", "Deployment") => (workloads::DEPLOYMENT, workloads::deployment),
            ("apps", "ReplicaSet") => (workloads::REPLICA_SET, workloads::replica_set),
            ("", "ReplicationController") => (workloads::REPLICA_SET, workloads::replication_controller),
            ("apps", "StatefulSet") => (workloads::STATEFUL_SET, workloads::stateful_set),
            ("apps", "DaemonSet") => (workloads::DAEMON_SET, workloads::daemon_set),
            ("apps", "ControllerRevision") => {
                (workloads::CONTROLLER_REVISION, workloads::controller_revision)
            }
            ("batch", "Job") => (workloads::JOB, workloads::job),
            ("batch", "CronJob") => (workloads::CRON_JOB, workloads::cron_job),
            ("autoscaling", "Scale") => (workloads::SCALE, workloads::scale),
            ("autoscaling", "HorizontalPodAutoscaler") => (workloads::AUTOSCALER, workloads::autoscaler),
            ("policy", "PodDisruptionBudget") => (workloads::DISRUPTION_BUDGET, workloads::disruption_budget),
            ("", "Service") => (network::SERVICE, network::service),
            ("", "Endpoints") => (network::ENDPOINTS, network::endpoints),
            ("discovery.k8s.io", "EndpointSlice") => (network::ENDPOINT_SLICE, network::endpoint_slice),
            ("networking.k8s.io", "Ingress") => (network::INGRESS, network::ingress),
            ("networking.k8s.io", "NetworkPolicy") => (network::NETWORK_POLICY, network::network_policy),
            ("", "Namespace") => (cluster::NAMESPACE, cluster::namespace),
            ("", "Node") => (cluster::NODE, cluster::node),
            ("", "ConfigMap") => (cluster::CONFIG_MAP, cluster::config_map),
            ("", "Secret") => (cluster::SECRET, cluster::secret),
            ("", "ServiceAccount") => (cluster::SERVICE_ACCOUNT, cluster::service_account),
            ("", "ResourceQuota") => (cluster::RESOURCE_QUOTA, cluster::resource_quota),
            ("", "PersistentVolumeClaim") => (cluster::VOLUME_CLAIM, cluster::volume_claim),
            ("" | "events.k8s.io", "Event") => (events::COLUMNS, events::cells),
            ("coordination.k8s.io", "Lease") => (cluster::LEASE, cluster::lease),
            ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
                (cluster::ROLE_BINDING, cluster::role_binding)
            }
            ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                (cluster::RESOURCE_DEFINITION, cluster::resource_definition)
            }
            ("", "PersistentVolume") => (storage::VOLUME, storage::volume),
            ("", "PodTemplate") => (storage::POD_TEMPLATE, storage::pod_template),
            ("", "ComponentStatus") => (storage::COMPONENT, storage::component),
            ("storage.k8s.io", "StorageClass") => (storage::STORAGE_CLASS, storage::storage_class),
            ("storage.k8s.io", "CSIDriver") => (storage::STORAGE_DRIVER, storage::storage_driver),
            ("resource.k8s.io", "DeviceClass" | "ResourceClaimTemplate") => (devices::NAMED, devices::named),
            ("resource.k8s.io", "ResourceClaim") => (devices::CLAIM, devices::claim),
            ("resource.k8s.io", "ResourceSlice") => (devices::SLICE, devices::slice),
            ("storage.k8s.io", "VolumeAttachment") => (storage::ATTACHMENT, storage::attachment),
            ("storage.k8s.io", "CSINode") => (storage::STORAGE_NODE, storage::storage_node),
            ("scheduling.k8s.io", "PriorityClass") => (storage::PRIORITY_CLASS, storage::priority_class),
            _ => (cluster::ANY, cluster::any),
        };
        Self { columns, cells: Cells::Known { cells, conditions: |_| None } }
    }

    /// The printer for a kind that users defined, with the columns of one of its versions.
    pub fn custom(columns: &'k Columns) -> Self {
        Self { columns: columns.headings(), cells: Cells::Custom(columns) }
    }

    /// Whether the kind has no columns of its own.
    fn is_default(&self) -> bool {
        self.columns.contains(&column::CREATED)
    }

    /// The Table of a list; `metadata` is the list's own, with its version and where it goes on.
    ///
    /// Objects must say their kind if they are wanted as a whole.
    pub fn table<'o>(
        &self,
        metadata: &Value,
        objects: impl IntoIterator<Item = &'o Value>,
        layout: Layout,
        now: Moment,
    ) -> Value {
        let rows: Vec<_> = objects.into_iter().map(|object| self.row(object, layout, now)).collect();
        // Kubernetes writes no list at all where the kind has no columns of its own.
        let rows = if rows.is_empty() && self.is_default() { Value::Null } else { Value::Array(rows) };
        let definitions: Value = match layout.headings {
            Headings::Shown => self.columns.iter().map(Column::definition).collect(),
            Headings::Known => Value::Null,
        };
        json!({
            "kind": "Table", "apiVersion": layout.version.api_version(), "metadata": metadata,
            "columnDefinitions": definitions, "rows": rows,
        })
    }

    /// The Table of one object: of a get, a write, an event of a watch or a bookmark.
    pub fn table_of_one(&self, object: &Value, layout: Layout, now: Moment) -> Value {
        let metadata = match &object["metadata"]["resourceVersion"] {
            Value::Null => json!({}),
            version => json!({"resourceVersion": version}),
        };
        self.table(&metadata, [object], layout, now)
    }

    fn row(&self, object: &Value, layout: Layout, now: Moment) -> Value {
        let included = match layout.include {
            IncludeObject::None => Value::Null,
            IncludeObject::Metadata => without_fields(partial(object, layout.version)),
            IncludeObject::Object => object.clone(),
        };
        let mut row = json!({"object": included});
        match self.cells {
            Cells::Custom(columns) => row["cells"] = Value::Array(columns.cells(object, now)),
            Cells::Known { cells, conditions } => {
                row["cells"] = Value::Array(cells(object, now));
                if let Some(conditions) = conditions(object) {
                    row["conditions"] = conditions;
                }
            }
        }
        row
    }
}

/// Annotations that are fields of the object inside Kubernetes, where the rows of a Table are made.
const FIELDS_AS_ANNOTATIONS: [&str; 6] = [
    "autoscaling.alpha.kubernetes.io/behavior",
    "autoscaling.alpha.kubernetes.io/conditions",
    "autoscaling.alpha.kubernetes.io/current-metrics",
    "autoscaling.alpha.kubernetes.io/metrics",
    "deprecated.daemonset.template.generation",
    "deprecated.deployment.rollback.to",
];

/// The metadata of a row, which has no annotations that stand for fields.
fn without_fields(mut partial: Value) -> Value {
    let Some(Value::Object(annotations)) = partial.pointer_mut("/metadata/annotations") else {
        return partial;
    };
    annotations.retain(|name, _| !FIELDS_AS_ANNOTATIONS.contains(&name.as_str()));
    if annotations.is_empty()
        && let Some(Value::Object(metadata)) = partial.get_mut("metadata")
    {
        metadata.remove("annotations");
    }
    partial
}

impl Version {
    /// `meta.k8s.io/v1` or `meta.k8s.io/v1beta1`.
    pub fn api_version(self) -> &'static str {
        match self {
            Version::V1 => "meta.k8s.io/v1",
            Version::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

impl IncludeObject {
    /// Reads an `includeObject` parameter.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        match text {
            "" | "Metadata" => Ok(Self::Metadata),
            "None" => Ok(Self::None),
            "Object" => Ok(Self::Object),
            other => {
                let why = "must be 'Metadata', 'Object', 'None', or empty";
                let wrong = FieldError::invalid("includeObject", &Value::from(other), why);
                Err(Refusal::bad_request(format!("Unable to convert to Table as requested: {wrong}")))
            }
        }
    }
}
