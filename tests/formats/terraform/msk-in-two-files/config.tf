resource "aws_msk_configuration" "this" {
  kafka_versions    = ["2.8.1"]
  name              = "plain"
  server_properties = "auto.create.topics.enable = true\nnum.partitions = 3"
}
