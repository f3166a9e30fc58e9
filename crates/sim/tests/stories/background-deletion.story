# Background: the Deployment is deleted at once, its dependents afterwards. D18, G4.7.

deployment web replicas=2
ready all
image nginx:2
----
create web-1 size 2
create web-2 size 1
web: 3 pods, 2 desired, 1 updated, 2 ready, 2 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 2/2 ready of 2, revision 1
 *web-2 0/1 ready of 1, revision 2
  waits: total 3 of at most 3
  waits: available 2 of at least 2, 1 new not available
  waits: web-2 has 0 of 1 pods available
  deadline in 599 s

delete deployment web background
----
delete web-1
delete web-2
