resource "kafka_topic" "orders" {
  name               = "orders"
  partitions         = 3
  replication_factor = 3
  config = {
    "retention.ms" = "1000"
  }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [config, partitions]
  }
}

resource "aws_msk_configuration" "shop" {
  name              = "shop"
  server_properties = <<EOT
num.partitions=3
unclean.leader.election.enable=false
EOT
  lifecycle { ignore_changes = [server_properties] }
}
