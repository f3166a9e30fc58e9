# A pod that becomes unready after a finished rollout starts no deadline. D16.2.

deployment web replicas=2 deadline=10
ready all
----
create web-1 size 2
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 1

unready 1
----
web: 2 pods, 2 desired, 2 updated, 1 ready, 1 available; Progressing=True NewReplicaSetAvailable, Available=False MinimumReplicasUnavailable
 *web-1 1/2 ready of 2, revision 1
  waits: web-1 has 1 of 2 pods available

wait 60
----
web: 2 pods, 2 desired, 2 updated, 1 ready, 1 available; Progressing=True NewReplicaSetAvailable, Available=False MinimumReplicasUnavailable
 *web-1 1/2 ready of 2, revision 1
  waits: web-1 has 1 of 2 pods available
