resource "aws_msk_configuration" "shop" {
  name           = "shop"
  kafka_versions = ["3.6.0"]

  server_properties = <<-EOT
    auto.create.topics.enable=false
    default.replication.factor=3
    min.insync.replicas=2
  EOT
}

resource "aws_msk_cluster" "shop" {
  cluster_name           = "shop"
  kafka_version          = "3.6.0"
  number_of_broker_nodes = 3

  configuration_info {
    arn      = aws_msk_configuration.shop.arn
    revision = aws_msk_configuration.shop.latest_revision
  }
}

resource "kafka_topic" "orders" {
  name               = "orders"
  partitions         = 6
  replication_factor = 3

  config = {
    "retention.ms" = "7d"
  }
}
