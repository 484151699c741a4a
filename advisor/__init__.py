"""kafka-advisor: runs each Kafka configuration through a simulator and reports what breaks."""

__version__ = "0.2.0"
