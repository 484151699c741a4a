#!/bin/sh
# kafka-topics.sh --create --topic old --partitions 1 --replication-factor 1
set -e
kafka-topics.sh --bootstrap-server "$SERVERS" --create --if-not-exists \
  --topic orders --partitions 6 --replication-factor 1 \
  --config retention.ms=604800000 --config 'cleanup.policy=compact,delete'
for name in a b; do
  kafka-topics --create --topic $name --partitions 3 --replication-factor 3
done
docker exec kafka kafka-topics --create --topic=payments --partitions=$COUNT --replication-factor=3 && echo made
