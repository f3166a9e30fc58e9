# Switched to Recreate in the middle of a rollout and scaled: it stalls until the count is restored. D21.1.

deployment web replicas=4
ready all
image nginx:2
pause
change strategy=Recreate replicas=6
change paused=false
----
create web-1 size 4
create web-2 size 1
scale web-1 4 -> 3
scale web-2 1 -> 2
web: 5 pods, 6 desired, 2 updated, 3 ready, 3 available; Available=False MinimumReplicasUnavailable, Progressing=Unknown DeploymentResumed
  web-1 3/3 ready of 3, revision 1
 *web-2 0/2 ready of 2, revision 2
  waits: 2 sets are active, which Recreate cannot scale
  deadline in 599 s

scale 4
----
scale web-1 3 -> 0
scale web-2 2 -> 4
web: 4 pods, 4 desired, 4 updated, 0 ready, 0 available; Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated
  web-1 0/0 ready of 0, revision 1
 *web-2 0/4 ready of 4, revision 2
  waits: web-2 has 0 of 4 pods available
  deadline in 599 s

ready each
----
web: 4 pods, 4 desired, 4 updated, 4 ready, 4 available; Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable
  web-1 0/0 ready of 0, revision 1
 *web-2 4/4 ready of 4, revision 2
