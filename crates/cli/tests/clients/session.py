"""A session of the official Python client: the operations of a typical script, in its own namespace.

Ends with exit code 0 and a line per step, or with the assertion that failed.
"""
import sys

from kubernetes import client, config, watch

NAMESPACE = "python"


def deployment():
    labels = {"app": "web"}
    container = client.V1Container(name="web", image="nginx:1", env=[client.V1EnvVar(name="A", value="1")])
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container])
    )
    spec = client.V1DeploymentSpec(
        replicas=2, selector=client.V1LabelSelector(match_labels=labels), template=template
    )
    return client.V1Deployment(metadata=client.V1ObjectMeta(name="web", labels=labels), spec=spec)


def refused(status, reason, call, *arguments, **options):
    """The call is rejected, and the client gets the reason."""
    try:
        call(*arguments, **options)
    except client.ApiException as refusal:
        assert (refusal.status, reason in refusal.body) == (status, True), (refusal.status, refusal.body)
    else:
        raise AssertionError(f"{call.__name__} was not rejected")


def create_and_read(core, apps):
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    created = apps.create_namespaced_deployment(NAMESPACE, deployment())
    assert created.metadata.uid and created.metadata.generation == 1
    assert created.spec.strategy.rolling_update.max_surge == "25%", created.spec.strategy
    assert apps.read_namespaced_deployment("web", NAMESPACE).metadata.uid == created.metadata.uid
    refused(409, "AlreadyExists", apps.create_namespaced_deployment, NAMESPACE, deployment())
    refused(404, "NotFound", apps.read_namespaced_deployment, "missing", NAMESPACE)
    bad = deployment()
    bad.metadata.name, bad.spec.replicas = "bad", -1
    refused(422, "must be greater than or equal to 0", apps.create_namespaced_deployment, NAMESPACE, bad)


def list_in_pages(core, _):
    for name in "abcde":
        core.create_namespaced_config_map(
            NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"half": name < "c" and "1" or "2"}))
        )
    names, token = [], None
    while True:
        page = core.list_namespaced_config_map(NAMESPACE, limit=2, _continue=token, field_selector="metadata.name!=kube-root-ca.crt")
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue
        if not token:
            break
    assert names == list("abcde"), names
    chosen = core.list_namespaced_config_map(NAMESPACE, label_selector="half in (2)")
    assert [item.metadata.name for item in chosen.items] == list("cde")


def watch_through_a_reconnect(core, _):
    """The first watch times out; the second continues from its resource version and misses no event."""
    start = core.list_namespaced_secret(NAMESPACE).metadata.resource_version
    seen, last = [], start
    for round_ in range(2):
        core.create_namespaced_secret(NAMESPACE, client.V1Secret(metadata=client.V1ObjectMeta(name=f"s{round_}")))
        stream = watch.Watch().stream(
            core.list_namespaced_secret, NAMESPACE, resource_version=last, timeout_seconds=1, allow_watch_bookmarks=True
        )
        for event in stream:
            if event["type"] == "BOOKMARK":
                last = event["raw_object"]["metadata"]["resourceVersion"]
                continue
            last = event["object"].metadata.resource_version
            seen.append((event["type"], event["object"].metadata.name))
        core.delete_namespaced_secret(f"s{round_}", NAMESPACE)
    assert seen == [("ADDED", "s0"), ("DELETED", "s0"), ("ADDED", "s1")], seen


def patch_in_every_way(_, apps):
    web = ("web", NAMESPACE)
    strategic = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:2"}]}}}}
    patched = apps.patch_namespaced_deployment(*web, strategic)
    (container,) = patched.spec.template.spec.containers
    assert (container.image, container.env[0].name) == ("nginx:2", "A"), container
    patched = apps.patch_namespaced_deployment(*web, [{"op": "replace", "path": "/spec/replicas", "value": 3}])
    assert patched.spec.replicas == 3
    merge = {"metadata": {"annotations": {"note": "merged"}}}
    patched = apps.patch_namespaced_deployment(*web, merge, _content_type="application/merge-patch+json")
    assert patched.metadata.annotations["note"] == "merged"
    applied = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"applied": "yes"}},
    }
    patched = apps.patch_namespaced_deployment(
        *web, applied, field_manager="session", _content_type="application/apply-patch+yaml"
    )
    assert patched.metadata.labels == {"app": "web", "applied": "yes"}
    scale = apps.patch_namespaced_deployment_scale(*web, {"spec": {"replicas": 1}})
    assert scale.spec.replicas == 1


def update_under_a_version(_, apps):
    web = apps.read_namespaced_deployment("web", NAMESPACE)
    web.spec.replicas = 4
    assert apps.replace_namespaced_deployment("web", NAMESPACE, web).spec.replicas == 4
    refused(409, "Conflict", apps.replace_namespaced_deployment, "web", NAMESPACE, web)


def delete_with_every_policy(_, apps):
    for policy in ("Background", "Foreground", "Orphan"):
        victim = deployment()
        victim.metadata.name = policy.lower()
        apps.create_namespaced_deployment(NAMESPACE, victim)
        apps.delete_namespaced_deployment(policy.lower(), NAMESPACE, propagation_policy=policy)
        if policy == "Background":
            refused(404, "NotFound", apps.read_namespaced_deployment, "background", NAMESPACE)
    web = apps.delete_namespaced_deployment("web", NAMESPACE)
    assert web["status"] == "Success", web


def main():
    config.load_kube_config()
    core, apps = client.CoreV1Api(), client.AppsV1Api()
    assert client.VersionApi().get_code().major == "1"
    steps = (create_and_read, list_in_pages, watch_through_a_reconnect, patch_in_every_way, update_under_a_version,
             delete_with_every_policy)
    for step in steps:
        step(core, apps)
        print("ok", step.__name__, flush=True)


if __name__ == "__main__":
    sys.exit(main())
