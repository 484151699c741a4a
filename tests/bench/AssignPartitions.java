import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.common.TopicPartition;

/** CPU nanoseconds of each of ROUNDS calls of Kafka's own assignor, a line for each shape of group. */
public class AssignPartitions {
    static final int TOPICS = 20;
    static final int PARTITIONS = 500;
    static final int MEMBERS = 500;

    static Map<String, Integer> topics() {
        Map<String, Integer> topics = new HashMap<>();
        for (int n = 0; n < TOPICS; n++) topics.put("topic-" + n, PARTITIONS);
        return topics;
    }

    static Subscription member(int number, boolean equal, List<TopicPartition> owned, int generation) {
        List<String> topics = new ArrayList<>();
        for (int n = 0; n < (equal || number % 2 == 1 ? TOPICS : TOPICS / 2); n++) topics.add("topic-" + n);
        return new Subscription(topics, null, owned, generation, Optional.empty());
    }

    static Map<String, Subscription> group(boolean equal, Map<String, List<TopicPartition>> before, int gone, int added) {
        Map<String, Subscription> members = new HashMap<>();
        for (int n = gone; n < MEMBERS + added; n++) {
            String name = "consumer-" + n;
            List<TopicPartition> owned = before.getOrDefault(name, Collections.emptyList());
            members.put(name, member(n, equal, owned, before.containsKey(name) ? 1 : -1));
        }
        return members;
    }

    public static void main(String[] words) {
        int rounds = Integer.parseInt(words[0]);
        var clock = ManagementFactory.getThreadMXBean();
        for (String shape : new String[] {"start", "leave", "join", "unequal", "unequal-leave"}) {
            boolean equal = !shape.startsWith("unequal");
            Map<String, List<TopicPartition>> before = new HashMap<>();
            if (!shape.equals("start") && !shape.equals("unequal")) {
                before = new CooperativeStickyAssignor().assign(topics(), group(equal, before, 0, 0));
            }
            int gone = shape.endsWith("leave") ? 5 : 0;
            StringBuilder line = new StringBuilder(shape);
            for (int round = 0; round < rounds; round++) {
                var members = group(equal, before, gone, shape.equals("join") ? 5 : 0);
                long start = clock.getCurrentThreadCpuTime();
                new CooperativeStickyAssignor().assign(topics(), members);
                line.append(' ').append(clock.getCurrentThreadCpuTime() - start);
            }
            System.out.println(line);
        }
    }
}
