const assert = require("node:assert/strict");
const test = require("node:test");
const k8s = require("@kubernetes/client-node");

const config = new k8s.KubeConfig();
config.loadFromDefault(); // KUBECONFIG is set by `gantry up --`
const apps = config.makeApiClient(k8s.AppsV1Api);

test("a Deployment rolls out", async () => {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx:1" }] } };
  const spec = { replicas: 3, selector: { matchLabels: labels }, template };
  await apps.createNamespacedDeployment({ namespace: "default", body: { metadata: { name: "web" }, spec } });
  const deadline = Date.now() + 60_000;
  for (;;) {
    const web = await apps.readNamespacedDeploymentStatus({ namespace: "default", name: "web" });
    if (web.status.availableReplicas === 3) break;
    assert.ok(Date.now() < deadline, "the rollout takes too long");
    await new Promise((resume) => setTimeout(resume, 100));
  }
});
