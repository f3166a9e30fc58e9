# Orphaned by one Deployment, adopted by the next: same set, same revision, same pods. D4.2, D18, G7.0.

deployment web replicas=2
ready all
----
create web-1 size 2
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 1

delete deployment web orphan
----
  web-1 2/2 ready of 2, revision 1 (no owner)

deployment web replicas=3
----
scale web-1 2 -> 3
web: 3 pods, 3 desired, 3 updated, 2 ready, 2 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
 *web-1 2/3 ready of 3, revision 1
  waits: web-1 has 2 of 3 pods available
  deadline in 599 s

ready all
----
web: 3 pods, 3 desired, 3 updated, 3 ready, 3 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 3/3 ready of 3, revision 1
