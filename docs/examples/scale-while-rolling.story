# Scaling in the middle of a rollout keeps both versions in proportion.

deployment web replicas=10 surge=3 unavailable=2
ready all
image nginx:2

scale 20

ready each
