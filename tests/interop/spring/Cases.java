// SPDX-License-Identifier: MIT
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessageContext;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import com.azure.messaging.servicebus.models.SubQueue;
import com.azure.spring.cloud.service.servicebus.consumer.ServiceBusRecordMessageListener;
import com.azure.spring.messaging.AzureHeaders;
import com.azure.spring.messaging.ConsumerIdentifier;
import com.azure.spring.messaging.PropertiesSupplier;
import com.azure.spring.messaging.servicebus.core.DefaultServiceBusNamespaceProcessorFactory;
import com.azure.spring.messaging.servicebus.core.ServiceBusTemplate;
import com.azure.spring.messaging.servicebus.core.listener.ServiceBusMessageListenerContainer;
import com.azure.spring.messaging.servicebus.core.properties.ConsumerProperties;
import com.azure.spring.messaging.servicebus.core.properties.NamespaceProperties;
import com.azure.spring.messaging.servicebus.core.properties.ProcessorProperties;
import com.azure.spring.messaging.servicebus.core.properties.ServiceBusContainerProperties;
import com.azure.spring.messaging.servicebus.implementation.core.annotation.ServiceBusListener;
import com.azure.spring.messaging.servicebus.support.ServiceBusMessageHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.support.MessageBuilder;

/**
 * An application of Spring Cloud Azure against the broker in SESSIONQ_CONNECTION. Its listeners
 * have queues of their own: s for sessions, p for none.
 */
public final class Cases extends Support {
    static final long DEADLINE = 60_000; // milliseconds, of a case
    static final long SOON = 20_000;
    static final Duration A_MOMENT = Duration.ofSeconds(1);
    static final int MOST_DELIVERIES = 10; // of a queue
    static ConfigurableApplicationContext application;

    /** What the listener with annotations has seen. */
    static final BlockingQueue<String> PLAIN = new LinkedBlockingQueue<>();
    static final Map<String, List<String>> SESSIONS = new ConcurrentHashMap<>();
    static final CountDownLatch ALL_OF_SESSIONS = new CountDownLatch(30);
    static final BlockingQueue<String> ORDERS = new LinkedBlockingQueue<>();

    /** A body as JSON. */
    public record Order(String item, int count) {
    }

    /** The application. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    public static class Application {
        @Bean PropertiesSupplier<ConsumerIdentifier, ProcessorProperties> processorProperties() {
            return Application::propertiesOf;
        }

        static ProcessorProperties propertiesOf(ConsumerIdentifier consumer) {
            ProcessorProperties properties = new ProcessorProperties();
            if (consumer.getDestination().startsWith("s")) {
                properties.setSessionEnabled(true);
                properties.setMaxConcurrentSessions(2);
                properties.setSessionIdleTimeout(A_MOMENT);
            }
            return properties;
        }

        // Of the template, for answers.
        @Bean PropertiesSupplier<ConsumerIdentifier, ConsumerProperties> consumerProperties() {
            return consumer -> {
                ConsumerProperties properties = new ConsumerProperties();
                properties.setSessionEnabled(true);
                return properties;
            };
        }

        @ServiceBusListener(destination = "p0") public void plain(String text) {
            PLAIN.add(text);
        }

        @ServiceBusListener(destination = "s0") public void sessions(String text,
            @Header(ServiceBusMessageHeaders.SESSION_ID) String session) {
            SESSIONS.computeIfAbsent(session, any -> new ArrayList<>()).add(text);
            ALL_OF_SESSIONS.countDown();
        }

        @ServiceBusListener(destination = "p1") public void orders(
            Order order, @Header(ServiceBusMessageHeaders.DELIVERY_COUNT) long deliveries) {
            ORDERS.add(order + " " + deliveries);
            if (deliveries < 2) {
                throw new IllegalStateException("refused for the time " + deliveries);
            }
        }

        // Answers a request in the session that it names.
        @ServiceBusListener(destination = "p2") public void answer(String question,
            @Header(MessageHeaders.REPLY_CHANNEL) String queue,
            @Header(ServiceBusMessageHeaders.REPLY_TO_SESSION_ID) String session) {
            send(queue, "answer to " + question,
                Map.of(ServiceBusMessageHeaders.SESSION_ID, session));
        }
    }

    static void send(String queue, Object body, Map<String, ?> headers) {
        application.getBean(ServiceBusTemplate.class)
            .sendAsync(queue, MessageBuilder.withPayload(body).copyHeaders(headers).build())
            .block(Duration.ofMillis(SOON));
    }

    static void send(String queue, Object body) {
        send(queue, body, Map.of());
    }

    // The text of every message that is still in a queue.
    static List<String> left(String queue, SubQueue part) {
        ServiceBusClientBuilder.ServiceBusReceiverClientBuilder builder =
            new ServiceBusClientBuilder()
                .connectionString(System.getenv("SESSIONQ_CONNECTION"))
                .receiver()
                .queueName(queue)
                .subQueue(part);
        List<String> texts = new ArrayList<>();
        try (ServiceBusReceiverClient receiver = builder.buildClient()) {
            receiver.peekMessages(100).forEach(
                message -> texts.add(message.getBody().toString()));
        }
        return texts;
    }

    // The processor completes after the listener's return and tells nobody.
    static void waitUntilEmpty(String queue) {
        Instant late = Instant.now().plusMillis(SOON);
        List<String> left = left(queue, SubQueue.NONE);
        while (!left.isEmpty() && Instant.now().isBefore(late)) {
            left = left(queue, SubQueue.NONE);
        }
        same(left, List.of());
    }

    static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(SOON, TimeUnit.MILLISECONDS);
        if (next == null) {
            throw new AssertionError("nothing arrives");
        }
        return next;
    }

    /** A container, as the application's listeners have one, with a listener of the case. */
    static final class Container implements AutoCloseable {
        final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        // It keeps one processor for a queue, also if the other is for its dead letters.
        final DefaultServiceBusNamespaceProcessorFactory processors =
            new DefaultServiceBusNamespaceProcessorFactory(
                application.getBean(NamespaceProperties.class), Application::propertiesOf);
        final ServiceBusMessageListenerContainer container;

