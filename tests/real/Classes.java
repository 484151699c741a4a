import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.metadata.placement.ClusterDescriber;
import org.apache.kafka.metadata.placement.PlacementSpec;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.metadata.placement.UsableBroker;

/** Kafka's own classes, asked: a line of JSON with a kind and an input in, a line with the output out. */
public class Classes {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] words) throws Exception {
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode asked = JSON.readTree(line);
            JsonNode input = asked.get("input");
            ObjectNode answer = JSON.createObjectNode();
            switch (asked.get("kind").asText()) {
                case "partitioner" -> partitioner(input, answer);
                case "coordinator" -> coordinator(input, answer);
                case "assignors" -> assignors(input, answer);
                case "server_assignors" -> serverAssignors(input, answer);
                case "placement" -> placement(input, answer);
                case "verdicts" -> verdict(asked, answer);
                default -> throw new IllegalArgumentException(line);
            }
            out.println(answer);
        }
        Runtime.getRuntime().halt(0);
    }

    private static void partitioner(JsonNode input, ObjectNode answer) {
        byte[] key = HexFormat.of().parseHex(input.get("key_hex").asText());
        int hash = Utils.murmur2(key);
        answer.put("murmur2", hash).put("positive", Utils.toPositive(hash));
        ObjectNode partitions = answer.putObject("partition");
        for (int n : new int[] {1, 2, 3, 4, 6, 7, 8, 10, 12, 16, 24, 30, 50, 64, 100, 128, 1000}) {
            partitions.put(Integer.toString(n), BuiltInPartitioner.partitionForKey(key, n));
        }
    }

    private static void coordinator(JsonNode input, ObjectNode answer) {
        String group = input.get("group_id").asText();
        int abs = Utils.abs(group.hashCode());
        answer.put("hash_code", group.hashCode()).put("abs", abs);
        ObjectNode partitions = answer.putObject("partition");
        for (int n : new int[] {50, 1, 3, 10, 100}) {
            partitions.put(Integer.toString(n), abs % n);
        }
    }

    // Who reads what, as clients work it out.

    private static void assignors(JsonNode input, ObjectNode answer) {
        String name = input.get("assignor").asText();
        Map<String, Integer> counts = new HashMap<>();
        input.get("partitions").fields().forEachRemaining(one -> counts.put(one.getKey(), one.getValue().asInt()));
        Map<Integer, Node> nodes = new HashMap<>();
        input.get("brokers").fields().forEachRemaining(one -> nodes.put(Integer.parseInt(one.getKey()),
            new Node(Integer.parseInt(one.getKey()), "h", 9092, one.getValue().isNull() ? null : one.getValue().asText())));
        List<PartitionInfo> infos = new ArrayList<>();
        counts.forEach((topic, count) -> {
            for (int p = 0; p < count; p++) {
                List<Node> replicas = new ArrayList<>();
                JsonNode listed = input.get("replicas").get(topic + "-" + p);
                if (listed != null) {
                    listed.forEach(one -> replicas.add(nodes.get(one.asInt())));
                }
                Node[] all = replicas.toArray(new Node[0]);
                infos.add(new PartitionInfo(topic, p, all.length > 0 ? all[0] : Node.noNode(), all, all));
            }
        });
        Cluster cluster = new Cluster("id", new ArrayList<>(nodes.values()), infos, Set.of(), Set.of());
        Map<String, Subscription> members = new HashMap<>();
        for (JsonNode one : input.get("members")) {
            members.put(one.get("id").asText(), subscription(name, one));
        }
        ConsumerPartitionAssignor assignor = assignor(name);
        var given = assignor.assign(cluster, new GroupSubscription(members)).groupAssignment();
        ObjectNode told = answer.putObject("assignment");
        Set<TopicPartition> taken = new HashSet<>();
        given.forEach((member, assignment) -> {
            ArrayNode list = told.putArray(member);
            assignment.partitions().forEach(place -> {
                list.add(place.topic() + "-" + place.partition());
                taken.add(place);
            });
        });
        Set<String> subscribed = new HashSet<>();
        members.values().forEach(one -> subscribed.addAll(one.topics()));
        ArrayNode left = answer.putArray("unassigned");
        counts.forEach((topic, count) -> {
            for (int p = 0; p < count; p++) {
                if (subscribed.contains(topic) && !taken.contains(new TopicPartition(topic, p))) {
                    left.add(topic + "-" + p);
                }
            }
        });
    }

    private static ConsumerPartitionAssignor assignor(String name) {
        return switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            default -> new CooperativeStickyAssignor();
        };
    }

    /** What a member tells, as it goes over the wire: eager ones own nothing any more, sticky ones remember. */
    private static Subscription subscription(String name, JsonNode member) {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(one -> topics.add(one.asText()));
        List<TopicPartition> owned = new ArrayList<>();
        member.get("owned").forEach(one -> owned.add(place(one.asText())));
        int generation = member.get("generation").asInt();
        Optional<String> instance = optional(member.get("instance_id"));
        ConsumerPartitionAssignor own = assignor(name);
        if (generation >= 0) {
            own.onAssignment(new Assignment(owned),
                new ConsumerGroupMetadata("g", generation, member.get("id").asText(), instance));
        }
        ByteBuffer data = own.subscriptionUserData(new HashSet<>(topics));
        boolean keeps = name.equals("cooperative-sticky");
        Subscription told = new Subscription(topics, data, keeps ? owned : List.of(), generation, optional(member.get("rack")));
        Subscription heard = ConsumerProtocol.deserializeSubscription(ConsumerProtocol.serializeSubscription(told));
        heard.setGroupInstanceId(instance);
        return heard;
    }

    private static TopicPartition place(String text) {
        int dash = text.lastIndexOf('-');
        return new TopicPartition(text.substring(0, dash), Integer.parseInt(text.substring(dash + 1)));
    }

    private static Optional<String> optional(JsonNode node) {
        return node == null || node.isNull() ? Optional.empty() : Optional.of(node.asText());
    }

    // Who reads what, as the broker works it out.

    private static void serverAssignors(JsonNode input, ObjectNode answer) {
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        write(answer.putObject("assignment"), server(input, members), input);
        members.keySet().forEach(answer.putArray("member_map_order")::add);
        write(answer.putObject("assignment_sorted_members"), server(input, new TreeMap<>()), input);
    }

    private static Map<String, org.apache.kafka.coordinator.group.api.assignor.MemberAssignment> server(
            JsonNode input, Map<String, MemberSubscriptionAndAssignmentImpl> members) {
        Map<String, Uuid> ids = new HashMap<>();
        input.get("topic_ids").fields().forEachRemaining(one -> ids.put(one.getKey(), Uuid.fromString(one.getValue().asText())));
        Map<Uuid, Integer> counts = new HashMap<>();
        ids.forEach((topic, id) -> counts.put(id, input.get("partitions").get(topic).asInt()));
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        Set<Set<String>> kinds = new HashSet<>();
        for (JsonNode one : input.get("members")) {
            Set<Uuid> topics = new java.util.TreeSet<>();
            Set<String> names = new HashSet<>();
            one.get("topics").forEach(topic -> {
                topics.add(ids.get(topic.asText()));
                names.add(topic.asText());
            });
            kinds.add(names);
            Map<Uuid, Set<Integer>> current = new HashMap<>();
            for (JsonNode held : one.get("current")) {
                TopicPartition at = place(held.asText());
                Uuid id = ids.get(at.topic());
                current.computeIfAbsent(id, any -> new HashSet<>()).add(at.partition());
                owners.computeIfAbsent(id, any -> new HashMap<>()).put(at.partition(), one.get("id").asText());
            }
            members.put(one.get("id").asText(), new MemberSubscriptionAndAssignmentImpl(
                optional(one.get("rack")), optional(one.get("instance_id")), topics,
                new org.apache.kafka.coordinator.group.modern.Assignment(current)));
        }
        SubscribedTopicDescriber describer = new SubscribedTopicDescriber() {
            @Override
            public int numPartitions(Uuid id) {
                return counts.getOrDefault(id, -1);
            }

            @Override
            public Set<String> racksForPartition(Uuid id, int partition) {
                return Set.of();
            }
        };
        var kind = kinds.size() > 1 ? SubscriptionType.HETEROGENEOUS : SubscriptionType.HOMOGENEOUS;
        var spec = new GroupSpecImpl(members, kind, owners);
        var assignor = input.get("assignor").asText().equals("uniform") ? new UniformAssignor()
            : new org.apache.kafka.coordinator.group.assignor.RangeAssignor();
        return assignor.assign(spec, describer).members();
    }

    private static void write(ObjectNode told,
            Map<String, org.apache.kafka.coordinator.group.api.assignor.MemberAssignment> given, JsonNode input) {
        Map<String, String> names = new HashMap<>();
        input.get("topic_ids").fields().forEachRemaining(one -> names.put(one.getValue().asText(), one.getKey()));
        given.forEach((member, assignment) -> {
            ArrayNode list = told.putArray(member);
            assignment.partitions().forEach((id, partitions) ->
                partitions.stream().sorted().forEach(p -> list.add(names.get(id.toString()) + "-" + p)));
        });
    }

    // Where replicas go.

    private static void placement(JsonNode input, ObjectNode answer) {
        ArrayNode calls = answer.putArray("random_calls");
        String mode = input.get("random_mode").asText();
        Random dice = new Random(input.get("random_seed").asLong()) {
            @Override
            public int nextInt(int bound) {
                int value = mode.equals("zero") ? 0 : mode.equals("max") ? bound - 1 : super.nextInt(bound);
                calls.addArray().add(bound).add(value);
                return value;
            }
        };
        List<UsableBroker> brokers = new ArrayList<>();
        input.get("brokers").forEach(one -> brokers.add(
            new UsableBroker(one.get("id").asInt(), optional(one.get("rack")), one.get("fenced").asBoolean())));
        Map<Optional<String>, Integer> racks = new HashMap<>();
        brokers.forEach(one -> racks.put(one.rack(), 0));
        ArrayNode order = answer.putArray("rack_map_order");
        racks.keySet().forEach(one -> order.add(one.orElse(null)));
        var describer = new ClusterDescriber() {
            @Override
            public Iterator<UsableBroker> usableBrokers() {
                return brokers.iterator();
            }

            @Override
            public Uuid defaultDir(int broker) {
                return Uuid.ZERO_UUID;
            }
        };
        try {
            var made = new StripedReplicaPlacer(dice).place(new PlacementSpec(input.get("start_partition").asInt(),
                input.get("partitions").asInt(), (short) input.get("replication_factor").asInt()), describer);
            ArrayNode list = answer.putArray("replicas");
            made.assignments().forEach(one -> {
                ArrayNode replicas = list.addArray();
                one.replicas().forEach(replicas::add);
            });
        } catch (RuntimeException error) {
            answer.put("error", error.getClass().getSimpleName() + ": " + error.getMessage());
        }
    }

    // Would it start?

    /** Closed by a thread of its own: with some settings that takes for ever. */
    private static void leave(AutoCloseable client) {
        Thread thread = new Thread(() -> {
            try {
                client.close();
            } catch (Exception error) {
                // It had started, which is what was asked.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    /** As a controller checks a topic: by LogConfig, and by what its own brokers offer. */
    private static kafka.server.KafkaConfig plainBroker() {
        Properties properties = new Properties();
        properties.putAll(Map.of("process.roles", "broker", "node.id", "1", "controller.quorum.voters", "9@127.0.0.1:9093",
            "controller.listener.names", "CONTROLLER", "listeners", "PLAINTEXT://127.0.0.1:9092",
            "listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"));
        return kafka.server.KafkaConfig.fromProps(properties, false);
    }

    private static void verdict(JsonNode asked, ObjectNode answer) {
        Map<String, Object> config = new LinkedHashMap<>();
        asked.get("config").fields().forEachRemaining(one -> config.put(one.getKey(), one.getValue().asText()));
        Map<String, String> texts = new HashMap<>();
        config.forEach((key, value) -> texts.put(key, (String) value));
        Properties properties = new Properties();
        properties.putAll(config);
        try {
            switch (asked.get("component").asText()) {
                case "producer" -> leave(new KafkaProducer<>(config));
                case "consumer" -> leave(new KafkaConsumer<>(config));
                case "admin" -> leave(AdminClient.create(config));
                case "topic" -> new kafka.server.ControllerConfigurationValidator(plainBroker()).validate(
                    new ConfigResource(ConfigResource.Type.TOPIC, "orders"), texts, Map.of());
                default -> kafka.server.KafkaConfig.fromProps(properties, false);
            }
            answer.put("accepted", true);
        } catch (Throwable error) {
            Throwable cause = error.getCause() != null ? error.getCause() : error;
            answer.put("accepted", false).put("stage", error.getClass().getSimpleName())
                .put("reason", String.valueOf(cause.getMessage()));
        }
    }
}
