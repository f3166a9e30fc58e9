# Ten pods, at most 13, at least 8 available. A broken image stops at the floor; undo takes the broken pods first.

deployment web replicas=10 surge=3 unavailable=2
ready all

image nginx:broken
wait 601

undo

ready each
