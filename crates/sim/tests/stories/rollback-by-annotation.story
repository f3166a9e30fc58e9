# The legacy rollback request: it is carried out, and its annotation is removed. D12.

deployment web replicas=2
ready all
image nginx:2
ready each
----
create web-1 size 2
create web-2 size 1
scale web-1 2 -> 1
scale web-2 1 -> 2
scale web-1 1 -> 0
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 2/2 ready of 2, revision 2

rollback 1
----
event Normal DeploymentRollback: Rolled back deployment "web" to revision 1
scale web-1 0 -> 1
web: 3 pods, 2 desired, 1 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
 *web-1 0/1 ready of 1, revision 3
  web-2 2/2 ready of 2, revision 2
  waits: total 3 of at most 3
  waits: available 2 of at least 2, 1 new not available
  waits: web-1 has 0 of 1 pods available
  deadline in 599 s

ready each
----
scale web-2 2 -> 1
scale web-1 1 -> 2
scale web-2 1 -> 0
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 3
  web-2 0/0 ready of 0, revision 2

rollback 99
----
event Warning DeploymentRollbackRevisionNotFound: Unable to find the revision to rollback to.
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 3
  web-2 0/0 ready of 0, revision 2

rollback 3
----
event Warning DeploymentRollbackTemplateUnchanged: The rollback revision contains the same template as current deployment "web"
web: 2 pods, 2 desired, 2 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 2/2 ready of 2, revision 3
  web-2 0/0 ready of 0, revision 2
