# Recreate: the old set is scaled to zero, its pods are waited for, then the new set is created. D10.6, D10.7, D20, D21.2.

deployment web replicas=2 strategy=Recreate
ready all
terminate off
----
create web-1 size 2
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 1

image nginx:2
----
scale web-1 2 -> 0
web: 0 pods, 2 desired, 0 updated, 0 ready, 0 available; Progressing=True NewReplicaSetAvailable, Available=False MinimumReplicasUnavailable
  web-1 0/0 ready of 0, 2 terminating, revision 1
  waits: 2 old pods are not deleted

terminate now
----
create web-2 size 2
web: 2 pods, 2 desired, 2 updated, 0 ready, 0 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
  web-1 0/0 ready of 0, revision 1
 *web-2 0/2 ready of 2, revision 2
  waits: web-2 has 0 of 2 pods available
  deadline in 599 s

ready all
----
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 2/2 ready of 2, revision 2
