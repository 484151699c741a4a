# Topics of the shop.
provider "kafka" {
  bootstrap_servers = ["kafka-1.shop.example:9092", "kafka-2.shop.example:9092"]
}

variable "env" {
  type = string
}

variable "min_isr" {
  default = "2"
}

resource "kafka_topic" "orders" {
  name               = "orders"
  partitions         = 12
  replication_factor = 3

  config = {
    "cleanup.policy"      = "delete"
    "retention.ms"        = 7 * 24 * 60 * 60 * 1000 # a week
    "min.insync.replicas" = var.min_isr
    "segment.bytes"       = 1073741824,
    "max.message.bytes" : "${var.max_kb * 1024}"
    "compression.type"    = var.env == "prod" ? "zstd" : "producer"
  }
}

resource "kafka_topic" "by_environment" {
  name               = "payments-${var.env}"
  partitions         = var.partitions
  replication_factor = var.env == "prod" ? 3 : 1
  config             = merge(local.defaults, { "cleanup.policy" = "compact" })
}

resource "kafka_topic" "bare" {
  name               = "audit"
  partitions         = 1
  replication_factor = 3
}
