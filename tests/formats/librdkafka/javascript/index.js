const Kafka = require('node-rdkafka');

const servers = 'kafka:9092';
const producer = new Kafka.Producer({
  'metadata.broker.list': servers,
  'dr_cb': true,
  'queue.buffering.max.ms': 10,
}, {
  'request.required.acks': 1,
});
producer.produce('orders', null, Buffer.from('x'));

const consumer = new Kafka.KafkaConsumer({
  'group.id': `billing-${process.env.STAGE}`,
  'metadata.broker.list': servers,
  'enable.auto.commit': false,
}, {});
consumer.subscribe(['payments']);
