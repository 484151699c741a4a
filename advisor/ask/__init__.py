"""Questions -> answers: where configuration keys meet the simulator."""
