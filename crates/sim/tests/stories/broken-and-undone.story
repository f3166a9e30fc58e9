# A broken image: the rollout stops at the availability floor, misses its deadline, and undo deletes the broken pods
# before anything else. D10.1, D10.5, D16.6, D20.

deployment web replicas=10 surge=3 unavailable=2 deadline=60
ready all
----
create web-1 size 10
web: 10 pods, 10 desired, 10 updated, 10 ready, 10 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 10/10 ready of 10, revision 1

image nginx:broken
----
create web-2 size 3
scale web-1 10 -> 8
scale web-2 3 -> 5
web: 13 pods, 10 desired, 5 updated, 8 ready, 8 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 8/8 ready of 8, revision 1
 *web-2 0/5 ready of 5, revision 2
  waits: total 13 of at most 13
  waits: available 8 of at least 8, 5 new not available
  waits: web-2 has 0 of 5 pods available
  deadline in 58 s

wait 61
----
web: 13 pods, 10 desired, 5 updated, 8 ready, 8 available; Available=True MinimumReplicasAvailable, Progressing=False ProgressDeadlineExceeded
  web-1 8/8 ready of 8, revision 1
 *web-2 0/5 ready of 5, revision 2
  waits: total 13 of at most 13
  waits: available 8 of at least 8, 5 new not available
  waits: web-2 has 0 of 5 pods available
  deadline exceeded

undo
----
scale web-2 5 -> 0
scale web-1 8 -> 10
web: 10 pods, 10 desired, 10 updated, 8 ready, 8 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
 *web-1 8/10 ready of 10, revision 3
  web-2 0/0 ready of 0, revision 2
  waits: web-1 has 8 of 10 pods available
  deadline in 59 s

ready each
----
web: 10 pods, 10 desired, 10 updated, 10 ready, 10 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 10/10 ready of 10, revision 3
  web-2 0/0 ready of 0, revision 2
