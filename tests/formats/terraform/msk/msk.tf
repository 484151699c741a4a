resource "aws_msk_configuration" "shop" {
  name           = "shop"
  kafka_versions = ["3.6.0"]

  server_properties = <<-PROPERTIES
    # brokers
    auto.create.topics.enable      = false
    unclean.leader.election.enable = false
    log.retention.hours            = ${var.retention_hours}
  PROPERTIES
}

resource "aws_msk_cluster" "shop" {
  cluster_name           = "shop"
  kafka_version          = "3.6.0"
  number_of_broker_nodes = 3

  broker_node_group_info {
    instance_type   = "kafka.m5.large"
    client_subnets  = [aws_subnet.a.id, aws_subnet.b.id, aws_subnet.c.id]
    security_groups = [aws_security_group.kafka.id]
  }

  configuration_info {
    arn      = aws_msk_configuration.shop.arn
    revision = aws_msk_configuration.shop.latest_revision
  }
}

resource "aws_msk_cluster" "small" {
  cluster_name           = "small"
  kafka_version          = "3.7.x.kraft"
  number_of_broker_nodes = 2
  broker_node_group_info {
    instance_type  = "kafka.t3.small"
    client_subnets = var.subnets
  }
}

resource "aws_msk_cluster" "unsaid" {
  cluster_name           = "unsaid"
  kafka_version          = var.kafka_version
  number_of_broker_nodes = 6
  storage_mode           = "TIERED"
}

resource "kafka_topic" "orders" {
  name               = "orders"
  partitions         = 3
  replication_factor = 3
}

provider "kafka" {
  bootstrap_servers = split(",", aws_msk_cluster.shop.bootstrap_brokers_tls)
}
