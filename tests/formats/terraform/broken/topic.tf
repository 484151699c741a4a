resource "kafka_topic" "orders" {
  name = "orders
  partitions = 3
}
