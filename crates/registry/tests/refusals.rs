//! Wrong values of many fields, each refused with Kubernetes' own words.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use gantry_registry::kinds::kinds;
use gantry_registry::{defaults, validation};
use serde_json::{Value, json};

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// O2.6: what a variable or a file shows of its pod must be there to be shown.
#[test]
fn only_what_is_there_is_shown_to_containers() {
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

/// O2.6: a projected volume has one source at a time, and each path once.
#[test]
fn projected_volumes_do_not_collide() {
    let projected = |sources: Value| of_volume(json!({"projected": {"sources": sources}}));
    let at = "spec.volumes[0].projected";
    assert_eq!(
        projected(json!([{"secret": {"name": "x"}, "configMap": {"name": "y"}}])),
        [format!("{at}.sources[0]: Forbidden: may not specify more than 1 volume type per source")]
    );
    let items = json!([{"key": "a", "path": "p"}]);
    assert_eq!(
        projected(
            json!([{"secret": {"name": "x", "items": items}}, {"configMap": {"name": "y", "items": items}}])
        ),
        [format!("{at}: Invalid value: \"y\": conflicting duplicate paths")]
    );
    assert_eq!(
        projected(json!([{"serviceAccountToken": {"path": "", "expirationSeconds": 5}}])),
        [
            format!(
                "{at}.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes"
            ),
            format!("{at}.path: Required value"),
        ]
    );
}

/// O2.6: mounts that spread, or that cannot be written to, have conditions; devices are claims.
#[test]
fn mounts_and_devices_have_conditions() {
    let mounted = |mount: Value| {
        let mut mount = mount;
        mount["name"] = json!("v");
        mount["mountPath"] = json!("/a");
        let container = json!({"name": "c", "image": "i", "volumeMounts": [mount]});
        of_pod(json!({"volumes": [{"name": "v"}], "containers": [container]}))
    };
    let at = "spec.containers[0].volumeMounts";
    assert_eq!(
        mounted(json!({"mountPropagation": "Bidirectional"})),
        [format!(
            "{at}.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers"
        )]
    );
    assert_eq!(
        mounted(json!({"recursiveReadOnly": "Enabled"})),
        [format!("{at}.recursiveReadOnly: Forbidden: may only be specified when readOnly is true")]
    );
    assert_eq!(
        mounted(json!({"recursiveReadOnly": "Foo"})),
        [format!(
            "{at}.recursiveReadOnly: Unsupported value: \"Foo\": supported values: \"Disabled\", \"Enabled\", \"IfPossible\""
        )]
    );
    let container =
        json!({"name": "c", "image": "i", "volumeDevices": [{"name": "v", "devicePath": "/a/../b"}]});
    assert_eq!(
        of_pod(json!({"volumes": [{"name": "v"}], "containers": [container]})),
        [
            "spec.containers[0].volumeDevices[0].name: Invalid value: \"v\": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
            "spec.containers[0].volumeDevices[0].devicePath: Invalid value: \"/a/../b\": can not contain backsteps ('..')",
        ]
    );
}

/// O2.6: what is done at the end fits into the time there is for it.
#[test]
fn a_sleep_ends_before_the_pod_does() {
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

/// O2.6: containers may have a policy of their own, of three.
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

/// O2.6: claims on devices are the pod's, and pages of memory need memory.
#[test]
fn containers_claim_what_the_pod_has() {
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

/// O2.6: where a pod may run is asked for in known words.
#[test]
fn places_are_asked_for_in_known_words() {
    let at = "spec.tolerations[0]";
    assert_eq!(
        of_pod(json!({"tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]})),
        [format!("{at}.operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'")]
    );
    assert_eq!(
        of_pod(json!({"tolerations": [{"key": "a", "operator": "Gt", "value": "5"}]})),
        [format!(
            "{at}.operator: Unsupported value: \"Gt\": supported values: \"Equal\", \"Exists\", \"Lt\", \"Gt\""
        )]
    );
    let constraint = |action: &str| json!({"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": action, "labelSelector": {}});
    let spread = |constraints: Value| of_pod(json!({"topologySpreadConstraints": constraints}));
    let at = "spec.topologySpreadConstraints[0]";
    assert_eq!(
        spread(json!([constraint("DoNotSchedule"), constraint("DoNotSchedule")])),
        [format!("{at}.{{topologyKey, whenUnsatisfiable}}: Duplicate value: \"{{a, DoNotSchedule}}\"")]
    );
    let mut odd = constraint("ScheduleAnyway");
    odd["minDomains"] = json!(0);
    odd["nodeTaintsPolicy"] = json!("y");
    odd["matchLabelKeys"] = json!(["a b"]);
    let found = spread(json!([odd]));
    assert_eq!(found[0], format!("{at}.minDomains: Invalid value: 0: must be greater than zero"));
    assert_eq!(
        found[1],
        format!(
            "{at}.minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
        )
    );
    assert_eq!(
        found[2],
        format!("{at}.nodeTaintsPolicy: Unsupported value: \"y\": supported values: \"Honor\", \"Ignore\"")
    );
    assert!(found[3].starts_with(&format!("{at}.matchLabelKeys[0]: Invalid value: \"a b\": name part")));
    let fields = json!([{"key": "metadata.foo", "operator": "Exists"}]);
    let terms = json!({"nodeSelectorTerms": [{"matchFields": fields}]});
    let at = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]";
    assert_eq!(
        of_pod(
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}})
        ),
        [
            format!("{at}.operator: Invalid value: \"Exists\": not a valid selector operator"),
            format!("{at}.key: Invalid value: \"metadata.foo\": not a valid field selector key"),
        ]
    );
}

/// O2.6: who containers run as, and what they may do to the kernel.
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

/// Appendix A: what only numbered pods can have, and names of time zones.
#[test]
fn jobs_and_schedules_are_consistent() {
    let job = |spec: Value| {
        let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
        let selector = json!({"matchLabels": {"a": "b"}});
        let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": pod});
        let base = json!({"manualSelector": true, "selector": selector, "template": template});
        judged("batch", "Job", &with(json!({"metadata": {"name": "j"}, "spec": base}), "spec", spec))
    };
    assert_eq!(
        job(json!({"completionMode": "Foo"})),
        ["spec.completionMode: Unsupported value: \"Foo\": supported values: \"NonIndexed\", \"Indexed\""]
    );
    assert_eq!(
        job(json!({"maxFailedIndexes": 1})),
        [
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
            "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
        ]
    );
    let mut whole = json!({"spec": {"podFailurePolicy": {"rules": [{"onPodConditions": [{"type": "X"}]}]}}});
    defaults::apply(kinds().kind("batch", "v1", "Job").unwrap(), &mut whole);
    let rule = &whole["spec"]["podFailurePolicy"]["rules"][0];
    assert_eq!(rule["onPodConditions"][0]["status"], "True", "a condition is looked for where it holds");
    assert_eq!(
        job(json!({"podReplacementPolicy": "Foo"})),
        [
            "spec.podReplacementPolicy: Unsupported value: \"Foo\": supported values: \"Failed\", \"TerminatingOrFailed\""
        ]
    );
    let cron_job = |spec: Value| {
        let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
        let base = json!({"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": pod}}}});
        judged("batch", "CronJob", &with(json!({"metadata": {"name": "j"}, "spec": base}), "spec", spec))
    };
    assert_eq!(
        cron_job(json!({"schedule": "TZ=UTC 1 * * * *"})),
        [
            "spec.schedule: Invalid value: \"TZ=UTC 1 * * * *\": cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        ]
    );
    assert_eq!(
        cron_job(json!({"timeZone": ""})),
        ["spec.timeZone: Invalid value: \"\": timeZone must be nil or non-empty string"]
    );
    assert_eq!(
        cron_job(json!({"timeZone": "Europe//Bern"})),
        ["spec.timeZone: Invalid value: \"Europe//Bern\": unknown time zone Europe//Bern"]
    );
}

