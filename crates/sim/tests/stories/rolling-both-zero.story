# Percentages that both resolve to zero would stop the rollout, so one pod may be unavailable. D7.2.

deployment web replicas=3 surge=0% unavailable=10%
ready all
----
create web-1 size 3
web: 3 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 3/3 ready of 3, revision 1

image nginx:2
----
create web-2 size 0
scale web-1 3 -> 2
scale web-2 0 -> 1
web: 3 pods, 3 desired, 1 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 2/2 ready of 2, revision 1
 *web-2 0/1 ready of 1, revision 2
  waits: total 3 of at most 3
  waits: available 2 of at least 2, 1 new not available
  waits: web-2 has 0 of 1 pods available
  deadline in 598 s

ready each
----
scale web-1 2 -> 1
scale web-2 1 -> 2
scale web-1 1 -> 0
scale web-2 2 -> 3
web: 3 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 3/3 ready of 3, revision 2
