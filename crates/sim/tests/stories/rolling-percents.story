# Both limits are percentages: 25 % of 10 is 3 up and 2 down. D7.1, D20.

deployment web replicas=10 surge=25% unavailable=25%
ready all
----
create web-1 size 10
web: 10 pods, 10 desired, 10 updated, 10 ready, 10 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
 *web-1 10/10 ready of 10, revision 1

image nginx:2
----
create web-2 size 3
scale web-1 10 -> 8
scale web-2 3 -> 5
web: 13 pods, 10 desired, 5 updated, 8 ready, 8 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 8/8 ready of 8, revision 1
 *web-2 0/5 ready of 5, revision 2
  waits: total 13 of at most 13
  waits: available 8 of at least 8, 5 new not available
  waits: web-2 has 0 of 5 pods available
  deadline in 598 s

ready 2
----
scale web-1 8 -> 7
scale web-2 5 -> 6
scale web-1 7 -> 6
scale web-2 6 -> 7
web: 13 pods, 10 desired, 7 updated, 8 ready, 8 available; Available=True MinimumReplicasAvailable, Progressing=True ReplicaSetUpdated
  web-1 6/6 ready of 6, revision 1
 *web-2 2/7 ready of 7, revision 2
  waits: total 13 of at most 13
  waits: available 8 of at least 8, 5 new not available
  waits: web-2 has 2 of 7 pods available
  deadline in 598 s

ready each
----
scale web-1 6 -> 5
scale web-2 7 -> 8
scale web-1 5 -> 4
scale web-2 8 -> 9
scale web-1 4 -> 3
scale web-2 9 -> 10
scale web-1 3 -> 2
scale web-1 2 -> 1
scale web-1 1 -> 0
web: 10 pods, 10 desired, 10 updated, 10 ready, 10 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 10/10 ready of 10, revision 2
