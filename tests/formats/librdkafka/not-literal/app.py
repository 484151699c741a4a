from confluent_kafka import Producer

def make(settings):
    return Producer(settings.kafka)

headers = {"content.type": "x", "acks": "y"}
