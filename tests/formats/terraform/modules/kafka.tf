module "msk_kafka_cluster" {
  source  = "terraform-aws-modules/msk-kafka-cluster/aws"
  version = "2.3.0"

  name                   = "shop"
  kafka_version          = "3.5.1"
  number_of_broker_nodes = 3

  broker_node_client_subnets = ["subnet-12345678", "subnet-024681012", "subnet-87654321"]

  configuration_name = "shop"
  configuration_server_properties = {
    "auto.create.topics.enable" = true
    "delete.topic.enable"       = true
    "min.insync.replicas"       = 1
  }
}

module "network" {
  source     = "./network"
  properties = { "region" = "eu" }
}
