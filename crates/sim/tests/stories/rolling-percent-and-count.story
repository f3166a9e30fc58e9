# Surge is a percentage, unavailable a count: half as many more, and none unavailable. D7.1.

deployment web replicas=4 surge=50% unavailable=0
ready all
----
create web-1 size 4
web: 4 pods, 4 desired, 4 updated, 4 ready, 4 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 4/4 ready of 4, revision 1

image nginx:2
----
create web-2 size 2
web: 6 pods, 4 desired, 2 updated, 4 ready, 4 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 4/4 ready of 4, revision 1
 *web-2 0/2 ready of 2, revision 2
  waits: total 6 of at most 6
  waits: available 4 of at least 4, 2 new not available
  waits: web-2 has 0 of 2 pods available
  deadline in 599 s

ready 1
----
scale web-1 4 -> 3
scale web-2 2 -> 3
web: 6 pods, 4 desired, 3 updated, 4 ready, 4 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 3/3 ready of 3, revision 1
 *web-2 1/3 ready of 3, revision 2
  waits: total 6 of at most 6
  waits: available 4 of at least 4, 2 new not available
  waits: web-2 has 1 of 3 pods available
  deadline in 598 s

ready 1
----
scale web-1 3 -> 2
scale web-2 3 -> 4
web: 6 pods, 4 desired, 4 updated, 4 ready, 4 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 2/2 ready of 2, revision 1
 *web-2 2/4 ready of 4, revision 2
  waits: available 4 of at least 4, 2 new not available
  waits: web-2 has 2 of 4 pods available
  deadline in 598 s

ready each
----
scale web-1 2 -> 1
scale web-1 1 -> 0
web: 4 pods, 4 desired, 4 updated, 4 ready, 4 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 4/4 ready of 4, revision 2
