# The canonical trace: 3 pods, defaults, one pod ready at a time. D20.

deployment web replicas=3
ready all
----
create web-1 size 3
web: 3 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 3/3 ready of 3, revision 1

image nginx:2
----
create web-2 size 1
web: 4 pods, 3 desired, 1 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 3/3 ready of 3, revision 1
 *web-2 0/1 ready of 1, revision 2
  waits: total 4 of at most 4
  waits: available 3 of at least 3, 1 new not available
  waits: web-2 has 0 of 1 pods available
  deadline in 599 s

ready 1
----
scale web-1 3 -> 2
scale web-2 1 -> 2
web: 4 pods, 3 desired, 2 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 2/2 ready of 2, revision 1
 *web-2 1/2 ready of 2, revision 2
  waits: total 4 of at most 4
  waits: available 3 of at least 3, 1 new not available
  waits: web-2 has 1 of 2 pods available
  deadline in 598 s

ready 1
----
scale web-1 2 -> 1
scale web-2 2 -> 3
web: 4 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 1/1 ready of 1, revision 1
 *web-2 2/3 ready of 3, revision 2
  waits: available 3 of at least 3, 1 new not available
  waits: web-2 has 2 of 3 pods available
  deadline in 598 s

ready 1
----
scale web-1 1 -> 0
web: 3 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 3/3 ready of 3, revision 2
