//! Affinity, anti-affinity and topology spread between pods.

use super::*;

fn in_zone(name: &str, zone: &str) -> Value {
    with(node(name), "/metadata/labels", &json!({"kubernetes.io/hostname": name, "zone": zone}))
}

fn labelled(mut pod: Value, app: &str) -> Value {
    pod["metadata"]["labels"] = json!({"app": app, "pod-template-hash": "v1"});
    pod
}

fn term(app: &str, topology: &str) -> Value {
    json!({"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": topology})
}

fn affinity(kind: &str, terms: &Value) -> Value {
    json!({"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}})
}

#[test]
fn a_pod_with_anti_affinity_to_its_replicas_gets_a_node_of_its_own() {
    let mut cluster = cluster(&[node("a"), node("b")]);
    let anti_affinity = affinity("podAntiAffinity", &json!([term("web", "kubernetes.io/hostname")]));
    let web = |n: usize| labelled(pod(&format!("web-{n}"), &anti_affinity), "web");
    assert_eq!(schedule(&mut cluster, &web(1)), "a");
    assert_eq!(schedule(&mut cluster, &web(2)), "b");
    assert_eq!(
        place_pod(&cluster, &web(3)),
        "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. preemption: 0/2 nodes are \
         available: 2 No preemption victims found for incoming pod."
    );
    // The anti-affinity of existing pods counts too.
    let other = labelled(pod("other", &json!({})), "web");
    let message = place_pod(&cluster, &other);
    assert!(
        message.starts_with(
            "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules."
        ),
        "{message}"
    );
    cluster.remove_pod("uid-web-1");
    assert_eq!(place_pod(&cluster, &web(3)), "a");
    let unknown_nodes = {
        let mut pod = web(4);
        pod["metadata"]["namespace"] = json!("bank");
        pod
    };
    assert_eq!(place_pod(&cluster, &unknown_nodes), "a", "other namespaces do not matter unless named");
}

#[test]
fn namespaces_may_be_named_or_selected() {
    let mut bank = labelled(pod("bank", &json!({})), "web");
    bank["metadata"]["namespace"] = json!("bank");
    let mut cluster = cluster(&[node("a")]);
    assert_eq!(schedule(&mut cluster, &bank), "a");
    let with_namespaces = |field: &str, value: Value| {
        let mut term = term("web", "kubernetes.io/hostname");
        term[field] = value;
        place_pod(&cluster, &labelled(pod("web", &affinity("podAntiAffinity", &json!([term]))), "web")) == "a"
    };
    assert!(with_namespaces("namespaces", json!(["shop"])));
    assert!(!with_namespaces("namespaces", json!(["bank"])));
    assert!(!with_namespaces("namespaceSelector", json!({})), "an empty selector means all namespaces");
    let by_name = |name: &str| json!({"matchLabels": {"kubernetes.io/metadata.name": name}});
    assert!(!with_namespaces("namespaceSelector", by_name("bank")));
    assert!(with_namespaces("namespaceSelector", by_name("shop")));
}

#[test]
fn a_pod_is_scheduled_to_the_domain_of_its_affinity() {
    let mut cluster = cluster(&[in_zone("a", "east"), in_zone("b", "west"), in_zone("c", "west")]);
    let affinity_to_cache = affinity("podAffinity", &json!([term("cache", "zone")]));
    let web = labelled(pod("web", &affinity_to_cache), "web");
    let message = place_pod(&cluster, &web);
    assert!(
        message.starts_with("0/3 nodes are available: 3 node(s) didn't match pod affinity rules."),
        "{message}"
    );
    cluster.add_pod(&parsed_pod(&labelled(requesting("cache", "1", "1Gi"), "cache")), "c");
    assert_eq!(place_pod(&cluster, &web), "b");
    // A pod that matches its own affinity may be the first one in any domain.
    let own_kind = labelled(pod("first", &affinity("podAffinity", &json!([term("first", "zone")]))), "first");
    assert_eq!(schedule(&mut cluster, &own_kind), "a");
    let next = labelled(pod("second", &affinity("podAffinity", &json!([term("first", "zone")]))), "first");
    assert_eq!(place_pod(&cluster, &next), "a");
}

#[test]
fn pods_are_spread_evenly_over_domains() {
    let spread = |more: Value| {
        let mut constraint = json!({
            "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        });
        constraint.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"topologySpreadConstraints": [constraint]})
    };
    let web = |n: usize, spec: &Value| labelled(pod(&format!("web-{n}"), spec), "web");
    let nodes = [in_zone("a", "east"), in_zone("b", "east"), in_zone("c", "west")];
    let mut even = cluster(&nodes);
    let homes: Vec<_> = (0..4).map(|n| schedule(&mut even, &web(n, &spread(json!({}))))).collect();
    assert_eq!(homes.iter().filter(|home| *home == "c").count(), 2, "{homes:?}");
    // A node without the label is rejected, and a full zone prevents more pods in the other one.
    let small = with(in_zone("c", "west"), "/status/allocatable/pods", &json!("0"));
    let mut stuck = cluster(&[node("lost"), in_zone("a", "east"), small]);
    assert_eq!(schedule(&mut stuck, &web(1, &spread(json!({})))), "a");
    let message = place_pod(&stuck, &web(2, &spread(json!({}))));
    assert!(
        message.starts_with(
            "0/3 nodes are available: 1 Too many pods, 1 node(s) didn't match pod topology spread constraints, 1 node(s) \
             didn't match pod topology spread constraints (missing required label)."
        ),
        "{message}"
    );
    // With `matchLabelKeys` another revision is counted separately.
    let mut next = web(3, &spread(json!({"matchLabelKeys": ["pod-template-hash"]})));
    next["metadata"]["labels"]["pod-template-hash"] = json!("v2");
    assert_eq!(place_pod(&stuck, &next), "a");
    // Too few domains count as if another one were empty.
    let one = cluster(&[in_zone("a", "east")]);
    assert_eq!(place_pod(&one, &web(1, &spread(json!({"minDomains": 2})))), "a");
    let mut one = one;
    schedule(&mut one, &web(1, &spread(json!({}))));
    assert_eq!(place_pod(&one, &web(2, &spread(json!({})))), "a");
    assert!(place_pod(&one, &web(2, &spread(json!({"minDomains": 2})))).starts_with("0/1"));
}
