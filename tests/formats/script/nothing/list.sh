kafka-topics.sh --list --bootstrap-server kafka:9092
kafka-topics.sh --create --topic "$1" --partitions 1
