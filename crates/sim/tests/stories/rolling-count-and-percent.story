# Surge is a count, unavailable a percentage: one more pod, two fewer. D7.1.

deployment web replicas=7 surge=1 unavailable=33%
ready all
----
create web-1 size 7
web: 7 pods, 7 desired, 7 updated, 7 ready, 7 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 7/7 ready of 7, revision 1

image nginx:2
----
create web-2 size 1
scale web-1 7 -> 5
scale web-2 1 -> 3
web: 8 pods, 7 desired, 3 updated, 5 ready, 5 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 5/5 ready of 5, revision 1
 *web-2 0/3 ready of 3, revision 2
  waits: total 8 of at most 8
  waits: available 5 of at least 5, 3 new not available
  waits: web-2 has 0 of 3 pods available
  deadline in 598 s

ready 1
----
scale web-1 5 -> 4
scale web-2 3 -> 4
web: 8 pods, 7 desired, 4 updated, 5 ready, 5 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 4/4 ready of 4, revision 1
 *web-2 1/4 ready of 4, revision 2
  waits: total 8 of at most 8
  waits: available 5 of at least 5, 3 new not available
  waits: web-2 has 1 of 4 pods available
  deadline in 598 s

ready each
----
scale web-1 4 -> 3
scale web-2 4 -> 5
scale web-1 3 -> 2
scale web-2 5 -> 6
scale web-1 2 -> 1
scale web-2 6 -> 7
scale web-1 1 -> 0
web: 7 pods, 7 desired, 7 updated, 7 ready, 7 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 7/7 ready of 7, revision 2
