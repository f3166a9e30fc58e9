# Pods are refused: the set and its Deployment report it, and slow start requests no more than necessary. R5.2, R7.4, R7.6, R8, D16.3.

quota 3
deployment web replicas=5
----
create web-1 size 5
web: 3 pods, 5 desired, 3 updated, 0 ready, 0 available; Available=False MinimumReplicasUnavailable, ReplicaFailure=True FailedCreate, Progressing=True ReplicaSetUpdated
 *web-1 0/3 ready of 5, revision 1, FailedCreate
  waits: web-1 has 0 of 5 pods available
  waits: web-1 reports FailedCreate: pods "web-1-86td8" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3
  deadline in 598 s

wait 5
----
web: 3 pods, 5 desired, 3 updated, 0 ready, 0 available; Available=False MinimumReplicasUnavailable, ReplicaFailure=True FailedCreate, Progressing=True ReplicaSetUpdated
 *web-1 0/3 ready of 5, revision 1, FailedCreate
  waits: web-1 has 0 of 5 pods available
  waits: web-1 reports FailedCreate: pods "web-1-86td8" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3
  deadline in 592 s

quota none
wait 10
----
web: 5 pods, 5 desired, 5 updated, 0 ready, 0 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
 *web-1 0/5 ready of 5, revision 1
  waits: web-1 has 0 of 5 pods available
  deadline in 591 s

ready all
----
web: 5 pods, 5 desired, 5 updated, 5 ready, 5 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 5/5 ready of 5, revision 1