/// Appendix A: what only a balancer of load can have, and ports that stand twice.
#[test]
fn services_have_what_their_type_has() {
    let service = |spec: Value| {
        let base = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
        judged("", "Service", &with(base, "spec", spec))
    };
    assert_eq!(
        service(json!({"loadBalancerSourceRanges": ["x"], "loadBalancerClass": "x"})),
        [
            "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
            "spec.LoadBalancerSourceRanges[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
            "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
        ]
    );
    assert_eq!(
        service(json!({"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 80}]})),
        [
            "spec.ports[1]: Duplicate value: {\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":80,\"TargetPort\":0,\"NodePort\":0}"
        ]
    );
    assert_eq!(
        service(json!({"externalIPs": ["127.0.0.1"]})),
        [
            "spec.externalIPs[0]: Invalid value: \"127.0.0.1\": may not be in the loopback range (127.0.0.0/8, ::1/128)"
        ]
    );
}

/// O2.6: names in a term are those of namespaces.
#[test]
fn a_term_names_namespaces() {
    let term = json!({"topologyKey": "zone", "namespaces": ["A_"], "matchLabelKeys": ["a"]});
    let terms = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
    let at = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]";
    assert_eq!(
        of_pod(json!({"affinity": {"podAffinity": terms}})),
        [
            format!("{at}.namespace: Invalid value: \"A_\": {LABEL}"),
            format!("{at}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"),
        ]
    );
}

const NONE: [&str; 0] = [];

fn of_container(fields: Value) -> Vec<String> {
    let container = with(json!({"c": {"name": "c", "image": "i"}}), "c", fields)["c"].clone();
    of_pod(json!({"containers": [container]}))
}

fn of_volume(source: Value) -> Vec<String> {
    let volume = with(json!({"v": {"name": "v"}}), "v", source)["v"].clone();
    of_pod(json!({"volumes": [volume]}))
}

fn of_pod(fields: Value) -> Vec<String> {
    let base = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    judged("", "Pod", &with(base, "spec", fields))
}

fn with(mut object: Value, part: &str, fields: Value) -> Value {
    let Value::Object(fields) = fields else { return object };
    for (field, value) in fields {
        object[part][field] = value;
    }
    object
}

fn judged(group: &str, kind: &str, object: &Value) -> Vec<String> {
    let kind = kinds().kind(group, "v1", kind).unwrap();
    let mut object = object.clone();
    object["metadata"]["namespace"] = json!("n");
    defaults::apply(kind, &mut object);
    validation::create(kind, &object).errors.iter().map(ToString::to_string).collect()
}

/// Appendix A: sets that roll forward either surge or go without, and claims are mounted by their names.
#[test]
fn sets_roll_by_one_rule_and_mount_their_claims() {
    let template = |mounts: Value| {
        let container = json!({"name": "c", "image": "i", "volumeMounts": mounts});
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}})
    };
    let set = |kind: &str, fields: Value| {
        let base = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template(json!([]))});
        judged("apps", kind, &with(json!({"metadata": {"name": "s"}, "spec": base}), "spec", fields))
    };
    let rolling = |surge: u8, gone: u8| json!({"updateStrategy": {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": gone}}});
    let at = "spec.updateStrategy.rollingUpdate";
    assert_eq!(
        set("DaemonSet", rolling(1, 1)),
        [format!("{at}.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero")]
    );
    assert_eq!(
        set("DaemonSet", rolling(0, 0)),
        [format!("{at}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0")]
    );
    let mounted = template(json!([{"name": "data", "mountPath": "/data"}]));
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let claims = json!([{"metadata": {"name": "data"}, "spec": claim}]);
    assert_eq!(set("StatefulSet", json!({"template": mounted, "volumeClaimTemplates": claims})), NONE);
    assert_eq!(
        set("StatefulSet", json!({"updateStrategy": {"type": "Foo"}, "ordinals": {"start": -1}, "serviceName": "A"})),
        [
            "spec.updateStrategy: Invalid value: {\"Type\":\"Foo\",\"RollingUpdate\":null}: must be 'RollingUpdate' or 'OnDelete'".to_owned(),
            "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0".to_owned(),
            format!("spec.serviceName: Invalid value: \"A\": {LABEL}"),
        ]
    );
}

/// Appendix A: what leads into a namespace, and who may come.
#[test]
fn ways_in_lead_somewhere() {
    let ingress = |spec: Value| {
        judged("networking.k8s.io", "Ingress", &json!({"metadata": {"name": "i"}, "spec": spec}))
    };
    assert_eq!(
        ingress(json!({})),
        ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]
    );
    let paths = json!([{"path": "x", "pathType": "Prefix", "backend": {"service": {"name": "s"}}}]);
    let at = "spec.rules[0].http.paths[0]";
    assert_eq!(
        ingress(json!({"rules": [{"http": {"paths": paths}}]})),
        [
            format!("{at}.path: Invalid value: \"x\": must be an absolute path"),
            format!("{at}.backend: Required value: port name or number is required"),
        ]
    );
    let policy = |spec: Value| {
        judged("networking.k8s.io", "NetworkPolicy", &json!({"metadata": {"name": "p"}, "spec": spec}))
    };
    assert_eq!(
        policy(json!({"policyTypes": ["Foo"], "ingress": [{"from": [{}], "ports": [{"endPort": 5}]}]})),
        [
            "spec.ingress[0].ports[0].endPort: Invalid value: 5: may not be specified when `port` is not specified",
            "spec.ingress[0].from[0]: Required value: must specify a peer",
            "spec.policyTypes[0]: Unsupported value: \"Foo\": supported values: \"Ingress\", \"Egress\"",
        ]
    );
    let claim = json!({"metadata": {"name": "c"}, "spec": {"accessModes": ["Foo"], "resources": {"requests": {"storage": "-1"}}}});
    assert_eq!(
        judged("", "PersistentVolumeClaim", &claim),
        [
            "spec.accessModes: Unsupported value: \"Foo\": supported values: \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
            "spec.resources[storage]: Invalid value: \"-1\": must be greater than zero",
        ]
    );
}

/// A2.20: what a node's pods are given stays, and a taint stands once.
#[test]
fn nodes_have_each_taint_once_and_keep_their_addresses() {
    let node = |spec: Value| json!({"metadata": {"name": "n"}, "spec": spec});
    let kind = kinds().kind("", "v1", "Node").unwrap();
    let wrong = |spec: Value| {
        let found = validation::create(kind, &node(spec)).errors;
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        wrong(json!({"taints": [{"key": "a", "effect": "Foo"}]})),
        [
            "metadata.taints[0].effect: Unsupported value: \"Foo\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""
        ]
    );
    let taint = json!({"key": "a", "effect": "NoSchedule"});
    assert_eq!(
        wrong(json!({"taints": [taint, taint]})),
        [
            "metadata.taints[1]: Duplicate value: {\"Key\":\"a\",\"Value\":\"\",\"Effect\":\"NoSchedule\",\"TimeAdded\":null}: taints must be unique by key and effect pair"
        ]
    );
    let (old, new) = (node(json!({"podCIDRs": ["10.0.0.0/24"]})), node(json!({"podCIDRs": ["10.0.1.0/24"]})));
    let found = validation::update(kind, &old, &new).errors;
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid"]
    );
}

/// A2.20: a claim grows once it has its volume, and never below what it was given.
#[test]
fn claims_grow_once_they_are_bound() {
    let kind = kinds().kind("", "v1", "PersistentVolumeClaim").unwrap();
    let claim = |size: &str, phase: &str| {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}});
        let status = json!({"phase": phase, "capacity": {"storage": "2Gi"}});
        json!({"metadata": {"name": "c", "namespace": "n"}, "spec": spec, "status": status})
    };
    let wrong = |old: &Value, new: &Value| {
        let found = validation::update(kind, old, new).errors;
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(wrong(&claim("2Gi", "Bound"), &claim("3Gi", "Bound")), NONE);
    let early = wrong(&claim("2Gi", "Pending"), &claim("3Gi", "Pending"));
    assert!(
        early[0].starts_with("spec: Forbidden: spec is immutable after creation except resources.requests")
    );
    assert_eq!(
        wrong(&claim("3Gi", "Bound"), &claim("1Gi", "Bound")),
        ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"]
    );
}
