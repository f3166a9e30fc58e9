# No pod becomes ready: the deadline is missed, which changes only the condition. Progress clears it. D16.2, D16.5, D16.6.

deployment web replicas=2 deadline=10
----
create web-1 size 2
web: 2 pods, 2 desired, 2 updated, 0 ready, 0 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
 *web-1 0/2 ready of 2, revision 1
  waits: web-1 has 0 of 2 pods available
  deadline in 9 s

wait 7
----
web: 2 pods, 2 desired, 2 updated, 0 ready, 0 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
 *web-1 0/2 ready of 2, revision 1
  waits: web-1 has 0 of 2 pods available
  deadline in 2 s

wait 3
----
web: 2 pods, 2 desired, 2 updated, 0 ready, 0 available; Available=False MinimumReplicasUnavailable, Progressing=False ProgressDeadlineExceeded
 *web-1 0/2 ready of 2, revision 1
  waits: web-1 has 0 of 2 pods available
  deadline exceeded

ready 1
----
web: 2 pods, 2 desired, 2 updated, 1 ready, 1 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
 *web-1 1/2 ready of 2, revision 1
  waits: web-1 has 1 of 2 pods available
  deadline in 9 s

ready 1
----
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 1

wait 3600
----
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 1
