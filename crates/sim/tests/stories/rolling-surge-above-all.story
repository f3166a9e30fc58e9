# With a surge of more than 100 % all new pods are created at once; old ones are deleted as new ones become available. D7.1, D8.1.

deployment web replicas=3 surge=150% unavailable=0
ready all
----
create web-1 size 3
web: 3 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 3/3 ready of 3, revision 1

image nginx:2
----
create web-2 size 3
web: 6 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 3/3 ready of 3, revision 1
 *web-2 0/3 ready of 3, revision 2
  waits: available 3 of at least 3, 3 new not available
  waits: web-2 has 0 of 3 pods available
  deadline in 599 s

ready 1
----
scale web-1 3 -> 2
web: 5 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 2/2 ready of 2, revision 1
 *web-2 1/3 ready of 3, revision 2
  waits: available 3 of at least 3, 2 new not available
  waits: web-2 has 1 of 3 pods available
  deadline in 598 s

ready each
----
scale web-1 2 -> 1
scale web-1 1 -> 0
web: 3 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 3/3 ready of 3, revision 2
