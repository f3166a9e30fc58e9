# Scaling in the middle of a rollout keeps the proportions of the sets; the rollout continues afterwards. D9.3.

deployment web replicas=10 surge=3 unavailable=2
ready all
----
create web-1 size 10
web: 10 pods, 10 desired, 10 updated, 10 ready, 10 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 10/10 ready of 10, revision 1

image nginx:2
----
create web-2 size 3
scale web-1 10 -> 8
scale web-2 3 -> 5
web: 13 pods, 10 desired, 5 updated, 8 ready, 8 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 8/8 ready of 8, revision 1
 *web-2 0/5 ready of 5, revision 2
  waits: total 13 of at most 13
  waits: available 8 of at least 8, 5 new not available
  waits: web-2 has 0 of 5 pods available
  deadline in 598 s

scale 20
----
scale web-1 8 -> 14
scale web-2 5 -> 9
web: 23 pods, 20 desired, 9 updated, 8 ready, 8 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
  web-1 8/14 ready of 14, revision 1
 *web-2 0/9 ready of 9, revision 2
  waits: total 23 of at most 23
  waits: available 8 of at least 18, 9 new not available
  waits: web-2 has 0 of 9 pods available
  deadline in 599 s

scale 6
----
scale web-1 14 -> 5
scale web-2 9 -> 4
scale web-1 5 -> 4
scale web-2 4 -> 5
web: 9 pods, 6 desired, 5 updated, 4 ready, 4 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 4/4 ready of 4, revision 1
 *web-2 0/5 ready of 5, revision 2
  waits: total 9 of at most 9
  waits: available 4 of at least 4, 5 new not available
  waits: web-2 has 0 of 5 pods available
  deadline in 598 s

ready each
----
scale web-1 4 -> 3
scale web-2 5 -> 6
scale web-1 3 -> 2
scale web-1 2 -> 1
scale web-1 1 -> 0
web: 6 pods, 6 desired, 6 updated, 6 ready, 6 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 6/6 ready of 6, revision 2
