# A limited number of old sets is kept; the lowest revision is deleted first. D13.

deployment web history=2
ready all
image nginx:2
ready each
image nginx:3
ready each
image nginx:4
----
create web-1 size 1
create web-2 size 1
scale web-1 1 -> 0
create web-3 size 1
scale web-2 1 -> 0
create web-4 size 1
web: 2 pods, 1 desired, 1 updated, 1 ready, 1 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 0/0 ready of 0, revision 1
  web-2 0/0 ready of 0, revision 2
  web-3 1/1 ready of 1, revision 3
 *web-4 0/1 ready of 1, revision 4
  waits: available 1 of at least 1, 1 new not available
  waits: web-4 has 0 of 1 pods available
  deadline in 599 s

ready each
----
scale web-3 1 -> 0
delete web-1
web: 1 pods, 1 desired, 1 updated, 1 ready, 1 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-2 0/0 ready of 0, revision 2
  web-3 0/0 ready of 0, revision 3
 *web-4 1/1 ready of 1, revision 4

change history=0
----
delete web-2
delete web-3
web: 1 pods, 1 desired, 1 updated, 1 ready, 1 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-4 1/1 ready of 1, revision 4
