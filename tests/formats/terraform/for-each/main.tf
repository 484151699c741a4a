locals {
  defaults = {
    partitions  = 6
    replication = 3
  }
  topics = {
    "shop.orders" = {
      partitions = 12
      config = {
        "min.insync.replicas" = "2"
      }
    }
    "shop.clicks" = { config = {} }
  }
}

resource "kafka_topic" "all" {
  for_each           = local.topics
  name               = each.key
  partitions         = lookup(each.value, "partitions", local.defaults.partitions)
  replication_factor = try(each.value.replication, local.defaults.replication)
  config             = each.value.config
}

resource "kafka_topic" "dead_letters" {
  for_each           = toset(["orders-dlq", "clicks-dlq"])
  name               = each.value
  partitions         = 1
  replication_factor = 3
}

resource "kafka_topic" "of_a_map_that_is_given" {
  for_each           = var.more_topics
  name               = each.key
  partitions         = each.value.partitions
  replication_factor = 3
}

resource "kafka_topic" "of_tfvars" {
  for_each           = var.billing_topics
  name               = each.key
  partitions         = each.value
  replication_factor = 3
}
