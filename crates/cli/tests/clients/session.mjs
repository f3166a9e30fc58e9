// A session of the official JavaScript client: the operations of a typical program, in its own namespace.
// Ends with exit code 0 and a line per step, or with the assertion that failed.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

// The client is installed in the build directory, not next to this file.
const require = createRequire(`${process.env.NODE_CLIENT}/`);
const k8s = require("@kubernetes/client-node");

const namespace = "javascript";
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);

function deployment(name) {
  const labels = { app: name };
  return {
    metadata: { name, labels },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx:1" }] } },
    },
  };
}

/** The call is rejected, and the client gets the reason. */
async function refused(code, promise) {
  await assert.rejects(promise, (error) => error.code === code, `expected an error with ${code}`);
}

async function createAndRead() {
  await core.createNamespace({ body: { metadata: { name: namespace } } });
  const created = await apps.createNamespacedDeployment({ namespace, body: deployment("web") });
  assert.equal(created.metadata.generation, 1);
  const read = await apps.readNamespacedDeployment({ namespace, name: "web" });
  assert.equal(read.metadata.uid, created.metadata.uid);
  await refused(409, apps.createNamespacedDeployment({ namespace, body: deployment("web") }));
  await refused(404, apps.readNamespacedDeployment({ namespace, name: "missing" }));
}

async function listInPages() {
  for (const name of ["a", "b", "c"]) {
    await core.createNamespacedSecret({ namespace, body: { metadata: { name, labels: { kind: name } } } });
  }
  const first = await core.listNamespacedSecret({ namespace, limit: 2 });
  assert.deepEqual(first.items.map((item) => item.metadata.name), ["a", "b"]);
  const rest = await core.listNamespacedSecret({ namespace, limit: 2, _continue: first.metadata._continue });
  assert.deepEqual(rest.items.map((item) => item.metadata.name), ["c"]);
  const chosen = await core.listNamespacedSecret({ namespace, labelSelector: "kind notin (a,b)" });
  assert.deepEqual(chosen.items.map((item) => item.metadata.name), ["c"]);
}

/** The informer is stopped and started again, and misses no event. */
async function watchThroughAReconnect() {
  const list = () => core.listNamespacedConfigMap({ namespace, fieldSelector: "metadata.name!=kube-root-ca.crt" });
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const seen = [];
  const informer = k8s.makeInformer(config, path, list);
  const record = (word) => (object) => {
    if (object.metadata.name !== "kube-root-ca.crt") seen.push(`${word} ${object.metadata.name}`);
  };
  for (const word of ["add", "update", "delete"]) informer.on(word, record(word));
  informer.on("error", () => setTimeout(() => informer.start(), 50));
  await informer.start();
  const create = (name) => core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } });
  await create("one");
  await until(() => seen.includes("add one"));
  await informer.stop();
  await core.deleteNamespacedConfigMap({ namespace, name: "one" });
  await create("two");
  await informer.start();
  await until(() => seen.includes("add two") && seen.includes("delete one"));
  await informer.stop();
  assert.deepEqual([...seen].sort(), ["add one", "add two", "delete one"]);
}

async function patchInEveryWay() {
  const patch = (body, contentType, more = {}) =>
    apps.patchNamespacedDeployment({ namespace, name: "web", body, ...more }, k8s.setHeaderOptions("Content-Type", contentType));
  const json = await patch([{ op: "replace", path: "/spec/replicas", value: 3 }], k8s.PatchStrategy.JsonPatch);
  assert.equal(json.spec.replicas, 3);
  const merge = await patch({ metadata: { annotations: { note: "merged" } } }, k8s.PatchStrategy.MergePatch);
  assert.equal(merge.metadata.annotations.note, "merged");
  const containers = [{ name: "web", image: "nginx:2" }];
  const strategic = await patch({ spec: { template: { spec: { containers } } } }, k8s.PatchStrategy.StrategicMergePatch);
  assert.equal(strategic.spec.template.spec.containers[0].image, "nginx:2");
  const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", labels: { applied: "yes" } } };
  const applied = await patch(body, k8s.PatchStrategy.ServerSideApply, { fieldManager: "session" });
  assert.deepEqual(applied.metadata.labels, { app: "web", applied: "yes" });
}

async function deleteWithEveryPolicy() {
  for (const propagationPolicy of ["Background", "Foreground", "Orphan"]) {
    const name = propagationPolicy.toLowerCase();
    await apps.createNamespacedDeployment({ namespace, body: deployment(name) });
    await apps.deleteNamespacedDeployment({ namespace, name, propagationPolicy });
  }
  await refused(404, apps.readNamespacedDeployment({ namespace, name: "background" }));
}

async function until(holds) {
  const deadline = Date.now() + 20_000;
  while (!holds()) {
    assert.ok(Date.now() < deadline, `still not: ${holds}`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

for (const step of [createAndRead, listInPages, watchThroughAReconnect, patchInEveryWay, deleteWithEveryPolicy]) {
  await step();
  console.log("ok", step.name);
}
process.exit(0);
