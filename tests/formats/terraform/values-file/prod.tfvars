cluster_name = "shop"
server_properties = {
  "auto.create.topics.enable"  = "false"
  "default.replication.factor" = "3"
  "min.insync.replicas"        = "2"
}
msk_properties = <<EOF
num.partitions = 6
log.retention.hours = 24
EOF
