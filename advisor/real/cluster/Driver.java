import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Clients that do as they are told: a line of JSON in, a line of JSON out. An answer carries the number of its command;
 * what happens on its own (a record confirmed, a partition taken away) is told as an event.
 */
public class Driver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static PrintStream out;
    private static Admin admin;
    private static final Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();
    private static final Map<String, ExecutorService> senders = new HashMap<>();
    private static final Map<String, Member> members = new HashMap<>();

    public static void main(String[] words) throws Exception {
        // Whatever a library prints must not break the lines.
        out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode asked = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            answer.set("answers", asked.get("number"));
            try {
                answered(asked, answer);
            } catch (Throwable error) {
                tellError(answer, error);
            }
            tell(answer);
        }
        // Nobody is there any more.
        Runtime.getRuntime().halt(0);
    }

    private static void answered(JsonNode asked, ObjectNode answer) throws Exception {
        String id = asked.path("id").asText("");
        switch (asked.get("do").asText()) {
            case "admin" -> admin = Admin.create(settings(asked));
            case "topic" -> topic(asked);
            case "grow" -> grow(asked);
            case "reassign" -> reassign(asked);
            case "elect" -> admin.electLeaders(ElectionType.PREFERRED, Set.of(place(asked))).all().get(20, TimeUnit.SECONDS);
            case "ends" -> ends(asked, answer);
            case "committed" -> committed(asked, answer);
            case "producer" -> producers.put(id,
                new KafkaProducer<>(settings(asked), new ByteArraySerializer(), new ByteArraySerializer()));
            case "partitions" -> producers.get(id).partitionsFor(asked.get("topic").asText());
            case "send" -> send(asked);
            case "stream" -> stream(asked);
            case "init" -> producers.get(id).initTransactions();
            case "begin" -> producers.get(id).beginTransaction();
            case "abort" -> producers.get(id).abortTransaction();
            case "commit" -> producers.get(id).commitTransaction();
            case "close" -> close(id);
            case "consumer" -> members.put(id, new Member(id, asked));
            case "loop" -> members.get(id).start(false);
            case "by_hand" -> members.get(id).start(true);
            case "poll" -> members.get(id).poll(asked, answer);
            case "free" -> members.get(id).free();
            case "commit_sync" -> members.get(id).commitByHand();
            case "read" -> read(asked, answer);
            default -> throw new IllegalArgumentException(asked.get("do").asText());
        }
    }

    // What an administrator does.

    private static void topic(JsonNode asked) throws Exception {
        Map<Integer, List<Integer>> replicas = new HashMap<>();
        for (JsonNode one : asked.get("replicas")) {
            replicas.put(replicas.size(), numbers(one));
        }
        NewTopic topic = new NewTopic(asked.get("topic").asText(), replicas);
        topic.configs(texts(asked.get("settings")));
        admin.createTopics(List.of(topic)).all().get(30, TimeUnit.SECONDS);
    }

    private static void grow(JsonNode asked) throws Exception {
        List<List<Integer>> added = new ArrayList<>();
        asked.get("replicas").forEach(one -> added.add(numbers(one)));
        String name = asked.get("topic").asText();
        int more = asked.get("partitions").asInt();
        admin.createPartitions(Map.of(name, NewPartitions.increaseTo(more, added))).all().get(30, TimeUnit.SECONDS);
    }

    private static void reassign(JsonNode asked) throws Exception {
        var wanted = Optional.of(new NewPartitionReassignment(numbers(asked.get("replicas"))));
        admin.alterPartitionReassignments(Map.of(place(asked), wanted)).all().get(20, TimeUnit.SECONDS);
    }

    private static void ends(JsonNode asked, ObjectNode answer) throws Exception {
        for (IsolationLevel level : IsolationLevel.values()) {
            var found = admin.listOffsets(Map.of(place(asked), OffsetSpec.latest()), new ListOffsetsOptions(level));
            long end = found.all().get(20, TimeUnit.SECONDS).get(place(asked)).offset();
            answer.put(level.name().toLowerCase(), end);
        }
    }

    private static void committed(JsonNode asked, ObjectNode answer) throws Exception {
        var found = admin.listConsumerGroupOffsets(asked.get("group").asText());
        ObjectNode offsets = answer.putObject("offsets");
        for (Map.Entry<TopicPartition, OffsetAndMetadata> one
                : found.partitionsToOffsetAndMetadata().get(20, TimeUnit.SECONDS).entrySet()) {
            if (one.getValue() != null) {
                offsets.put(Integer.toString(one.getKey().partition()), one.getValue().offset());
            }
        }
    }

    // What a producer does.

    /** From a thread of each producer's own: send() may block, and others go on meanwhile. */
    private static void send(JsonNode asked) {
        String id = asked.get("id").asText();
        KafkaProducer<byte[], byte[]> producer = producers.get(id);
        senders.computeIfAbsent(id, name -> Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work);
            thread.setDaemon(true);
            return thread;
        })).execute(() -> {
            for (JsonNode value : asked.get("values")) {
                one(producer, asked, value.asText(), asked.path("size").asInt(0));
            }
        });
    }

    /** Records at a steady pace, from a thread of its own: send() may block. */
    private static void stream(JsonNode asked) {
        KafkaProducer<byte[], byte[]> producer = producers.get(asked.get("id").asText());
        long every = (long) (1_000_000_000.0 / asked.get("rate").asDouble());
        Thread thread = new Thread(() -> {
            long next = System.nanoTime();
            for (int n = 0; n < asked.get("records").asInt(); n++) {
                long wait = next - System.nanoTime();
                if (wait > 0) {
                    java.util.concurrent.locks.LockSupport.parkNanos(wait);
                }
                // An application that was held up does not hurry afterwards more than its source lets it.
                next += every;
                one(producer, asked, "r" + n, asked.path("size").asInt(0));
            }
            tell(event("streamed", asked.get("id").asText()));
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static void one(KafkaProducer<byte[], byte[]> producer, JsonNode asked, String name, int size) {
        byte[] value = padded(name, size);
        Integer partition = asked.has("partition") ? asked.get("partition").asInt() : null;
        long begun = System.nanoTime();
        try {
            producer.send(new ProducerRecord<>(asked.get("topic").asText(), partition, null, value), (stored, error) -> {
                ObjectNode said = event(error == null ? "acked" : "failed", asked.get("id").asText());
                said.put("record", name).put("after_ms", (System.nanoTime() - begun) / 1_000_000);
                if (error == null) {
                    said.put("offset", stored.offset());
                } else {
                    tellError(said, error);
                }
                tell(said);
            });
        } catch (RuntimeException error) {
            ObjectNode said = event("failed", asked.get("id").asText());
            said.put("record", name).put("after_ms", (System.nanoTime() - begun) / 1_000_000);
            tellError(said, error);
            tell(said);
        }
    }

    private static byte[] padded(String name, int size) {
        byte[] short_ = name.getBytes(StandardCharsets.UTF_8);
        if (size <= short_.length) {
            return short_;
        }
        byte[] value = new byte[size];
        System.arraycopy(short_, 0, value, 0, short_.length);
        java.util.Arrays.fill(value, short_.length, size, (byte) ' ');
        return value;
    }

    private static void close(String id) {
        if (producers.containsKey(id)) {
            producers.remove(id).close(Duration.ofSeconds(5));
        } else if (members.containsKey(id)) {
            members.remove(id).close();
        }
    }

    // What a consumer does.

    /** All that can be read from the beginning, in the order of each partition. */
    private static void read(JsonNode asked, ObjectNode answer) {
        String topic = asked.get("topic").asText();
        ObjectNode found = answer.putObject("records");
        try (var consumer = new KafkaConsumer<>(settings(asked), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> places = new ArrayList<>();
            consumer.partitionsFor(topic).forEach(one -> places.add(new TopicPartition(topic, one.partition())));
            consumer.assign(places);
            consumer.seekToBeginning(places);
            Map<TopicPartition, Long> ends = consumer.endOffsets(places);
            places.forEach(one -> found.putArray(Integer.toString(one.partition())));
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (System.nanoTime() < until && places.stream().anyMatch(one -> consumer.position(one) < ends.get(one))) {
                for (ConsumerRecord<byte[], byte[]> one : consumer.poll(Duration.ofMillis(200))) {
                    ((ArrayNode) found.get(Integer.toString(one.partition()))).add(text(one.value()));
                }
            }
        }
    }

    /**
     * A member of a group, with a thread of its own as an application has it. `loop`: it polls, works and commits by
     * itself. `by_hand`: it polls only to stay in the group, with its partitions paused, and takes records when told to.
     */
    private static class Member implements ConsumerRebalanceListener {
        private final String id;
        private final JsonNode asked;
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final LinkedBlockingQueue<Runnable> orders = new LinkedBlockingQueue<>();
        private final String processing;
        private volatile boolean closing;
        private boolean byHand;
        private boolean busy;

        Member(String id, JsonNode asked) {
            this.id = id;
            this.asked = asked;
            processing = asked.path("processing").asText("loop");
            consumer = new KafkaConsumer<>(settings(asked), new ByteArrayDeserializer(), new ByteArrayDeserializer());
            consumer.subscribe(List.of(asked.get("topic").asText()), this);
        }

        void start(boolean byHand) {
            this.byHand = byHand;
            Thread thread = new Thread(this::run);
            thread.setDaemon(true);
            thread.start();
        }

        private void run() {
            try {
                while (!closing) {
                    if (byHand) {
                        obey();
                    } else {
                        work();
                    }
                }
            } catch (Throwable error) {
                ObjectNode said = event("died", id);
                tellError(said, error);
                tell(said);
            } finally {
                try {
                    consumer.close();
                } catch (RuntimeException error) {
                    // Whoever ends the process has the last word.
                }
                tell(event("closed", id));
            }
        }

        private void work() {
            ConsumerRecords<byte[], byte[]> batch = consumer.poll(Duration.ofMillis(100));
            if (batch.isEmpty()) {
                return;
            }
            ObjectNode said = event("polled", id);
            ArrayNode names = said.putArray("records");
            batch.forEach(one -> names.add(name(one)));
            tell(said);
            boolean commits = asked.path("commits").asBoolean(false);
            if (processing.equals("before") && commits) {
                commit();
            }
            if (processing.equals("workers")) {
                Thread worker = new Thread(() -> process(batch));
                worker.setDaemon(true);
                worker.start();
                return;
            }
            process(batch);
            if (commits && !processing.equals("before")) {
                commit();
            }
        }

        private void process(ConsumerRecords<byte[], byte[]> batch) {
            for (ConsumerRecord<byte[], byte[]> one : batch) {
                try {
                    Thread.sleep(asked.path("work_ms").asLong(0));
                } catch (InterruptedException error) {
                    return;
                }
                tell(event("processed", id).put("record", name(one)));
            }
        }

        private void obey() throws InterruptedException {
            Runnable order = orders.poll(10, TimeUnit.MILLISECONDS);
            if (order != null) {
                order.run();
            } else if (!busy) {
                consumer.poll(Duration.ofMillis(50));
            }
        }

        /** What its thread does, told from another one. */
        void order(Runnable what) throws Exception {
            var done = new java.util.concurrent.CompletableFuture<Void>();
            orders.add(() -> {
                try {
                    what.run();
                    done.complete(null);
                } catch (Throwable error) {
                    done.completeExceptionally(error);
                }
            });
            done.get(120, TimeUnit.SECONDS);
        }

        void poll(JsonNode wanted, ObjectNode answer) throws Exception {
            ArrayNode names = answer.putArray("records");
            order(() -> {
                long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(wanted.path("within_ms").asLong(10_000));
                consumer.resume(consumer.assignment());
                while (names.size() < wanted.path("least").asInt(1) && System.nanoTime() < until) {
                    consumer.poll(Duration.ofMillis(100)).forEach(one -> names.add(name(one)));
                }
                consumer.pause(consumer.assignment());
                // Who works in the thread that polls does not poll meanwhile.
                busy = !names.isEmpty() && !processing.equals("workers");
            });
        }

        void free() throws Exception {
            order(() -> busy = false);
        }

        void commitByHand() throws Exception {
            order(this::commit);
        }

        private void commit() {
            try {
                consumer.commitSync();
                tell(event("committed", id));
            } catch (RuntimeException error) {
                ObjectNode said = event("commit_failed", id);
                tellError(said, error);
                tell(said);
            }
        }

        void close() {
            closing = true;
        }

        private static String name(ConsumerRecord<byte[], byte[]> one) {
            return one.partition() + ":" + one.offset() + ":" + text(one.value());
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> places) {
            if (byHand) {
                consumer.pause(places);
            }
            told("assigned", places);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> places) {
            told("revoked", places);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> places) {
            told("lost", places);
        }

        private void told(String what, Collection<TopicPartition> places) {
            ObjectNode said = event(what, id);
            ArrayNode numbers = said.putArray("partitions");
            places.stream().map(TopicPartition::partition).sorted().forEach(numbers::add);
            tell(said);
        }
    }

    // Words.

    private static ObjectNode event(String name, String id) {
        return JSON.createObjectNode().put("event", name).put("id", id).put("at_ms", System.currentTimeMillis());
    }

    private static synchronized void tell(ObjectNode said) {
        out.println(said);
    }

    private static void tellError(ObjectNode said, Throwable error) {
        Throwable cause = error instanceof ExecutionException && error.getCause() != null ? error.getCause() : error;
        if (cause.getCause() != null && cause.getClass().getSimpleName().equals("KafkaException")) {
            cause = cause.getCause();
        }
        said.put("error", cause.getClass().getSimpleName()).put("message", String.valueOf(cause.getMessage()));
    }

    private static TopicPartition place(JsonNode asked) {
        return new TopicPartition(asked.get("topic").asText(), asked.path("partition").asInt(0));
    }

    private static List<Integer> numbers(JsonNode node) {
        List<Integer> found = new ArrayList<>();
        node.forEach(one -> found.add(one.asInt()));
        return found;
    }

    private static Map<String, Object> settings(JsonNode asked) {
        return new HashMap<>(texts(asked.get("settings")));
    }

    private static Map<String, String> texts(JsonNode node) {
        Map<String, String> found = new HashMap<>();
        node.fields().forEachRemaining(one -> found.put(one.getKey(), one.getValue().asText()));
        return found;
    }

    private static String text(byte[] value) {
        return value == null ? "" : new String(value, StandardCharsets.UTF_8).trim();
    }
}
