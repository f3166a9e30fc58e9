// A session of the official JavaScript client with a custom kind: ApiextensionsV1Api and CustomObjectsApi.
// Ends with exit code 0 and a line per step, or with the assertion that failed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// The client is installed in the build directory, not next to this file.
const require = createRequire(`${process.env.NODE_CLIENT}/`);
const k8s = require("@kubernetes/client-node");

const config = new k8s.KubeConfig();
config.loadFromDefault();
const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
const boats = config.makeApiClient(k8s.CustomObjectsApi);

const name = "boats.sea.example.com";
const kind = { group: "sea.example.com", version: "v1", namespace: "default", plural: "boats" };
const anna = { ...kind, name: "anna" };

function boat(name, crew) {
  return { apiVersion: "sea.example.com/v1", kind: "Boat", metadata: { name }, spec: { crew } };
}

/** The call is rejected, and the client gets the reason. */
async function refused(code, promise) {
  await assert.rejects(promise, (error) => error.code === code, `expected an error with ${code}`);
}

async function define() {
  const body = k8s.loadYaml(readFileSync(new URL("boats.yaml", import.meta.url), "utf8"));
  await definitions.createCustomResourceDefinition({ body });
  const isEstablished = async () => {
    const { status } = await definitions.readCustomResourceDefinition({ name });
    return status.conditions?.some((one) => one.type === "Established" && one.status === "True");
  };
  await until(isEstablished);
}

async function createAndRead() {
  const created = await boats.createNamespacedCustomObject({ ...kind, body: boat("anna", 3) });
  assert.deepEqual(created.spec, { crew: 3, port: "Hamburg" });
  assert.deepEqual(await boats.getNamespacedCustomObject(anna), created);
  const listed = await boats.listNamespacedCustomObject({ ...kind, fieldSelector: "metadata.name=anna" });
  assert.deepEqual(listed.items, [created]);
  await refused(409, boats.createNamespacedCustomObject({ ...kind, body: boat("anna", 3) }));
  await refused(422, boats.createNamespacedCustomObject({ ...kind, body: boat("big", 21) }));
  await refused(404, boats.getNamespacedCustomObject({ ...kind, name: "missing" }));
}

/** An informer of boats sees all writes. */
async function watchBoats() {
  const list = () => boats.listNamespacedCustomObject(kind);
  const informer = k8s.makeInformer(config, "/apis/sea.example.com/v1/namespaces/default/boats", list);
  const seen = [];
  for (const word of ["add", "update", "delete"]) informer.on(word, (one) => seen.push(`${word} ${one.metadata.name}`));
  informer.on("error", () => setTimeout(() => informer.start(), 50));
  await informer.start();
  await until(() => seen.includes("add anna"));
  await boats.createNamespacedCustomObject({ ...kind, body: boat("bertha", 2) });
  await boats.deleteNamespacedCustomObject({ ...kind, name: "bertha" });
  await until(() => seen.includes("delete bertha"));
  await informer.stop();
  assert.deepEqual(seen, ["add anna", "add bertha", "delete bertha"]);
}

async function patchInEveryWay() {
  const patch = (body, contentType, more = {}) =>
    boats.patchNamespacedCustomObject({ ...anna, body, ...more }, k8s.setHeaderOptions("Content-Type", contentType));
  const json = await patch([{ op: "replace", path: "/spec/crew", value: 4 }], k8s.PatchStrategy.JsonPatch);
  assert.equal(json.spec.crew, 4);
  const merge = await patch({ spec: { sails: [{ name: "jib" }] } }, k8s.PatchStrategy.MergePatch);
  assert.deepEqual(merge.spec.sails, [{ name: "jib" }]);
  await refused(415, patch({ spec: { crew: 5 } }, k8s.PatchStrategy.StrategicMergePatch));
  const body = { ...boat("anna", 4), spec: { sails: [{ name: "main", area: 20 }] } };
  const applied = await patch(body, k8s.PatchStrategy.ServerSideApply, { fieldManager: "session" });
  assert.deepEqual(applied.spec.sails, [{ name: "jib" }, { area: 20, name: "main" }]);
}

async function replaceItsParts() {
  const body = await boats.getNamespacedCustomObject(anna);
  body.status = { crew: 4, phase: "at sea" };
  const updated = await boats.replaceNamespacedCustomObjectStatus({ ...anna, body });
  assert.deepEqual(updated.status, body.status);
  await refused(409, boats.replaceNamespacedCustomObject({ ...anna, body }));
  const scale = await boats.getNamespacedCustomObjectScale(anna);
  assert.deepEqual([scale.kind, scale.spec.replicas, scale.status.replicas], ["Scale", 4, 4]);
}

async function removeAll() {
  await boats.deleteNamespacedCustomObject(anna);
  await refused(404, boats.getNamespacedCustomObject(anna));
  await boats.createNamespacedCustomObject({ ...kind, body: boat("last", 1) });
  await definitions.deleteCustomResourceDefinition({ name });
  await refused(404, boats.listNamespacedCustomObject(kind));
}

async function until(holds) {
  const deadline = Date.now() + 20_000;
  while (!(await holds())) {
    assert.ok(Date.now() < deadline, `still not: ${holds}`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

for (const step of [define, createAndRead, watchBoats, patchInEveryWay, replaceItsParts, removeAll]) {
  await step();
  console.log("ok", step.name);
}
process.exit(0);
