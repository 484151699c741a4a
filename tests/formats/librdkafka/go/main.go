package main

import (
	"os"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

const group = "billing"

func main() {
	topic := "orders"
	p, err := kafka.NewProducer(&kafka.ConfigMap{
		"bootstrap.servers": "kafka:9092",
		"acks":              "all", // every replica
		"retries":           3,
		"go.batch.producer": true,
	})
	if err != nil {
		os.Exit(1)
	}
	_ = p.Produce(&kafka.Message{
		TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: kafka.PartitionAny},
	}, nil)

	config := &kafka.ConfigMap{
		"bootstrap.servers": os.Getenv("KAFKA"),
		"group.id":          group,
	}
	config.SetKey("enable.auto.commit", false)
	c, _ := kafka.NewConsumer(config)
	c.SubscribeTopics([]string{"payments"}, nil)
}
