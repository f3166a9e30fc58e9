# A ready pod is not yet available: the rollout waits until it has been ready for minReadySeconds. R3.3.

deployment web replicas=2 min-ready=30 surge=1 unavailable=0
ready all
wait 30
----
create web-1 size 2
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 1

image nginx:2
ready 1
----
create web-2 size 1
web: 3 pods, 2 desired, 1 updated, 3 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 2/2 ready of 2, revision 1
 *web-2 1/1 ready of 1, revision 2
  waits: total 3 of at most 3
  waits: available 2 of at least 2, 1 new not available
  waits: web-2 has 0 of 1 pods available
  deadline in 599 s

wait 30
----
scale web-1 2 -> 1
scale web-2 1 -> 2
web: 3 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 1/1 ready of 1, revision 1
 *web-2 1/2 ready of 2, revision 2
  waits: available 2 of at least 2, 1 new not available
  waits: web-2 has 1 of 2 pods available
  deadline in 598 s

ready 1
wait 31
----
scale web-1 1 -> 0
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 2/2 ready of 2, revision 2

ready 1
wait 31
----
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 2/2 ready of 2, revision 2
