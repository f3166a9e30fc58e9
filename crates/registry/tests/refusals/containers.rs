//! Containers: environment variables, restart policies, resources and security contexts.

use gantry_json::{Value, json};

use super::{NONE, SUBDOMAIN, of_container, of_pod, of_volume};

/// O2.6: a variable or a file can expose only known fields and resources of a pod.
#[test]
fn only_known_fields_and_resources_are_exposed_to_containers() {
    let variable = |from: Value| of_container(json!({"env": [{"name": "A", "valueFrom": from}]}));
    let at = "spec.containers[0].env[0].valueFrom";
    assert_eq!(
        variable(json!({"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}})),
        [format!(
            "{at}.fieldRef.fieldPath: Invalid value: \"metadata.name\": error converting fieldPath: unsupported pod version: v2"
        )]
    );
    assert_eq!(
        variable(json!({"fieldRef": {"fieldPath": "spec['a']"}})),
        [format!(
            "{at}.fieldRef.fieldPath: Invalid value: \"spec['a']\": error converting fieldPath: field label does not support subscript: spec['a']"
        )]
    );
    assert_eq!(
        variable(json!({"resourceFieldRef": {"resource": "limits.foo"}})),
        [format!(
            "{at}.resourceFieldRef.resource: Unsupported value: \"limits.foo\": supported values: \"limits.cpu\", \"limits.ephemeral-storage\", \"limits.memory\", \"requests.cpu\", \"requests.ephemeral-storage\", \"requests.memory\""
        )]
    );
    assert_eq!(
        variable(json!({"resourceFieldRef": {"resource": "limits.cpu", "divisor": "3"}})),
        [format!(
            "{at}.resourceFieldRef.divisor: Invalid value: \"limits.cpu\": only divisor's values 1m and 1 are supported with the cpu resource"
        )]
    );
    assert_eq!(
        variable(json!({"secretKeyRef": {"key": "k"}})),
        [format!("{at}.secretKeyRef.name: Invalid value: \"\": {SUBDOMAIN}")]
    );
    let file = |file: Value| of_volume(json!({"downwardAPI": {"items": [file]}}));
    let at = "spec.volumes[0].downwardAPI";
    assert_eq!(
        file(json!({"path": "x"})),
        [format!("{at}: Required value: one of fieldRef and resourceFieldRef is required")]
    );
    assert_eq!(
        file(json!({"path": "x", "resourceFieldRef": {"resource": "limits.cpu"}})),
        [format!("{at}.resourceFieldRef.containerName: Required value")]
    );
    assert_eq!(
        file(json!({"path": "x", "fieldRef": {"fieldPath": "spec.nodeName"}})),
        [format!(
            "{at}.fieldRef.fieldPath: Unsupported value: \"spec.nodeName\": supported values: \"metadata.annotations\", \"metadata.labels\", \"metadata.name\", \"metadata.namespace\", \"metadata.uid\""
        )]
    );
}

/// O2.6: a sleep in a `preStop` hook is not longer than the grace period.
#[test]
fn a_sleep_is_within_the_grace_period() {
    assert_eq!(
        of_container(json!({"lifecycle": {"preStop": {"sleep": {"seconds": 31}}}})),
        [
            "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)"
        ]
    );
    assert_eq!(of_container(json!({"lifecycle": {"preStop": {"sleep": {"seconds": 30}}}})), NONE);
    assert_eq!(
        of_container(
            json!({"livenessProbe": {"httpGet": {"port": 80, "httpHeaders": [{"name": "a b", "value": "x"}]}}})
        ),
        [
            "spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"
        ]
    );
}

/// O2.6: containers can have one of three restart policies, and rules.
#[test]
fn containers_restart_by_known_policies() {
    let at = "spec.containers[0]";
    assert_eq!(
        of_container(json!({"restartPolicy": "Foo"})),
        [format!(
            "{at}.restartPolicy: Unsupported value: \"Foo\": supported values: \"Always\", \"Never\", \"OnFailure\""
        )]
    );
    assert_eq!(
        of_container(json!({"restartPolicyRules": [{"action": "Foo"}]})),
        [
            format!(
                "{at}.restartPolicy: Required value: must specify restartPolicy when restart rules are used"
            ),
            format!(
                "{at}.restartPolicyRules[0].action: Unsupported value: \"Foo\": supported values: \"Restart\", \"RestartAllContainers\""
            ),
            format!("{at}.restartPolicyRules[0].exitCodes: Required value: must be specified"),
        ]
    );
    let twice = json!({"resourceName": "cpu", "restartPolicy": "NotRequired"});
    assert_eq!(
        of_container(json!({"resizePolicy": [twice, twice]})),
        [format!("{at}.resizePolicy[1]: Duplicate value: \"cpu\"")]
    );
    assert_eq!(
        of_container(json!({"terminationMessagePolicy": "Foo"})),
        [format!(
            "{at}.terminationMessagePolicy: Unsupported value: \"Foo\": supported values: \"File\", \"FallbackToLogsOnError\""
        )]
    );
}

/// O2.6: containers can use only the claims of their pod, and huge pages require CPU or memory.
#[test]
fn containers_use_the_claims_of_their_pod_only() {
    assert_eq!(
        of_container(json!({"resources": {"claims": [{"name": "x"}]}})),
        [
            "spec.containers[0].resources.claims[0]: Not found: \"x\": must be one of the names in pod.spec.resourceClaims which is empty"
        ]
    );
    assert_eq!(
        of_container(json!({"resources": {"limits": {"hugepages-2Mi": "4Mi"}}})),
        ["spec.containers[0].resources: Forbidden: HugePages require cpu or memory"]
    );
}

/// O2.6: security contexts, sysctls, host namespaces, and names of hosts.
#[test]
fn contexts_do_not_contradict_themselves() {
    let escalation = json!({"privileged": true, "allowPrivilegeEscalation": false});
    assert_eq!(
        of_container(json!({"securityContext": escalation})),
        [concat!(
            "spec.containers[0].securityContext: Invalid value: {\"Capabilities\":null,\"Privileged\":true,",
            "\"SELinuxOptions\":null,\"WindowsOptions\":null,\"RunAsUser\":null,\"RunAsGroup\":null,",
            "\"RunAsNonRoot\":null,\"ReadOnlyRootFilesystem\":null,\"AllowPrivilegeEscalation\":false,",
            "\"ProcMount\":null,\"SeccompProfile\":null,\"AppArmorProfile\":null}: ",
            "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        )]
    );
    assert_eq!(
        of_container(json!({"securityContext": {"appArmorProfile": {"type": "Localhost"}}})),
        [
            "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost"
        ]
    );
    let parameter = json!({"name": "net.core.somaxconn", "value": "1"});
    assert_eq!(
        of_pod(json!({"hostNetwork": true, "securityContext": {"sysctls": [parameter, parameter]}})),
        [
            "spec.securityContext.sysctls[0].name: Invalid value: \"net.core.somaxconn\": may not be specified when 'hostNetwork' is true",
            "spec.securityContext.sysctls[1].name: Duplicate value: \"net.core.somaxconn\"",
            "spec.securityContext.sysctls[1].name: Invalid value: \"net.core.somaxconn\": may not be specified when 'hostNetwork' is true",
        ]
    );
    assert_eq!(
        of_pod(json!({"hostUsers": false, "hostPID": true, "shareProcessNamespace": true})),
        [
            "spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
            "spec.HostPID: Forbidden: when `hostUsers` is false",
        ]
    );
    assert_eq!(
        of_pod(json!({"os": {"name": "plan9"}})),
        ["spec.os: Unsupported value: \"plan9\": supported values: \"linux\", \"windows\""]
    );
    assert_eq!(
        of_pod(json!({"hostnameOverride": "A_", "hostAliases": [{"ip": "1.1.1.1", "hostnames": ["A"]}]})),
        [
            format!("spec.hostnameOverride: Invalid value: \"A_\": {SUBDOMAIN}"),
            format!("spec.hostAliases[0].hostnames[0]: Invalid value: \"A\": {SUBDOMAIN}"),
        ]
    );
    assert_eq!(
        of_pod(json!({"dnsConfig": {"nameservers": ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"]}})),
        [
            "spec.dnsConfig.nameservers: Invalid value: [\"1.1.1.1\",\"1.1.1.2\",\"1.1.1.3\",\"1.1.1.4\"]: must not have more than 3 nameservers"
        ]
    );
    assert_eq!(of_pod(json!({"dnsConfig": {"searches": ["_a._tcp.example.com."]}})), NONE);
}
