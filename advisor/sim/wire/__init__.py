"""Records as bytes: batches, message sets, varints, codecs."""
