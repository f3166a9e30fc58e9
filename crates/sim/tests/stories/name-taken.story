# A released set still has its name: the next set gets another one. D4.3, D6.12.

deployment web replicas=2
ready all
----
create web-1 size 2
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 1

label-set 1 app other
----
create web-2 size 2
web: 2 pods, 2 desired, 2 updated, 0 ready, 0 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
 *web-2 0/2 ready of 2, revision 1
  waits: web-2 has 0 of 2 pods available
  deadline in 599 s
  web-1 2/2 ready of 2, revision 1 (no owner)

ready all
----
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-2 2/2 ready of 2, revision 1
  web-1 2/2 ready of 2, revision 1 (no owner)
