# Undo, and undo of the undo: the sets change roles under new revisions. D5.5, D6.2, D6.3.

deployment web replicas=2
ready all
image nginx:2
ready each
----
create web-1 size 2
create web-2 size 1
scale web-1 2 -> 1
scale web-2 1 -> 2
scale web-1 1 -> 0
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 2/2 ready of 2, revision 2

undo
----
scale web-1 0 -> 1
web: 3 pods, 2 desired, 1 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
 *web-1 0/1 ready of 1, revision 3
  web-2 2/2 ready of 2, revision 2
  waits: total 3 of at most 3
  waits: available 2 of at least 2, 1 new not available
  waits: web-1 has 0 of 1 pods available
  deadline in 599 s

ready each
----
scale web-2 2 -> 1
scale web-1 1 -> 2
scale web-2 1 -> 0
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 3
  web-2 0/0 ready of 0, revision 2

undo
----
scale web-2 0 -> 1
web: 3 pods, 2 desired, 1 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 2/2 ready of 2, revision 3
 *web-2 0/1 ready of 1, revision 4
  waits: total 3 of at most 3
  waits: available 2 of at least 2, 1 new not available
  waits: web-2 has 0 of 1 pods available
  deadline in 599 s

ready each
----
scale web-1 2 -> 1
scale web-2 1 -> 2
scale web-1 1 -> 0
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 3
 *web-2 2/2 ready of 2, revision 4
