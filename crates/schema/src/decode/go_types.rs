//! The Go types of fields, as errors name them.
//!
//! The schema has a restart policy as a string; Kubernetes' errors say `v1.RestartPolicy`. Only error messages depend
//! on this table.

use crate::schema::{Other, Type, schema};

/// The Go type of a field, or of an element or entry of it if `kind` is that of one.
pub(crate) fn name(message: &str, field: &str, kind: &Type) -> String {
    match kind {
        Type::String => {
            let named = named_text(message, field).unwrap_or("string");
            // The table has the type of a whole map where its keys have a type of their own.
            named.rsplit(']').next().unwrap_or(named).to_owned()
        }
        Type::Bool => "bool".to_owned(),
        Type::Int32 | Type::IntOrString => "int32".to_owned(),
        Type::Int64 => "int64".to_owned(),
        Type::Float64 => "float64".to_owned(),
        Type::Bytes => "[]uint8".to_owned(),
        Type::List(element) => format!("[]{}", name(message, field, element)),
        Type::Map(value) => match **value {
            Type::String | Type::Time if let Some(map) = named_text(message, field) => map.to_owned(),
            Type::Quantity if message.starts_with("core/") => "v1.ResourceList".to_owned(),
            Type::List(_) => "map[string]v1.ExtraValue".to_owned(),
            _ => format!("map[string]{}", name(message, field, value)),
        },
        Type::Message(id) | Type::Inline(id) => {
            let full = schema().message(*id).name;
            full.rsplit('/').next().unwrap_or(full).to_owned()
        }
        Type::Quantity => "resource.Quantity".to_owned(),
        // These have decoders of their own, from a string.
        Type::Time | Type::MicroTime | Type::Duration => "string".to_owned(),
        Type::Raw => "runtime.RawExtension".to_owned(),
        Type::Or(other, id) => {
            let or = match other {
                Other::Bool => "Bool",
                Other::List => "Array",
                Other::Texts => "StringArray",
            };
            format!("{}Or{or}", name(message, field, &Type::Message(*id)))
        }
    }
}

/// String types with names of their own.
fn named_text(message: &str, field: &str) -> Option<&'static str> {
    let short = message.rsplit('.').next().unwrap_or(message);
    NAMED.iter().find(|(m, f, _)| *m == short && *f == field).map(|(_, _, name)| *name).or_else(
        || match field {
            "uid" => Some("types.UID"),
            "protocol" => Some("v1.Protocol"),
            "accessModes" => Some("v1.PersistentVolumeAccessMode"),
            "volumeMode" => Some("v1.PersistentVolumeMode"),
            "preemptionPolicy" => Some("v1.PreemptionPolicy"),
            "status" if short.ends_with("Condition") => Some("v1.ConditionStatus"),
            _ => None,
        },
    )
}

