// SPDX-License-Identifier: MIT
import io.smallrye.reactive.messaging.amqp.IncomingAmqpMetadata;
import io.smallrye.reactive.messaging.amqp.OutgoingAmqpMetadata;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.eclipse.microprofile.reactive.messaging.Metadata;
import org.jboss.weld.environment.se.Weld;
import org.jboss.weld.environment.se.WeldContainer;

/**
 * An application of SmallRye Reactive Messaging, whose connector for AMQP 1.0 knows nothing of
 * Service Bus, against the broker in SESSIONQ_CONNECTION. Every case has queues of its own.
 */
public final class Cases extends Support {
    static final long DEADLINE = 60_000; // milliseconds, of a case
    static final long SOON = 20_000;
    static final int MOST_DELIVERIES = 10; // of a queue
    static Application application;

    static void configure(String direction, String queue, String... settings) {
        String channel = direction.equals("outgoing") ? "to-" + queue : queue;
        String prefix = "mp.messaging." + direction + "." + channel + ".";
        System.setProperty(prefix + "connector", "smallrye-amqp");
        System.setProperty(prefix + "address", queue);
        for (int i = 0; i < settings.length; i += 2) {
            System.setProperty(prefix + settings[i], settings[i + 1]);
        }
    }

    static Application start() {
        String place = field("Endpoint").replace("sb://", "").replace("/", "");
        System.setProperty("amqp-host", place.split(":")[0]);
        System.setProperty("amqp-port", place.split(":")[1]);
        System.setProperty("amqp-use-ssl", String.valueOf(System.getenv("SESSIONQ_CA") != null));
        System.setProperty("amqp-username", field("SharedAccessKeyName"));
        System.setProperty("amqp-password", field("SharedAccessKey"));
        Application.strategies().forEach((queue, strategy) -> {
            configure("incoming", queue, "failure-strategy", strategy);
            configure("outgoing", queue);
        });
        configure("outgoing", "s0", "durable", "true");
        Logger.getLogger("").setLevel(Level.OFF);
        WeldContainer container = new Weld().addBeanClass(Application.class).initialize();
        return container.select(Application.class).get();
    }

    static void send(String queue, Object... bodies) {
        for (Object body : bodies) {
            application.to(queue).send(body).await().atMost(Duration.ofMillis(SOON));
        }
    }

    static Message<?> next(String queue) throws InterruptedException {
        Message<?> next = application.arrivedFrom(queue).poll(SOON, TimeUnit.MILLISECONDS);
        if (next == null) {
            throw new AssertionError("nothing arrives from " + queue);
        }
        return next;
    }

    static IncomingAmqpMetadata about(Message<?> message) {
        return message.getMetadata(IncomingAmqpMetadata.class).get();
    }

    static void acknowledge(Message<?> message) throws Exception {
        message.ack().toCompletableFuture().get(SOON, TimeUnit.MILLISECONDS);
    }

    // Does what the strategy of the message's channel says.
    static void refuse(Message<?> message) throws Exception {
        message.nack(new IllegalStateException("refused"))
            .toCompletableFuture()
            .get(SOON, TimeUnit.MILLISECONDS);
    }

    // Runs our command line and returns its lines.
    static List<JsonObject> sessionq(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(System.getenv("SESSIONQ_COMMAND")));
        command.add("--json");
        if (System.getenv("SESSIONQ_CA") != null) {
            command.addAll(List.of("--ca-file", System.getenv("SESSIONQ_CA")));
        }
        command.addAll(Arrays.asList(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output =
            new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(output);
        }
        return output.lines().map(JsonObject::new).collect(Collectors.toList());
    }

    // The broker does not answer the settlement of a message, so this waits for its effect.
    static void counts(String queue, int active, int deferred, int deadLetters) throws Exception {
        List<Integer> want = List.of(active, deferred, deadLetters);
        List<Integer> got;
        Instant late = Instant.now().plusMillis(SOON);
        do {
            JsonObject counts = sessionq("counts", queue).get(0);
            got = List.of(counts.getInteger("active"), counts.getInteger("deferred"),
                counts.getInteger("dead_letters"));
        } while (!got.equals(want) && Instant.now().isBefore(late));
        same(got, want);
    }

    static void whatIsAcknowledgedIsGone() throws Exception {
        Object[] sent = IntStream.range(0, 200).mapToObj(Integer::toString).toArray();
        send("p0", sent);
        for (Object text : sent) {
            Message<?> message = next("p0");
            same(message.getPayload(), text);
            same(about(message).getDeliveryCount(), 0);
            acknowledge(message);
        }
        counts("p0", 0, 0, 0);
    }

