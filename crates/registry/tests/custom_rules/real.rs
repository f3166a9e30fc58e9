//! Rules as in widely used definitions.

use gantry_json::{Value, json};

use super::{changed, created, with_spec};

/// Appendix E: exactly one or at most one of several fields, as in definitions of gateways and certificates.
#[test]
fn one_of_several_fields() {
    let structure = with_spec(&json!({"type": "object", "properties": {
        "acme": {"type": "object"}, "ca": {"type": "object"}, "vault": {"type": "object"},
        "type": {"type": "string"},
        "filters": {"type": "array", "maxItems": 16, "items": {"type": "object", "properties": {
            "type": {"type": "string"},
            "redirect": {"type": "object", "properties": {"port": {"type": "integer"}}},
            "mirror": {"type": "object", "properties": {"port": {"type": "integer"}}},
        }, "x-kubernetes-validations": [
            {"rule": "!(has(self.redirect) && self.type != 'RequestRedirect')",
             "message": "filter.redirect must be nil if the filter.type is not RequestRedirect"},
            {"rule": "!(!has(self.redirect) && self.type == 'RequestRedirect')",
             "message": "filter.redirect must be specified for RequestRedirect filter.type"},
        ]}, "x-kubernetes-validations": [
            {"rule": "!(self.exists(f, f.type == 'RequestRedirect') && self.exists(f, f.type == 'URLRewrite'))",
             "message": "May specify either redirect or rewrite, but not both"},
            {"rule": "self.filter(f, f.type == 'RequestRedirect').size() <= 1",
             "message": "RequestRedirect filter cannot be repeated"},
        ]},
    }, "x-kubernetes-validations": [
        {"rule": "[has(self.acme), has(self.ca), has(self.vault)].exists_one(x, x)",
         "message": "exactly one of acme, ca and vault must be set"},
        {"rule": "(has(self.acme)?1:0) + (has(self.ca)?1:0) <= 1", "message": "at most one"},
    ]}));
    let table: [(Value, &[&str]); 5] = [
        (json!({"ca": {}}), &[]),
        (json!({}), &["spec: Invalid value: exactly one of acme, ca and vault must be set"]),
        (
            json!({"ca": {}, "acme": {}}),
            &[
                "spec: Invalid value: exactly one of acme, ca and vault must be set",
                "spec: Invalid value: at most one",
            ],
        ),
        (
            json!({"ca": {}, "filters": [{"type": "RequestRedirect"}, {"type": "URLRewrite", "redirect": {}}]}),
            &[
                "spec.filters: Invalid value: May specify either redirect or rewrite, but not both",
                "spec.filters[0]: Invalid value: filter.redirect must be specified for RequestRedirect filter.type",
                "spec.filters[1]: Invalid value: filter.redirect must be nil if the filter.type is not RequestRedirect",
            ],
        ),
        (
            json!({"ca": {}, "filters": [{"type": "RequestRedirect", "redirect": {}}, {"type": "RequestRedirect", "redirect": {}}]}),
            &["spec.filters: Invalid value: RequestRedirect filter cannot be repeated"],
        ),
    ];
    for (spec, expected) in table {
        assert_eq!(created(&structure, &spec), expected, "{spec}");
    }
}

/// Appendix E: the listeners of a gateway.
#[test]
fn rules_of_gateway_listeners_are_evaluated() {
    let text = json!({"type": "string"});
    let structure = with_spec(&json!({"type": "object", "properties": {"listeners": {
    "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
    "items": {"type": "object", "required": ["name", "port", "protocol"], "properties": {
        "name": text, "hostname": text, "port": {"type": "integer"}, "protocol": text,
        "tls": {"type": "object", "properties": {"mode": text, "certificateRefs": {"type": "array", "items": text}}},
    }},
    "x-kubernetes-validations": [
        {"message": "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
         "rule": "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)"},
        {"message": "Combination of port, protocol and hostname must be unique for each listener",
         "rule": "self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && \
                  (has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname : \
                  !has(l1.hostname) && !has(l2.hostname))))"},
        {"message": "certificateRefs must be specified when mode is Terminate",
         "rule": "self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode != 'Terminate' || \
                  size(l.tls.certificateRefs) > 0) : true)"},
    ]}}}));
    let listener =
        |name: &str, port: i64, protocol: &str| json!({"name": name, "port": port, "protocol": protocol});
    let mut with_tls = listener("c", 81, "HTTP");
    with_tls["tls"] = json!({"mode": "Terminate"});
    let table: [(Vec<Value>, &[&str]); 4] = [
        (vec![listener("a", 80, "HTTP"), listener("b", 443, "HTTPS")], &[]),
        (
            vec![listener("a", 80, "HTTP"), listener("b", 80, "HTTP")],
            &[
                "spec.listeners: Invalid value: Combination of port, protocol and hostname must be unique for each listener",
            ],
        ),
        (
            vec![with_tls.clone()],
            &[
                "spec.listeners: Invalid value: tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
            ],
        ),
        (
            {
                with_tls["protocol"] = json!("HTTPS");
                vec![with_tls]
            },
            &[
                "spec.listeners: Invalid value: \"array\": no such key: certificateRefs evaluating rule: certificateRefs must be \
               specified when mode is Terminate",
            ],
        ),
    ];
    for (listeners, expected) in table {
        assert_eq!(created(&structure, &json!({"listeners": listeners})), expected, "{listeners:?}");
    }
}