const NAMED: [(&str, &str, &str); 121] = [
    ("HTTPGetAction", "protocol", "v1.HTTPProtocol"),
    ("Lifecycle", "stopSignal", "v1.Signal"),
    ("GRPCAction", "mode", "v1.GRPCProbeMode"),
    ("ContainerResizePolicy", "resourceName", "v1.ResourceName"),
    ("ContainerResizePolicy", "restartPolicy", "v1.ResourceResizeRestartPolicy"),
    ("ContainerRestartRule", "action", "v1.ContainerRestartRuleAction"),
    ("ContainerRestartRuleOnExitCodes", "operator", "v1.ContainerRestartRuleOnExitCodesOperator"),
    ("AppArmorProfile", "type", "v1.AppArmorProfileType"),
    ("SecurityContext", "procMount", "v1.ProcMountType"),
    ("PodOS", "name", "v1.OSName"),
    ("PodSecurityContext", "fsGroupChangePolicy", "v1.PodFSGroupChangePolicy"),
    ("PodSecurityContext", "seLinuxChangePolicy", "v1.PodSELinuxChangePolicy"),
    ("PodSecurityContext", "supplementalGroupsPolicy", "v1.SupplementalGroupsPolicy"),
    ("TopologySpreadConstraint", "nodeAffinityPolicy", "v1.NodeInclusionPolicy"),
    ("TopologySpreadConstraint", "nodeTaintsPolicy", "v1.NodeInclusionPolicy"),
    ("AzureDiskVolumeSource", "cachingMode", "v1.AzureDataDiskCachingMode"),
    ("AzureDiskVolumeSource", "kind", "v1.AzureDataDiskKind"),
    ("ImageVolumeSource", "pullPolicy", "v1.PullPolicy"),
    ("ResourceStatus", "name", "v1.ResourceName"),
    ("ResourceHealth", "health", "v1.ResourceHealthStatus"),
    ("ResourceHealth", "resourceID", "v1.ResourceID"),
    ("ContainerStatus", "stopSignal", "v1.Signal"),
    ("VolumeMountStatus", "recursiveReadOnly", "v1.RecursiveReadOnlyMode"),
    ("NodeAllocatableMappedResources", "name", "v1.ResourceName"),
    ("NodeAllocatableOverheadResources", "name", "v1.ResourceName"),
    ("PodStatus", "resize", "v1.PodResizeStatus"),
    ("VolumeHealthCondition", "status", "v1.VolumeHealthStatusType"),
    (
        "StatefulSetPersistentVolumeClaimRetentionPolicy",
        "whenDeleted",
        "v1.PersistentVolumeClaimRetentionPolicyType",
    ),
    (
        "StatefulSetPersistentVolumeClaimRetentionPolicy",
        "whenScaled",
        "v1.PersistentVolumeClaimRetentionPolicyType",
    ),
    (
        "PersistentVolumeClaimStatus",
        "allocatedResourceStatuses",
        "map[v1.ResourceName]v1.ClaimResourceStatus",
    ),
    ("ModifyVolumeStatus", "status", "v1.PersistentVolumeClaimModifyVolumeStatus"),
    ("PodFailurePolicyRule", "action", "v1.PodFailurePolicyAction"),
    ("PodFailurePolicyOnExitCodesRequirement", "operator", "v1.PodFailurePolicyOnExitCodesOperator"),
    ("PodFailurePolicyOnPodConditionsPattern", "status", "v1.ConditionStatus"),
    ("PodFailurePolicyOnPodConditionsPattern", "type", "v1.PodConditionType"),
    ("UncountedTerminatedPods", "failed", "types.UID"),
    ("UncountedTerminatedPods", "succeeded", "types.UID"),
    ("LoadBalancerIngress", "ipMode", "v1.LoadBalancerIPMode"),
    ("ContainerResourceMetricSource", "name", "v1.ResourceName"),
    ("ContainerResourceMetricStatus", "name", "v1.ResourceName"),
    ("ResourceMetricStatus", "name", "v1.ResourceName"),
    ("MetricStatus", "type", "v2.MetricSourceType"),
    ("PodDisruptionBudgetStatus", "disruptedPods", "map[string]v1.Time"),
    ("LeaseSpec", "strategy", "v1.CoordinatedLeaseStrategy"),
    ("NodeStatus", "phase", "v1.NodePhase"),
    ("AttachedVolume", "name", "v1.UniqueVolumeName"),
    ("NodeStatus", "volumesInUse", "v1.UniqueVolumeName"),
    ("ScopedResourceSelectorRequirement", "scopeName", "v1.ResourceQuotaScope"),
    ("ScopedResourceSelectorRequirement", "operator", "v1.ScopeSelectorOperator"),
    ("DeleteOptions", "propagationPolicy", "v1.DeletionPropagation"),
    ("ManagedFieldsEntry", "operation", "v1.ManagedFieldsOperationType"),
    ("LabelSelectorRequirement", "operator", "v1.LabelSelectorOperator"),
    ("FieldSelectorRequirement", "operator", "v1.FieldSelectorOperator"),
    ("DeploymentStrategy", "type", "v1.DeploymentStrategyType"),
    ("DaemonSetUpdateStrategy", "type", "v1.DaemonSetUpdateStrategyType"),
    ("StatefulSetUpdateStrategy", "type", "v1.StatefulSetUpdateStrategyType"),
    ("StatefulSetSpec", "podManagementPolicy", "v1.PodManagementPolicyType"),
    ("DeploymentCondition", "type", "v1.DeploymentConditionType"),
    ("ReplicaSetCondition", "type", "v1.ReplicaSetConditionType"),
    ("StatefulSetCondition", "type", "v1.StatefulSetConditionType"),
    ("DaemonSetCondition", "type", "v1.DaemonSetConditionType"),
    ("ReplicationControllerCondition", "type", "v1.ReplicationControllerConditionType"),
    ("PodCondition", "type", "v1.PodConditionType"),
    ("PodReadinessGate", "conditionType", "v1.PodConditionType"),
    ("NodeCondition", "type", "v1.NodeConditionType"),
    ("NamespaceCondition", "type", "v1.NamespaceConditionType"),
    ("JobCondition", "type", "v1.JobConditionType"),
    ("PersistentVolumeClaimCondition", "type", "v1.PersistentVolumeClaimConditionType"),
    ("HorizontalPodAutoscalerCondition", "type", "v2.HorizontalPodAutoscalerConditionType"),
    ("PodSpec", "restartPolicy", "v1.RestartPolicy"),
    ("PodSpec", "dnsPolicy", "v1.DNSPolicy"),
    ("PodStatus", "phase", "v1.PodPhase"),
    ("PodStatus", "qosClass", "v1.PodQOSClass"),
    ("Container", "restartPolicy", "v1.ContainerRestartPolicy"),
    ("Container", "imagePullPolicy", "v1.PullPolicy"),
    ("Container", "terminationMessagePolicy", "v1.TerminationMessagePolicy"),
    ("EphemeralContainer", "restartPolicy", "v1.ContainerRestartPolicy"),
    ("EphemeralContainer", "imagePullPolicy", "v1.PullPolicy"),
    ("EphemeralContainer", "terminationMessagePolicy", "v1.TerminationMessagePolicy"),
    ("VolumeMount", "mountPropagation", "v1.MountPropagationMode"),
    ("VolumeMount", "recursiveReadOnly", "v1.RecursiveReadOnlyMode"),
    ("Capabilities", "add", "v1.Capability"),
    ("Capabilities", "drop", "v1.Capability"),
    ("SeccompProfile", "type", "v1.SeccompProfileType"),
    ("HTTPGetAction", "scheme", "v1.URIScheme"),
    ("EmptyDirVolumeSource", "medium", "v1.StorageMedium"),
    ("HostPathVolumeSource", "type", "v1.HostPathType"),
    ("Toleration", "operator", "v1.TolerationOperator"),
    ("Toleration", "effect", "v1.TaintEffect"),
    ("Taint", "effect", "v1.TaintEffect"),
    ("NodeSelectorRequirement", "operator", "v1.NodeSelectorOperator"),
    ("NodeAddress", "type", "v1.NodeAddressType"),
    ("TopologySpreadConstraint", "whenUnsatisfiable", "v1.UnsatisfiableConstraintAction"),
    ("ServiceSpec", "type", "v1.ServiceType"),
    ("ServiceSpec", "sessionAffinity", "v1.ServiceAffinity"),
    ("ServiceSpec", "ipFamilies", "v1.IPFamily"),
    ("ServiceSpec", "ipFamilyPolicy", "v1.IPFamilyPolicy"),
    ("ServiceSpec", "externalTrafficPolicy", "v1.ServiceExternalTrafficPolicy"),
    ("ServiceSpec", "internalTrafficPolicy", "v1.ServiceInternalTrafficPolicy"),
    ("Secret", "type", "v1.SecretType"),
    ("NamespaceSpec", "finalizers", "v1.FinalizerName"),
    ("NamespaceStatus", "phase", "v1.NamespacePhase"),
    ("LimitRangeItem", "type", "v1.LimitType"),
    ("ResourceQuotaSpec", "scopes", "v1.ResourceQuotaScope"),
    ("PersistentVolumeSpec", "persistentVolumeReclaimPolicy", "v1.PersistentVolumeReclaimPolicy"),
    ("PersistentVolumeStatus", "phase", "v1.PersistentVolumePhase"),
    ("PersistentVolumeClaimStatus", "phase", "v1.PersistentVolumeClaimPhase"),
    ("StorageClass", "reclaimPolicy", "v1.PersistentVolumeReclaimPolicy"),
    ("StorageClass", "volumeBindingMode", "v1.VolumeBindingMode"),
    ("JobSpec", "completionMode", "v1.CompletionMode"),
    ("JobSpec", "podReplacementPolicy", "v1.PodReplacementPolicy"),
    ("CronJobSpec", "concurrencyPolicy", "v1.ConcurrencyPolicy"),
    ("PodDisruptionBudgetSpec", "unhealthyPodEvictionPolicy", "v1.UnhealthyPodEvictionPolicyType"),
    ("MetricSpec", "type", "v2.MetricSourceType"),
    ("MetricTarget", "type", "v2.MetricTargetType"),
    ("ResourceMetricSource", "name", "v1.ResourceName"),
    ("HPAScalingRules", "selectPolicy", "v2.ScalingPolicySelect"),
    ("HPAScalingPolicy", "type", "v2.HPAScalingPolicyType"),
    ("EndpointSlice", "addressType", "v1.AddressType"),
    ("NetworkPolicySpec", "policyTypes", "v1.PolicyType"),
    ("HTTPIngressPath", "pathType", "v1.PathType"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A2.12: types have Go's names.
    #[test]
    fn types_have_the_names_that_go_gives_them() {
        let of = |message: &str, field: &str| {
            let id = schema().find(message).unwrap();
            name(message, field, &schema().field(id, field).unwrap().kind)
        };
        assert_eq!(of("core/v1.PodSpec", "containers"), "[]v1.Container");
        assert_eq!(of("core/v1.PodSpec", "restartPolicy"), "v1.RestartPolicy");
        assert_eq!(of("core/v1.ResourceRequirements", "limits"), "v1.ResourceList");
        assert_eq!(of("meta/v1.ObjectMeta", "labels"), "map[string]string");
        assert_eq!(of("meta/v1.ObjectMeta", "uid"), "types.UID");
        assert_eq!(of("core/v1.ServiceSpec", "ipFamilies"), "[]v1.IPFamily");
        assert_eq!(of("core/v1.Secret", "data"), "map[string][]uint8");
        let statuses = "map[v1.ResourceName]v1.ClaimResourceStatus";
        assert_eq!(of("core/v1.PersistentVolumeClaimStatus", "allocatedResourceStatuses"), statuses);
        assert_eq!(of("autoscaling/v2.HorizontalPodAutoscaler", "spec"), "v2.HorizontalPodAutoscalerSpec");
    }

    #[test]
    fn every_named_text_is_a_text_of_the_schema() {
        let short_names: Vec<_> = schema().messages().collect();
        for (message, field, _) in NAMED {
            let found = short_names.iter().any(|(id, m)| {
                m.short_name() == message
                    && schema().field(*id, field).is_some_and(|f| match &f.kind {
                        Type::String => true,
                        Type::List(element) => **element == Type::String,
                        Type::Map(value) => matches!(**value, Type::String | Type::Time),
                        _ => false,
                    })
            });
            assert!(found, "{message}.{field}");
        }
    }
}