        Container(String queue, ServiceBusContainerProperties properties,
            ServiceBusRecordMessageListener listener) {
            properties.setEntityName(queue);
            properties.setMessageListener(listener);
            properties.setErrorHandler(context -> failures.add(context.getException()));
            container = new ServiceBusMessageListenerContainer(processors, properties);
            container.start();
        }

        @Override public void close() {
            container.stop();
            processors.destroy();
        }
    }

    static String text(ServiceBusReceivedMessageContext context) {
        return context.getMessage().getBody().toString();
    }

    static void anAnnotatedListenerGetsWhatIsSent() throws Exception {
        send("p0", "grüße");
        send("p0", new byte[] {'b', 'y', 't', 'e', 's'});
        same(next(PLAIN), "grüße");
        same(next(PLAIN), "bytes");
        waitUntilEmpty("p0");
    }

    static void eachSessionArrivesInOrder() throws Exception {
        Map<String, List<String>> sent = new TreeMap<>();
        for (int i = 0; i < 10; ++i) {
            for (String session : List.of("a", "b", "c")) {
                send("s0", session + i, Map.of(ServiceBusMessageHeaders.SESSION_ID, session));
                sent.computeIfAbsent(session, any -> new ArrayList<>()).add(session + i);
            }
        }
        if (!ALL_OF_SESSIONS.await(SOON, TimeUnit.MILLISECONDS)) {
            throw new AssertionError("only " + SESSIONS);
        }
        same(new TreeMap<>(SESSIONS), sent);
        waitUntilEmpty("s0");
    }

    // The container abandons what its listener throws at.
    static void aListenerThatFailsGetsItsObjectAgain() throws Exception {
        send("p1", new Order("tea", 3));
        for (int deliveries = 0; deliveries < 3; ++deliveries) {
            same(next(ORDERS), "Order[item=tea, count=3] " + deliveries);
        }
        waitUntilEmpty("p1");
        same(left("p1", SubQueue.DEAD_LETTER_QUEUE), List.of());
    }

    static void aRequestGetsItsAnswer() {
        ServiceBusReceivedMessage answer =
            application.getBean(ServiceBusTemplate.class)
                .sendAndReceive("p2",
                    MessageBuilder.withPayload("question")
                        .setHeader(MessageHeaders.REPLY_CHANNEL, "s1")
                        .setHeader(ServiceBusMessageHeaders.REPLY_TO_SESSION_ID, "mine")
                        .build());
        same(answer.getBody().toString(), "answer to question");
        same(answer.getSessionId(), "mine");
    }

    static void whatAlwaysFailsIsADeadLetter() throws Exception {
        BlockingQueue<Long> deliveries = new LinkedBlockingQueue<>();
        Container container =
            new Container("p3", new ServiceBusContainerProperties(), context -> {
                deliveries.add(context.getMessage().getDeliveryCount());
                throw new IllegalStateException("never");
            });
        try (container) {
            send("p3", "poison");
            for (long i = 0; i < MOST_DELIVERIES; ++i) {
                same(next(deliveries), i);
                same(next(container.failures).getCause().getMessage(), "never");
            }
            waitUntilEmpty("p3");
            same(left("p3", SubQueue.DEAD_LETTER_QUEUE), List.of("poison"));
            same(deliveries.poll(), null);
        }
    }

