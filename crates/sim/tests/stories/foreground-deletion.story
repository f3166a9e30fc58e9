# Foreground: the pods are deleted first, then the set, then the Deployment. D18, G5.5.

deployment web replicas=2
ready all
terminate off
----
create web-1 size 2
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 1

delete deployment web foreground
----
delete web-1
web: 0 pods, 2 desired, 0 updated, 0 ready, 0 available, being deleted; Progressing=True NewReplicaSetAvailable, Available=False MinimumReplicasUnavailable
 *web-1 0/0 ready of 2, 2 terminating, revision 1, being deleted
  waits: the deployment is being deleted

terminate now
----
