# No surge: an old pod is deleted before a new one is created. D8.1, D10.3.

deployment web replicas=4 surge=0 unavailable=1
ready all
----
create web-1 size 4
web: 4 pods, 4 desired, 4 updated, 4 ready, 4 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 4/4 ready of 4, revision 1

image nginx:2
----
create web-2 size 0
scale web-1 4 -> 3
scale web-2 0 -> 1
web: 4 pods, 4 desired, 1 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 3/3 ready of 3, revision 1
 *web-2 0/1 ready of 1, revision 2
  waits: total 4 of at most 4
  waits: available 3 of at least 3, 1 new not available
  waits: web-2 has 0 of 1 pods available
  deadline in 598 s

ready 1
----
scale web-1 3 -> 2
scale web-2 1 -> 2
web: 4 pods, 4 desired, 2 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 2/2 ready of 2, revision 1
 *web-2 1/2 ready of 2, revision 2
  waits: total 4 of at most 4
  waits: available 3 of at least 3, 1 new not available
  waits: web-2 has 1 of 2 pods available
  deadline in 598 s

ready each
----
scale web-1 2 -> 1
scale web-2 2 -> 3
scale web-1 1 -> 0
scale web-2 3 -> 4
web: 4 pods, 4 desired, 4 updated, 4 ready, 4 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 4/4 ready of 4, revision 2
