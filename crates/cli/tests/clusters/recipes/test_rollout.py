import time
import unittest

from kubernetes import client, config


class Rollout(unittest.TestCase):
    def setUp(self):
        config.load_kube_config()  # KUBECONFIG is set by `gantry up --`
        self.apps = client.AppsV1Api()

    def test_a_deployment_rolls_out(self):
        labels = {"app": "web"}
        self.apps.create_namespaced_deployment("default", {
            "metadata": {"name": "web"},
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "web", "image": "nginx:1"}]},
                },
            },
        })
        deadline = time.monotonic() + 60
        while self.apps.read_namespaced_deployment_status("web", "default").status.available_replicas != 3:
            self.assertLess(time.monotonic(), deadline, "the rollout takes too long")
            time.sleep(0.1)


if __name__ == "__main__":
    unittest.main()
