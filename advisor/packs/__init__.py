"""Rules as data: packs, their conditions, and the words for guarantees and faults."""
