"""Who reads which partition: the consumer's assignors, the broker's, Java's hash orders."""