/// Appendix E: fields that are immutable, stay set once set, or only grow.
#[test]
fn transition_rules_restrict_changes() {
    let structure = with_spec(&json!({"type": "object", "properties": {
        "class": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "Value is immutable"}]},
        "size": {"type": "string"},
        "members": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"},
            "x-kubernetes-validations": [{"rule": "oldSelf.all(m, m in self)", "message": "members cannot be removed"}]},
        "address": {"type": "string"},
    }, "x-kubernetes-validations": [
        {"rule": "!has(oldSelf.address) || has(self.address)", "message": "address is required once set", "fieldPath": ".address",
         "reason": "FieldValueRequired"},
        {"rule": "quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0",
         "messageExpression": "'cannot shrink from ' + oldSelf.size + ' to ' + self.size", "fieldPath": ".size",
         "reason": "FieldValueForbidden"},
    ]}));
    let old = json!({"class": "a", "size": "1Gi", "members": ["x", "y"], "address": "here"});
    assert!(
        changed(
            &structure,
            &old,
            &json!({"class": "a", "size": "2Gi", "members": ["y", "z", "x"], "address": "there"})
        )
        .is_empty()
    );
    assert_eq!(
        changed(&structure, &old, &json!({"class": "b", "size": "500Mi", "members": ["x"]})),
        [
            "spec.address: Required value: address is required once set",
            "spec.size: Forbidden: cannot shrink from 1Gi to 500Mi",
            "spec.class: Invalid value: \"b\": Value is immutable",
            "spec.members: Invalid value: members cannot be removed",
        ]
    );
}

/// Appendix E: examples of Kubernetes' documentation, with an object that obeys each rule and one that breaks it.
#[test]
fn rules_of_the_documentation_accept_and_reject() {
    let text = json!({"type": "string"});
    let properties = json!({
        "minReplicas": {"type": "integer"}, "replicas": {"type": "integer"}, "maxReplicas": {"type": "integer"},
        "stateCounts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "set1": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
        "set2": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
        "expired": {"type": "boolean"}, "created": {"type": "string", "format": "date-time"},
        "ttl": {"type": "string", "format": "duration"},
        "health": text, "widgets": {"type": "array", "items": {"type": "object", "properties": {
            "key": text, "foo": {"type": "integer"}}}},
        "url": text, "port": {"x-kubernetes-int-or-string": true}, "cidr": text, "ips": {"type": "array", "items": text},
        "schedule": text, "namespace": text, "priority": {"type": "integer"},
    });
    let table = [
        (
            "self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas",
            json!({"minReplicas": 1, "replicas": 2, "maxReplicas": 3}),
            json!({"minReplicas": 1, "replicas": 4, "maxReplicas": 3}),
        ),
        (
            "'Available' in self.stateCounts",
            json!({"stateCounts": {"Available": 1}}),
            json!({"stateCounts": {}}),
        ),
        (
            "(self.set1.size() == 0) != (self.set2.size() == 0)",
            json!({"set1": ["a"], "set2": []}),
            json!({"set1": [], "set2": []}),
        ),
        (
            "self.set1.all(e, !(e in self.set2))",
            json!({"set1": ["a"], "set2": ["b"]}),
            json!({"set1": ["a"], "set2": ["a"]}),
        ),
        (
            "has(self.expired) && self.created + self.ttl < timestamp('2024-01-02T00:00:00Z')",
            json!({"expired": true, "created": "2024-01-01T00:00:00Z", "ttl": "1h"}),
            json!({"expired": true, "created": "2024-01-01T23:30:00Z", "ttl": "1h"}),
        ),
        ("self.health.startsWith('ok')", json!({"health": "okay"}), json!({"health": "bad"})),
        (
            "self.widgets.exists(w, w.key == 'x' && w.foo < 10)",
            json!({"widgets": [{"key": "x", "foo": 1}]}),
            json!({"widgets": [{"key": "x", "foo": 10}]}),
        ),
        (
            "type(self.port) == string ? self.port.matches('^[a-z]+$') : self.port > 0 && self.port < 65536",
            json!({"port": "http"}),
            json!({"port": 70000}),
        ),
        (
            "isURL(self.url) && url(self.url).getScheme() == 'https' && url(self.url).getHostname() != 'localhost'",
            json!({"url": "https://a.b:8443/"}),
            json!({"url": "http://a.b/"}),
        ),
        (
            "self.ips.all(i, cidr(self.cidr).containsIP(i))",
            json!({"cidr": "10.0.0.0/8", "ips": ["10.1.1.1"]}),
            json!({"cidr": "10.0.0.0/8", "ips": ["11.1.1.1"]}),
        ),
        (
            "self.schedule.split(' ').size() == 5",
            json!({"schedule": "* * * * *"}),
            json!({"schedule": "daily"}),
        ),
        ("self.?priority.orValue(0) >= 0", json!({}), json!({"priority": -1})),
        (
            "!has(self.__namespace__) || self.__namespace__ != 'default'",
            json!({"namespace": "a"}),
            json!({"namespace": "default"}),
        ),
        (
            "self.widgets.map(w, w.key).isSorted() && self.widgets.map(w, w.foo).sum() <= 10",
            json!({"widgets": [{"key": "a", "foo": 5}, {"key": "b", "foo": 5}]}),
            json!({"widgets": [{"key": "b", "foo": 5}, {"key": "a", "foo": 5}]}),
        ),
        (
            "self.stateCounts.all(state, n, state.matches('^[A-Z]') && n >= 0)",
            json!({"stateCounts": {"Ready": 1}}),
            json!({"stateCounts": {"ready": 1}}),
        ),
    ];
    for (rule, obeys, breaks) in table {
        let structure = with_spec(&json!({"type": "object", "properties": properties,
            "x-kubernetes-validations": [{"rule": rule}]}));
        assert!(created(&structure, &obeys).is_empty(), "{rule}: {:?}", created(&structure, &obeys));
        assert_eq!(created(&structure, &breaks), [format!("spec: Invalid value: failed rule: {rule}")]);
    }
}
