"""What fleet and replay share on Spark: a session, our code on its executors, where results are kept."""
