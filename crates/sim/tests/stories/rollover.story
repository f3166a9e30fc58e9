# A second change in the middle of a rollout: the new set becomes an old one, and the oldest set drains first. D10.5.

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

image nginx:3
----
create web-3 size 0
scale web-2 5 -> 2
scale web-3 0 -> 3
web: 8 pods, 6 desired, 3 updated, 5 ready, 5 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 3/3 ready of 3, revision 1
  web-2 2/2 ready of 2, revision 2
 *web-3 0/3 ready of 3, revision 3
  waits: total 8 of at most 8
  waits: available 5 of at least 5, 3 new not available
  waits: web-3 has 0 of 3 pods available
  deadline in 599 s

ready 1
----
scale web-1 3 -> 2
scale web-3 3 -> 4
web: 8 pods, 6 desired, 4 updated, 5 ready, 5 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 2/2 ready of 2, revision 1
  web-2 2/2 ready of 2, revision 2
 *web-3 1/4 ready of 4, revision 3
  waits: total 8 of at most 8
  waits: available 5 of at least 5, 3 new not available
  waits: web-3 has 1 of 4 pods available
  deadline in 598 s

ready each
----
scale web-1 2 -> 1
scale web-3 4 -> 5
scale web-1 1 -> 0
scale web-3 5 -> 6
scale web-2 2 -> 1
scale web-2 1 -> 0
web: 6 pods, 6 desired, 6 updated, 6 ready, 6 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
  web-2 0/0 ready of 0, revision 2
 *web-3 6/6 ready of 6, revision 3
