//! Storage, limits and networks: invalid objects are refused as by Kubernetes 1.37.
//!
//! Each story is a valid object and a few changes to it, as merge patches, with the errors that Kubernetes returned.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod changes;

use gantry_json::Value;
use gantry_registry::{admission, defaults, validation};
use gantry_schema::kinds::kinds;

const STORAGE: &str = include_str!("storage.json");
const LIMITS: &str = include_str!("limits.json");
const NETWORK: &str = include_str!("network.json");

#[test]
fn a_volume_has_one_source_a_capacity_and_valid_access_modes() {
    replay(STORAGE, "a_volume_has_one_source_a_capacity_and_valid_access_modes");
}

#[test]
fn each_storage_system_needs_its_own_fields() {
    replay(STORAGE, "each_storage_system_needs_its_own_fields");
}

#[test]
fn a_claim_requests_storage_with_valid_access_modes() {
    replay(STORAGE, "a_claim_requests_storage_with_valid_access_modes");
}

#[test]
fn a_class_has_a_provisioner_and_known_policies() {
    replay(STORAGE, "a_class_has_a_provisioner_and_known_policies");
}

#[test]
fn fields_of_csi_drivers_have_known_values() {
    replay(STORAGE, "fields_of_csi_drivers_have_known_values");
}

#[test]
fn nodes_name_their_drivers_once() {
    replay(STORAGE, "nodes_name_their_drivers_once");
}

#[test]
fn an_attachment_names_one_volume_and_one_node() {
    replay(STORAGE, "an_attachment_names_one_volume_and_one_node");
}

#[test]
fn a_capacity_is_of_a_class_and_not_negative() {
    replay(STORAGE, "a_capacity_is_of_a_class_and_not_negative");
}

#[test]
fn a_limit_names_known_resources_once() {
    replay(LIMITS, "a_limit_names_known_resources_once");
}

#[test]
fn amounts_of_a_limit_agree_with_each_other() {
    replay(LIMITS, "amounts_of_a_limit_agree_with_each_other");
}

#[test]
fn a_quota_limits_known_resources_in_whole_numbers() {
    replay(LIMITS, "a_quota_limits_known_resources_in_whole_numbers");
}

#[test]
fn scopes_of_a_quota_apply_to_what_it_limits() {
    replay(LIMITS, "scopes_of_a_quota_apply_to_what_it_limits");
}

#[test]
fn an_autoscaler_has_a_target_and_a_range() {
    replay(LIMITS, "an_autoscaler_has_a_target_and_a_range");
}

#[test]
fn a_metric_has_a_source_and_a_target() {
    replay(LIMITS, "a_metric_has_a_source_and_a_target");
}

#[test]
fn scaling_rules_are_within_their_bounds() {
    replay(LIMITS, "scaling_rules_are_within_their_bounds");
}

#[test]
fn an_ingress_sends_requests_to_services_that_can_exist() {
    replay(NETWORK, "an_ingress_sends_requests_to_services_that_can_exist");
}

#[test]
fn a_network_policy_names_peers_and_ports() {
    replay(NETWORK, "a_network_policy_names_peers_and_ports");
}

#[test]
fn an_endpoint_slice_holds_addresses_of_its_type() {
    replay(NETWORK, "an_endpoint_slice_holds_addresses_of_its_type");
}

#[test]
fn endpoints_hold_addresses_and_named_ports() {
    replay(NETWORK, "endpoints_hold_addresses_and_named_ports");
}

/// Applies every change of a story to its valid object and compares the errors with the recorded ones.
fn replay(stories: &str, name: &str) {
    let stories: Value = gantry_json::from_str(stories).unwrap();
    let story = &stories[name];
    let (kind, valid) = (&story["kind"], &story["valid"]);
    assert_eq!(refused(kind, valid.clone()), [""; 0], "{name}: the valid object");
    for case in story["cases"].as_array().unwrap() {
        let mut object = valid.clone();
        change(&mut object, &case["change"]);
        let expected: Vec<_> =
            case["refused"].as_array().unwrap().iter().map(|error| error.as_str().unwrap()).collect();
        assert_eq!(refused(kind, object), expected, "{name}: {}", case["change"]);
    }
}

/// Returns the errors in a new object.
fn refused(kind: &Value, mut object: Value) -> Vec<String> {
    let [group, version, name] = [&kind[0], &kind[1], &kind[2]].map(|part| part.as_str().unwrap());
    let kind = kinds().kind(group, version, name).unwrap();
    defaults::apply(kind, &mut object);
    admission::admit_create(kind, &mut object);
    validation::create(kind, &object).errors.iter().map(ToString::to_string).collect()
}

/// Applies a merge patch.
fn change(object: &mut Value, patch: &Value) {
    let (Some(members), Some(changes)) = (object.as_object_mut(), patch.as_object()) else { return };
    for (name, value) in changes {
        match (members.get_mut(name), value) {
            (_, Value::Null) => drop(members.remove(name)),
            (Some(held @ Value::Object(_)), Value::Object(_)) => change(held, value),
            _ => drop(members.insert(name.clone(), value.clone())),
        }
    }
}