    static void aFailedMessageComesAgain() throws Exception {
        send("p1", "again");
        for (int deliveries = 0; deliveries < 3; ++deliveries) {
            Message<?> message = next("p1");
            same(message.getPayload(), "again");
            same(about(message).getDeliveryCount(), deliveries);
            refuse(message);
        }
        Message<?> last = next("p1");
        same(about(last).getDeliveryCount(), 3);
        counts("p1", 1, 0, 0);
        acknowledge(last);
        counts("p1", 0, 0, 0);
    }

    static void whatAlwaysFailsIsADeadLetter() throws Exception {
        send("p2", "poison", "healthy");
        int poisoned = 0;
        int healthy = 0;
        while (poisoned < MOST_DELIVERIES || healthy < 1) {
            Message<?> message = next("p2");
            if (message.getPayload().equals("healthy")) {
                ++healthy;
                acknowledge(message);
            } else {
                same(about(message).getDeliveryCount(), poisoned++);
                refuse(message);
            }
        }
        counts("p2", 0, 0, 1);
        JsonObject letter = sessionq("dead-letters", "list", "p2").get(0);
        same(letter.getJsonObject("dead_letter").getString("reason"), "MaxDeliveryCountExceeded");
        same(healthy, 1);
    }

    static void aRejectedMessageIsADeadLetter() throws Exception {
        send("p3", "one", "two");
        Message<?> message = next("p3");
        same(message.getPayload(), "one");
        refuse(message);
        message = next("p3");
        same(message.getPayload(), "two");
        acknowledge(message);
        counts("p3", 0, 0, 1);
        JsonObject letter = sessionq("peek", "p3/$DeadLetterQueue").get(0);
        same(letter.getInteger("delivery_count"), 0);
    }

    static void aReleasedMessageComesAgainUncounted() throws Exception {
        send("p4", "again");
        for (int i = 0; i < MOST_DELIVERIES + 2; ++i) {
            Message<?> message = next("p4");
            same(message.getPayload(), "again");
            same(about(message).getDeliveryCount(), 0);
            refuse(message);
        }
        acknowledge(next("p4"));
        counts("p4", 0, 0, 0);
    }

    // As in Azure Service Bus, nobody receives it but by its number.
    static void aMessageThatIsUndeliverableHereIsDeferred() throws Exception {
        send("p5", "one", "two");
        Message<?> message = next("p5");
        same(message.getPayload(), "one");
        refuse(message);
        acknowledge(next("p5"));
        counts("p5", 0, 1, 0);
        same(sessionq("receive", "p5", "--deferred", "1").size(), 1);
        counts("p5", 0, 0, 0);
        same(application.arrivedFrom("p5").size(), 0);
    }

    static void aMethodReceivesAndSends() throws Exception {
        send("p6", "on");
        Message<?> message = next("p7");
        same(message.getPayload(), "on and on");
        acknowledge(message);
        counts("p6", 0, 0, 0);
        counts("p7", 0, 0, 0);
    }

    static void whatIsSentHasItsSessionAndProperties() throws Exception {
        OutgoingAmqpMetadata about = OutgoingAmqpMetadata.builder()
                                         .withGroupId("a")
                                         .withMessageId("message-1")
                                         .withCorrelationId("correlation")
                                         .withSubject("subject")
                                         .withContentType("text/plain")
                                         .withReplyTo("answers")
                                         .withTtl(600_000)
                                         .withApplicationProperty("colour", "red")
                                         .withApplicationProperty("size", 7)
                                         .build();
        for (String text : List.of("one", "two")) {
            application.to("s0")
                .sendMessage(Message.of(
                    text.getBytes(StandardCharsets.UTF_8), Metadata.of(about)))
                .await()
                .atMost(Duration.ofMillis(SOON));
        }
        List<JsonObject> got = sessionq("receive", "s0", "--session", "a", "--count", "2");
        same(got.stream().map(each -> each.getString("body")).collect(Collectors.toList()),
            List.of("one", "two"));
        JsonObject first = got.get(0);
        same(first.getString("session"), "a");
        same(first.getString("id"), "message-1");
        same(first.getString("correlation_id"), "correlation");
        same(first.getString("subject"), "subject");
        same(first.getString("content_type"), "text/plain");
        same(first.getString("reply_to"), "answers");
        same(first.getString("time_to_live"), "600s");
        same(first.getJsonObject("properties"),
            new JsonObject().put("colour", "red").put("size", new JsonObject().put("int32", 7)));
        counts("s0", 0, 0, 0);
    }

    public static void main(String[] arguments) throws Exception {
        application = start();
        runCases(Cases.class, arguments, 8, DEADLINE);
    }
}
