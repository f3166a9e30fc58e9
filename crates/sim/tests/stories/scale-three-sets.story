# Scaling up and down is distributed over three active sets, the largest first. D9.3.

deployment web replicas=20 surge=20% unavailable=20%
ready all
image nginx:2
ready 3
----
create web-1 size 20
create web-2 size 4
scale web-1 20 -> 16
scale web-2 4 -> 8
scale web-1 16 -> 15
scale web-2 8 -> 9
scale web-1 15 -> 14
scale web-2 9 -> 10
scale web-1 14 -> 13
scale web-2 10 -> 11
web: 24 pods, 20 desired, 11 updated, 16 ready, 16 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 13/13 ready of 13, revision 1
 *web-2 3/11 ready of 11, revision 2
  waits: total 24 of at most 24
  waits: available 16 of at least 16, 8 new not available
  waits: web-2 has 3 of 11 pods available
  deadline in 598 s

image nginx:3
ready 1
----
create web-3 size 0
scale web-2 11 -> 3
scale web-3 0 -> 8
scale web-1 13 -> 12
scale web-3 8 -> 9
web: 24 pods, 20 desired, 9 updated, 16 ready, 16 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 12/12 ready of 12, revision 1
  web-2 3/3 ready of 3, revision 2
 *web-3 1/9 ready of 9, revision 3
  waits: total 24 of at most 24
  waits: available 16 of at least 16, 8 new not available
  waits: web-3 has 1 of 9 pods available
  deadline in 598 s

scale 37
----
scale web-1 12 -> 23
scale web-3 9 -> 17
scale web-2 3 -> 5
web: 45 pods, 37 desired, 17 updated, 16 ready, 16 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
  web-1 12/23 ready of 23, revision 1
  web-2 3/5 ready of 5, revision 2
 *web-3 1/17 ready of 17, revision 3
  waits: total 45 of at most 45
  waits: available 16 of at least 30, 16 new not available
  waits: web-3 has 1 of 17 pods available
  deadline in 599 s

scale 11
----
scale web-1 23 -> 7
scale web-3 17 -> 5
scale web-2 5 -> 2
scale web-1 7 -> 6
scale web-3 5 -> 6
web: 14 pods, 11 desired, 6 updated, 9 ready, 9 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 6/6 ready of 6, revision 1
  web-2 2/2 ready of 2, revision 2
 *web-3 1/6 ready of 6, revision 3
  waits: total 14 of at most 14
  waits: available 9 of at least 9, 5 new not available
  waits: web-3 has 1 of 6 pods available
  deadline in 598 s

scale 0
----
scale web-1 6 -> 0
scale web-3 6 -> 0
scale web-2 2 -> 0
web: 0 pods, 0 desired, 0 updated, 0 ready, 0 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
  web-2 0/0 ready of 0, revision 2
 *web-3 0/0 ready of 0, revision 3
