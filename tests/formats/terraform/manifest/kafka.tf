resource "kubectl_manifest" "cluster" {
  yaml_body = <<YAML
  apiVersion: kafka.strimzi.io/v1
  kind: Kafka
  metadata: {name: shop}
  spec:
    kafka:
      config:
        min.insync.replicas: 2
        default.replication.factor: ${var.copies}
  YAML
}

resource "kubernetes_manifest" "orders" {
  manifest = yamldecode(<<-EOT
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaTopic
    metadata:
      name: orders
      labels: {strimzi.io/cluster: shop}
    spec: {partitions: 6, replicas: 3}
  EOT
  )
}
