resource "aws_msk_cluster" "this" {
  count                  = var.enabled ? 1 : 0
  cluster_name           = var.name
  kafka_version          = "2.8.1"
  number_of_broker_nodes = 6
  configuration_info {
    arn      = aws_msk_configuration.this[0].arn
    revision = aws_msk_configuration.this[0].latest_revision
  }
  broker_node_group_info {
    instance_type  = "kafka.m5.large"
    client_subnets = ["subnet-1", "subnet-2"]
  }
}
