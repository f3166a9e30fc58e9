# One change of size and image: the set is scaled first, then rolled out. D3.8.

deployment web replicas=4
ready all
----
create web-1 size 4
web: 4 pods, 4 desired, 4 updated, 4 ready, 4 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 4/4 ready of 4, revision 1

change replicas=8 image=nginx:2
----
scale web-1 4 -> 8
create web-2 size 2
scale web-1 8 -> 6
scale web-2 2 -> 4
web: 10 pods, 8 desired, 4 updated, 4 ready, 4 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
  web-1 4/6 ready of 6, revision 1
 *web-2 0/4 ready of 4, revision 2
  waits: total 10 of at most 10
  waits: available 4 of at least 6, 4 new not available
  waits: web-2 has 0 of 4 pods available
  deadline in 599 s

ready each
----
scale web-1 6 -> 5
scale web-2 4 -> 5
scale web-1 5 -> 4
scale web-2 5 -> 6
scale web-1 4 -> 3
scale web-2 6 -> 7
scale web-1 3 -> 2
scale web-2 7 -> 8
scale web-1 2 -> 1
scale web-1 1 -> 0
web: 8 pods, 8 desired, 8 updated, 8 ready, 8 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 8/8 ready of 8, revision 2
