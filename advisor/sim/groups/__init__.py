"""Consumer groups: the classic protocol, KIP-848, a consumer between two polls, rolls."""
