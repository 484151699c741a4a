resource "confluent_kafka_topic" "orders" {
  kafka_cluster {
    id = confluent_kafka_cluster.standard.id
  }
  topic_name       = "orders"
  partitions_count = 4
  config = {
    "cleanup.policy" = "compact"
    "retention.ms"   = "6789000"
  }
  credentials {
    key    = confluent_api_key.app.id
    secret = "hunter2"
  }
}

resource "aiven_kafka_topic" "payments" {
  project      = "shop"
  service_name = aiven_kafka.main.service_name
  topic_name   = "payments"
  partitions   = 5
  replication  = 3

  config {
    min_insync_replicas = 2
    retention_ms        = 604800000
  }
}

resource "aiven_kafka" "main" {
  project      = "shop"
  plan         = "business-4"
  service_name = "main"
  kafka_user_config {
    kafka_version = "3.9"
    kafka {
      auto_create_topics_enable  = false
      group_max_session_timeout_ms = 70000
      log_retention_bytes        = 1000000000
    }
  }
}
