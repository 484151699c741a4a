class ListenerTest {
    @KafkaListener(topics = "orders", groupId = "test")
    void listen(String s) {}
}
