# Paused: another template is not rolled out, another size is applied; resuming starts the rollout and the deadline. D11.1, D11.2, D11.4.

deployment web replicas=3
ready all
----
create web-1 size 3
web: 3 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 3/3 ready of 3, revision 1

pause
----
web: 3 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=Unknown DeploymentPaused
 *web-1 3/3 ready of 3, revision 1
  waits: the deployment is paused

image nginx:2
----
web: 3 pods, 3 desired, 0 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=Unknown DeploymentPaused
  web-1 3/3 ready of 3, revision 1
  waits: the deployment is paused

scale 5
ready all
----
scale web-1 3 -> 5
web: 5 pods, 5 desired, 0 updated, 5 ready, 5 available; Progressing=Unknown DeploymentPaused, Available=True MinimumReplicasAvailable
  web-1 5/5 ready of 5, revision 1
  waits: the deployment is paused

resume
----
create web-2 size 2
scale web-1 5 -> 4
scale web-2 2 -> 3
web: 7 pods, 5 desired, 3 updated, 4 ready, 4 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 4/4 ready of 4, revision 1
 *web-2 0/3 ready of 3, revision 2
  waits: total 7 of at most 7
  waits: available 4 of at least 4, 3 new not available
  waits: web-2 has 0 of 3 pods available
  deadline in 598 s

ready each
----
scale web-1 4 -> 3
scale web-2 3 -> 4
scale web-1 3 -> 2
scale web-2 4 -> 5
scale web-1 2 -> 1
scale web-1 1 -> 0
web: 5 pods, 5 desired, 5 updated, 5 ready, 5 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 5/5 ready of 5, revision 2