    static void aListenerSettlesByItself() throws Exception {
        ServiceBusContainerProperties manual = new ServiceBusContainerProperties();
        manual.setAutoComplete(false);
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        Container container = new Container("p4", manual, context -> {
            String text = text(context);
            if (text.equals("dead")) {
                context.deadLetter(new DeadLetterOptions()
                                       .setDeadLetterReason("because")
                                       .setDeadLetterErrorDescription("of this"));
            } else if (context.getMessage().getDeliveryCount() == 0) {
                context.abandon();
            } else {
                context.complete();
            }
            seen.add(text + " " + context.getMessage().getDeliveryCount());
        });
        try (container) {
            send("p4", "again");
            same(next(seen), "again 0");
            same(next(seen), "again 1");
            send("p4", "dead");
            same(next(seen), "dead 0");
            waitUntilEmpty("p4");
            same(container.failures.poll(), null);
        }
        BlockingQueue<String> letters = new LinkedBlockingQueue<>();
        ServiceBusContainerProperties dead = new ServiceBusContainerProperties();
        dead.setSubQueue(SubQueue.DEAD_LETTER_QUEUE);
        Container other = new Container("p4", dead, context -> {
            ServiceBusReceivedMessage letter = context.getMessage();
            letters.add(text(context) + ", " + letter.getDeadLetterReason() + ", "
                + letter.getDeadLetterErrorDescription());
        });
        try (other) {
            same(next(letters), "dead, because, of this");
        }
    }

    static void headersArrive() throws Exception {
        Map<String, Object> headers = new HashMap<>();
        headers.put(ServiceBusMessageHeaders.SESSION_ID, "a");
        headers.put(ServiceBusMessageHeaders.MESSAGE_ID, "message-1");
        headers.put(ServiceBusMessageHeaders.CORRELATION_ID, "correlation");
        headers.put(ServiceBusMessageHeaders.SUBJECT, "subject");
        headers.put(ServiceBusMessageHeaders.TO, "to");
        headers.put(ServiceBusMessageHeaders.REPLY_TO_SESSION_ID, "b");
        headers.put(ServiceBusMessageHeaders.TIME_TO_LIVE, Duration.ofMinutes(10));
        headers.put(MessageHeaders.CONTENT_TYPE, "text/plain");
        headers.put(MessageHeaders.REPLY_CHANNEL, "answers");
        headers.put("colour", "red");
        BlockingQueue<ServiceBusReceivedMessage> seen = new LinkedBlockingQueue<>();
        Container container = new Container(
            "s2", new ServiceBusContainerProperties(), context -> seen.add(context.getMessage()));
        try (container) {
            send("s2", "body", headers);
            ServiceBusReceivedMessage message = next(seen);
            same(message.getBody().toString(), "body");
            same(message.getSessionId(), "a");
            same(message.getPartitionKey(), "a");
            same(message.getMessageId(), "message-1");
            same(message.getCorrelationId(), "correlation");
            same(message.getSubject(), "subject");
            same(message.getTo(), "to");
            same(message.getReplyTo(), "answers");
            same(message.getReplyToSessionId(), "b");
            same(message.getTimeToLive(), Duration.ofMinutes(10));
            same(message.getContentType(), "text/plain");
            same(message.getApplicationProperties().get("colour"), "red");
            same(message.getSequenceNumber(), 1L);
        }
    }

    static void aScheduledMessageWaitsForItsTime() throws Exception {
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        Container container = new Container(
            "p5", new ServiceBusContainerProperties(), context -> seen.add(text(context)));
        try (container) {
            send("p5", "first");
            same(next(seen), "first"); // all connections are open
            Instant began = Instant.now();
            send("p5", "late", Map.of(AzureHeaders.SCHEDULED_ENQUEUE_MESSAGE, 4_000));
            send("p5", "early");
            same(next(seen), "early");
            same(next(seen), "late");
            same(Instant.now().isBefore(began.plusSeconds(4)), false);
            waitUntilEmpty("p5");
        }
    }

    public static void main(String[] arguments) throws Exception {
        application =
            new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .properties(Map.of("spring.cloud.azure.servicebus.connection-string",
                    System.getenv("SESSIONQ_CONNECTION"),
                    "spring.cloud.azure.servicebus.entity-type", "queue",
                    "logging.level.root", "off"))
                .run();
        runCases(Cases.class, arguments, 8, DEADLINE);
    }
}
