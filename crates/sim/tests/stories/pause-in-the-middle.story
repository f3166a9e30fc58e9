# Paused in the middle of a rollout: both sets are kept, and scaling is distributed over them. D11.2.

deployment web replicas=6
ready all
image nginx:2
----
create web-1 size 6
create web-2 size 2
scale web-1 6 -> 5
scale web-2 2 -> 3
web: 8 pods, 6 desired, 3 updated, 5 ready, 5 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 5/5 ready of 5, revision 1
 *web-2 0/3 ready of 3, revision 2
  waits: total 8 of at most 8
  waits: available 5 of at least 5, 3 new not available
  waits: web-2 has 0 of 3 pods available
  deadline in 598 s

pause
----
web: 8 pods, 6 desired, 3 updated, 5 ready, 5 available; Available=True MinimumReplicasAvailable, Progressing=Unknown DeploymentPaused
  web-1 5/5 ready of 5, revision 1
 *web-2 0/3 ready of 3, revision 2
  waits: the deployment is paused

ready all
----
web: 8 pods, 6 desired, 3 updated, 8 ready, 8 available; Available=True MinimumReplicasAvailable, Progressing=Unknown DeploymentPaused
  web-1 5/5 ready of 5, revision 1
 *web-2 3/3 ready of 3, revision 2
  waits: the deployment is paused

scale 9
----
scale web-1 5 -> 8
scale web-2 3 -> 4
web: 12 pods, 9 desired, 4 updated, 8 ready, 8 available; Available=True MinimumReplicasAvailable, Progressing=Unknown DeploymentPaused
  web-1 5/8 ready of 8, revision 1
 *web-2 3/4 ready of 4, revision 2
  waits: the deployment is paused

resume
----
scale web-1 8 -> 5
scale web-1 5 -> 4
scale web-2 4 -> 8
web: 12 pods, 9 desired, 8 updated, 7 ready, 7 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 4/4 ready of 4, revision 1
 *web-2 3/8 ready of 8, revision 2
  waits: total 12 of at most 12
  waits: available 7 of at least 7, 5 new not available
  waits: web-2 has 3 of 8 pods available
  deadline in 598 s

ready each
----
scale web-1 4 -> 3
scale web-2 8 -> 9
scale web-1 3 -> 2
scale web-1 2 -> 1
scale web-1 1 -> 0
web: 9 pods, 9 desired, 9 updated, 9 ready, 9 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 9/9 ready of 9, revision 2
