"""A session of the official Python client with a custom kind: ApiextensionsV1Api and CustomObjectsApi.

Ends with exit code 0 and a line per step, or with the assertion that failed.
"""
import pathlib
import sys

import yaml
from kubernetes import client, config, dynamic, watch

BOATS = ("sea.example.com", "v1", "default", "boats")
NAME = "boats.sea.example.com"


def boat(name, crew):
    return {"apiVersion": "sea.example.com/v1", "kind": "Boat", "metadata": {"name": name}, "spec": {"crew": crew}}


def refused(status, words, call, *arguments, **options):
    """The call is rejected, and the client gets the reason."""
    try:
        call(*arguments, **options)
    except client.ApiException as refusal:
        assert (refusal.status, words in refusal.body) == (status, True), (refusal.status, refusal.body)
    else:
        raise AssertionError(f"{call.__name__} was not rejected")


def define(definitions, _):
    text = (pathlib.Path(__file__).parent / "boats.yaml").read_text()
    definitions.create_custom_resource_definition(yaml.safe_load(text))
    for event in watch.Watch().stream(definitions.list_custom_resource_definition, timeout_seconds=20):
        conditions = {one.type: one.status for one in event["object"].status.conditions or []}
        if event["object"].metadata.name == NAME and conditions.get("Established") == "True":
            break
    else:
        raise AssertionError("the definition is never established")
    found = definitions.read_custom_resource_definition(NAME)
    assert found.spec.versions[0].schema.open_apiv3_schema.properties["spec"].required == ["crew"], found
    assert found.status.stored_versions == ["v1"], found.status


def create_and_read(_, boats):
    created = boats.create_namespaced_custom_object(*BOATS, boat("anna", 3))
    assert created["spec"] == {"crew": 3, "port": "Hamburg"} and created["metadata"]["generation"] == 1, created
    assert boats.get_namespaced_custom_object(*BOATS, "anna") == created
    for name in ("bertha", "carla"):
        boats.create_namespaced_custom_object(*BOATS, boat(name, 2))
    first = boats.list_namespaced_custom_object(*BOATS, limit=2)
    rest = boats.list_namespaced_custom_object(*BOATS, limit=2, _continue=first["metadata"]["continue"])
    assert [one["metadata"]["name"] for one in first["items"] + rest["items"]] == ["anna", "bertha", "carla"]
    assert first["items"][0]["kind"] == "Boat", first
    assert len(boats.list_cluster_custom_object(BOATS[0], BOATS[1], BOATS[3])["items"]) == 3
    refused(409, "AlreadyExists", boats.create_namespaced_custom_object, *BOATS, boat("anna", 3))
    refused(422, "should be less than or equal to 20", boats.create_namespaced_custom_object, *BOATS, boat("d", 21))
    refused(404, "NotFound", boats.get_namespaced_custom_object, *BOATS, "missing")


def watch_from_a_version(_, boats):
    last = boats.list_namespaced_custom_object(*BOATS)["metadata"]["resourceVersion"]
    boats.patch_namespaced_custom_object(*BOATS, "anna", {"spec": {"crew": 4}})
    boats.delete_namespaced_custom_object(*BOATS, "carla")
    seen, stream = [], watch.Watch()
    for event in stream.stream(boats.list_namespaced_custom_object, *BOATS, resource_version=last, timeout_seconds=20):
        seen.append((event["type"], event["object"]["metadata"]["name"]))
        if len(seen) == 2:
            stream.stop()
    assert seen == [("MODIFIED", "anna"), ("DELETED", "carla")], seen


def change_in_every_way(_, boats):
    anna = boats.get_namespaced_custom_object(*BOATS, "anna")
    blind = boat("anna", 5)
    refused(422, "must be specified for an update", boats.replace_namespaced_custom_object, *BOATS, "anna", blind)
    anna["spec"]["crew"] = 5
    assert boats.replace_namespaced_custom_object(*BOATS, "anna", anna)["metadata"]["generation"] == 3
    refused(409, "Conflict", boats.replace_namespaced_custom_object, *BOATS, "anna", anna)
    status = boats.patch_namespaced_custom_object_status(*BOATS, "anna", {"spec": {"crew": 9}, "status": {"crew": 5}})
    assert (status["spec"]["crew"], status["status"], status["metadata"]["generation"]) == (5, {"crew": 5}, 3), status
    scale = boats.patch_namespaced_custom_object_scale(*BOATS, "anna", {"spec": {"replicas": 6}})
    assert (scale["kind"], scale["spec"], scale["status"]["replicas"]) == ("Scale", {"replicas": 6}, 5), scale
    by_json = [{"op": "test", "path": "/spec/crew", "value": 6}, {"op": "remove", "path": "/spec/port"}]
    patched = boats.patch_namespaced_custom_object(*BOATS, "anna", by_json, _content_type="application/json-patch+json")
    assert patched["spec"] == {"crew": 6, "port": "Hamburg"}, patched


def find_by_discovery(_, boats):
    """The dynamic client knows boats by discovery only."""
    found = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="sea.example.com/v1", kind="Boat")
    assert (found.name, found.namespaced, found.short_names) == ("boats", True, ["bt"]), found
    assert found.get(name="anna", namespace="default").spec.crew == 6
    applied = found.server_side_apply(body=boat("dora", 7), namespace="default", field_manager="session")
    assert applied.metadata.managedFields[0].manager == "session", applied


def delete(definitions, boats):
    for policy in ("Background", "Foreground", "Orphan"):
        boats.create_namespaced_custom_object(*BOATS, boat(policy.lower(), 1))
        boats.delete_namespaced_custom_object(*BOATS, policy.lower(), propagation_policy=policy)
    left = {one["metadata"]["name"]: one["metadata"].get("finalizers") for one in
            boats.list_namespaced_custom_object(*BOATS)["items"]}
    assert "background" not in left and left["foreground"] == ["foregroundDeletion"], left
    for name in ("foreground", "orphan"):
        boats.patch_namespaced_custom_object(*BOATS, name, {"metadata": {"finalizers": None}})
    boats.delete_collection_namespaced_custom_object(*BOATS)
    assert boats.list_namespaced_custom_object(*BOATS)["items"] == []
    definitions.delete_custom_resource_definition(NAME)
    refused(404, "", boats.list_namespaced_custom_object, *BOATS)


def main():
    config.load_kube_config()
    definitions, boats = client.ApiextensionsV1Api(), client.CustomObjectsApi()
    for step in (define, create_and_read, watch_from_a_version, change_in_every_way, find_by_discovery, delete):
        step(definitions, boats)
        print("ok", step.__name__, flush=True)


if __name__ == "__main__":
    sys.exit(main())
