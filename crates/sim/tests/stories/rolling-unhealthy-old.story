# Old pods that are not ready are deleted first, and without waiting for new ones. D10.2, D10.5.

deployment web replicas=6 surge=1 unavailable=2
ready 3
----
create web-1 size 6
web: 6 pods, 6 desired, 6 updated, 3 ready, 3 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
 *web-1 3/6 ready of 6, revision 1
  waits: web-1 has 3 of 6 pods available
  deadline in 599 s

image nginx:2
----
create web-2 size 1
scale web-1 6 -> 4
scale web-2 1 -> 3
web: 7 pods, 6 desired, 3 updated, 3 ready, 3 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
  web-1 3/4 ready of 4, revision 1
 *web-2 0/3 ready of 3, revision 2
  waits: total 7 of at most 7
  waits: available 3 of at least 4, 3 new not available
  waits: web-2 has 0 of 3 pods available
  deadline in 599 s

ready each
----
scale web-1 4 -> 3
scale web-2 3 -> 4
scale web-1 3 -> 2
scale web-2 4 -> 5
scale web-1 2 -> 1
scale web-2 5 -> 6
scale web-1 1 -> 0
web: 6 pods, 6 desired, 6 updated, 6 ready, 6 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 6/6 ready of 6, revision 2
