//! Which fields of a template mean the same when they are zero and when they are absent.
//!
//! In Kubernetes' own types an optional field is either a pointer, for which zero and absent differ (`runAsUser: 0`
//! is root), or a plain value, for which they are the same (`stdin: false`). The wire format does not show which;
//! this table does, for everything reachable from a pod template.

/// Whether an empty object in this field equals an absent one.
pub(super) fn is_plain_struct(owner: &str, field: &str) -> bool {
    match field {
        "metadata" | "spec" => matches!(owner, "PodTemplateSpec" | "PersistentVolumeClaimTemplate"),
        "resources" => matches!(owner, "Container" | "EphemeralContainer" | "PersistentVolumeClaimSpec"),
        "preference" => owner == "PreferredSchedulingTerm",
        "podAffinityTerm" => owner == "WeightedPodAffinityTerm",
        _ => false,
    }
}

/// Whether zero or false in this field equals an absent one.
pub(super) fn is_plain_number(owner: &str, field: &str) -> bool {
    match field {
        "hostNetwork"
        | "hostPID"
        | "hostIPC"
        | "stdin"
        | "stdinOnce"
        | "tty"
        | "hostPort"
        | "initialDelaySeconds"
        | "timeoutSeconds"
        | "periodSeconds"
        | "successThreshold"
        | "failureThreshold"
        | "partition"
        | "chapAuthDiscovery"
        | "chapAuthSession"
        | "sslEnabled"
        | "generation"
        | "divisor" => true,
        "readOnly" => !matches!(owner, "AzureDiskVolumeSource" | "CSIVolumeSource"),
        _ => false,
    }
}

/// Whether an empty text in this field equals an absent one: true except for the few texts that are pointers.
pub(super) fn is_plain_text(owner: &str, field: &str) -> bool {
    let behind_a_pointer = match field {
        "storageClassName"
        | "volumeAttributesClassName"
        | "volumeMode"
        | "runtimeClassName"
        | "preemptionPolicy"
        | "hostnameOverride"
        | "service"
        | "initiatorName"
        | "cachingMode"
        | "localhostProfile"
        | "procMount"
        | "gmsaCredentialSpec"
        | "gmsaCredentialSpecName"
        | "runAsUserName"
        | "fsGroupChangePolicy"
        | "supplementalGroupsPolicy"
        | "seLinuxChangePolicy"
        | "resourceClaimName"
        | "resourceClaimTemplateName"
        | "mountPropagation"
        | "recursiveReadOnly"
        | "apiGroup"
        | "stopSignal"
        | "nodeAffinityPolicy"
        | "nodeTaintsPolicy"
        | "signerName" => true,
        "fsType" | "kind" => matches!(owner, "AzureDiskVolumeSource" | "CSIVolumeSource"),
        "restartPolicy" => matches!(owner, "Container" | "EphemeralContainer"),
        "value" => owner == "PodDNSConfigOption",
        "name" => owner == "ClusterTrustBundleProjection",
        "type" => owner == "HostPathVolumeSource",
        "namespace" => owner == "TypedObjectReference",
        _ => false,
    };
    !behind_a_pointer
}
