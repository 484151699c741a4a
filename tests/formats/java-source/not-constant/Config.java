class Config {
    Map<String, Object> read(Settings s) {
        Map<String, Object> m = new HashMap<>();
        m.put("color", "red");
        m.put(ProducerConfig.ACKS_CONFIG, s.acks());
        return m;
    }
}
