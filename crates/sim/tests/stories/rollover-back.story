# Back to the first template in the middle of a rollout: its set is used again under a new revision. D5.5.

deployment web replicas=6
ready all
----
create web-1 size 6
web: 6 pods, 6 desired, 6 updated, 6 ready, 6 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 6/6 ready of 6, revision 1

image nginx:2
ready 2
----
create web-2 size 2
scale web-1 6 -> 5
scale web-2 2 -> 3
scale web-1 5 -> 4
scale web-2 3 -> 4
scale web-1 4 -> 3
scale web-2 4 -> 5
web: 8 pods, 6 desired, 5 updated, 5 ready, 5 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 3/3 ready of 3, revision 1
 *web-2 2/5 ready of 5, revision 2
  waits: total 8 of at most 8
  waits: available 5 of at least 5, 3 new not available
  waits: web-2 has 2 of 5 pods available
  deadline in 598 s

image nginx:1
----
scale web-2 5 -> 2
scale web-1 3 -> 6
web: 8 pods, 6 desired, 6 updated, 5 ready, 5 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
 *web-1 3/6 ready of 6, revision 3
  web-2 2/2 ready of 2, revision 2
  waits: available 5 of at least 5, 3 new not available
  waits: web-1 has 3 of 6 pods available
  deadline in 599 s

ready each
----
scale web-2 2 -> 1
scale web-2 1 -> 0
web: 6 pods, 6 desired, 6 updated, 6 ready, 6 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 6/6 ready of 6, revision 3
  web-2 0/0 ready of 0, revision 2
