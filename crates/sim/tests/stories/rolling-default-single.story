# One replica with the defaults: the new pod is created first, the old one is deleted when the new one is ready. D20.

deployment web
ready all
----
create web-1 size 1
web: 1 pods, 1 desired, 1 updated, 1 ready, 1 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 1/1 ready of 1, revision 1

image nginx:2
----
create web-2 size 1
web: 2 pods, 1 desired, 1 updated, 1 ready, 1 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 1/1 ready of 1, revision 1
 *web-2 0/1 ready of 1, revision 2
  waits: available 1 of at least 1, 1 new not available
  waits: web-2 has 0 of 1 pods available
  deadline in 599 s

ready all
----
scale web-1 1 -> 0
web: 1 pods, 1 desired, 1 updated, 1 ready, 1 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 1/1 ready of 1, revision 2
