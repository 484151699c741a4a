# confluent_kafka is not used here
config = {"log.level": "info", "db.url": "postgres://"}
