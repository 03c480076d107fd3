// SPDX-License-Identifier: MIT
import com.microsoft.azure.servicebus.ClientFactory;
import com.microsoft.azure.servicebus.ExceptionPhase;
import com.microsoft.azure.servicebus.IMessage;
import com.microsoft.azure.servicebus.IMessageHandler;
import com.microsoft.azure.servicebus.IMessageReceiver;
import com.microsoft.azure.servicebus.IMessageSender;
import com.microsoft.azure.servicebus.IMessageSession;
import com.microsoft.azure.servicebus.ISessionHandler;
import com.microsoft.azure.servicebus.Message;
import com.microsoft.azure.servicebus.MessageBody;
import com.microsoft.azure.servicebus.MessageBodyType;
import com.microsoft.azure.servicebus.MessageHandlerOptions;
import com.microsoft.azure.servicebus.QueueClient;
import com.microsoft.azure.servicebus.ReceiveMode;
import com.microsoft.azure.servicebus.SessionHandlerOptions;
import com.microsoft.azure.servicebus.SubscriptionClient;
import com.microsoft.azure.servicebus.primitives.ConnectionStringBuilder;
import com.microsoft.azure.servicebus.primitives.MessagingEntityNotFoundException;
import com.microsoft.azure.servicebus.primitives.MessagingFactory;
import com.microsoft.azure.servicebus.primitives.SessionCannotBeLockedException;
import com.microsoft.azure.servicebus.primitives.TimeoutException;
import com.microsoft.azure.servicebus.primitives.TransportType;
import com.microsoft.azure.servicebus.rules.CorrelationFilter;
import com.microsoft.azure.servicebus.rules.RuleDescription;
import com.microsoft.azure.servicebus.rules.SqlFilter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Azure's Java client before the present one, against the broker in SESSIONQ_CONNECTION. The
 * delivery tags of its requests have 36 bytes, four more than AMQP allows. Every case has entities
 * of its own.
 */
public final class Cases extends Support {
    static final long DEADLINE = 60_000; // milliseconds, of a case
    static final Duration SOON = Duration.ofSeconds(10);
    static final Duration A_MOMENT = Duration.ofSeconds(1);

    // The client uses only the host of the endpoint.
    static ConnectionStringBuilder place(String entity) {
        ConnectionStringBuilder place =
            new ConnectionStringBuilder(System.getenv("SESSIONQ_CONNECTION"), entity);
        place.setOperationTimeout(SOON);
        return place;
    }

    static MessagingFactory connect() throws Exception {
        return MessagingFactory.createFromConnectionStringBuilder(place("any"));
    }

    interface Talk {
        void run(MessagingFactory connection) throws Exception;
    }

    static void connected(Talk talk) throws Exception {
        MessagingFactory connection = connect();
        talk.run(connection);
        connection.close();
    }

    static IMessageSender sender(MessagingFactory connection, String queue) throws Exception {
        return ClientFactory.createMessageSenderFromEntityPath(connection, queue);
    }

    static IMessageReceiver receiver(MessagingFactory connection, String queue) throws Exception {
        return ClientFactory.createMessageReceiverFromEntityPath(
            connection, queue, ReceiveMode.PEEKLOCK);
    }

    static IMessageSession accept(MessagingFactory connection, String queue, String session)
        throws Exception {
        return ClientFactory.acceptSessionFromEntityPath(
            connection, queue, session, ReceiveMode.PEEKLOCK);
    }

    static Message of(String session, String text) {
        Message message = new Message(text);
        message.setSessionId(session);
        return message;
    }

    static String text(IMessage message) {
        return message == null
            ? null
            : new String(message.getMessageBody().getBinaryData().get(0), StandardCharsets.UTF_8);
    }

    static List<String> texts(Collection<IMessage> messages) {
        List<String> texts = new ArrayList<>();
        if (messages != null) { // the client returns null for none
            messages.forEach(message -> texts.add(text(message)));
        }
        return texts;
    }

    static List<String> numbers(int from, int to) {
        List<String> numbers = new ArrayList<>();
        for (int i = from; i < to; ++i) {
            numbers.add(Integer.toString(i));
        }
        return numbers;
    }

    // What is in a queue, or in the session of a receiver.
    static List<String> left(IMessageReceiver receiver) throws Exception {
        return texts(receiver.peekBatch(1, 100));
    }

    // The client completes after the handler's return and tells nobody.
    static void waitUntilEmpty(IMessageReceiver receiver) throws Exception {
        Instant late = Instant.now().plus(SOON);
        List<String> left = left(receiver);
        while (!left.isEmpty() && Instant.now().isBefore(late)) {
            left = left(receiver);
        }
        same(left, List.of());
    }

    static void fails(Class<? extends Exception> kind, Body body) throws Exception {
        try {
            body.run();
        } catch (Exception failure) {
            if (!kind.isInstance(failure)) {
                throw new AssertionError("want " + kind.getSimpleName(), failure);
            }
            return;
        }
        throw new AssertionError("no " + kind.getSimpleName());
    }

    static void eachSessionArrivesInOrder() throws Exception {
        String queue = take("s");
        connected(connection -> {
            IMessageSender sender = sender(connection, queue);
            for (int i = 0; i < 10; ++i) {
                sender.send(of("a", Integer.toString(i)));
                sender.send(of("b", Integer.toString(100 + i)));
            }
            for (String id : List.of("b", "a")) {
                IMessageSession session = accept(connection, queue, id);
                same(session.getSessionId(), id);
                List<String> got = new ArrayList<>();
                while (got.size() < 10) {
                    IMessage message = session.receive(SOON);
                    same(message.getSessionId(), id);
                    same(message.getDeliveryCount(), 1L); // the client counts from one
                    got.add(text(message));
                    session.complete(message.getLockToken());
                }
                same(got, id.equals("a") ? numbers(0, 10) : numbers(100, 110));
                same(session.receive(A_MOMENT), null);
                same(left(session), List.of());
                session.close();
            }
        });
    }

    static void theNextSessionIsOneThatIsFree() throws Exception {
        String queue = take("s");
        connected(connection -> {
            IMessageSender sender = sender(connection, queue);
            sender.send(of("a", "one"));
            sender.send(of("b", "two"));
            IMessageSession first = accept(connection, queue, null);
            fails(SessionCannotBeLockedException.class,
                () -> accept(connection, queue, first.getSessionId()));
            IMessageSession second = accept(connection, queue, null);
            same(new TreeSet<>(List.of(first.getSessionId(), second.getSessionId())),
                new TreeSet<>(List.of("a", "b")));
            same(text(first.receive(SOON)), first.getSessionId().equals("a") ? "one" : "two");
            same(text(second.receive(SOON)), second.getSessionId().equals("a") ? "one" : "two");
            fails(TimeoutException.class, () -> accept(connection, queue, null));
        });
    }

    static void aBatchArrivesWhole() throws Exception {
        String queue = take("s");
        connected(connection -> {
            List<Message> batch = new ArrayList<>();
            numbers(0, 100).forEach(text -> batch.add(of("a", text)));
            sender(connection, queue).sendBatch(batch);
            IMessageSession session = accept(connection, queue, "a");
            session.setPrefetchCount(30);
            List<String> got = new ArrayList<>();
            long sequence = 0;
            while (got.size() < 100) {
                for (IMessage message : session.receiveBatch(40, SOON)) {
                    same(message.getSequenceNumber(), ++sequence);
                    got.add(text(message));
                    session.complete(message.getLockToken());
                }
            }
            same(got, numbers(0, 100));
            same(left(session), List.of());
        });
    }

    static void anAbandonedMessageComesAgainWithItsNewProperty() throws Exception {
        String queue = take("s");
        connected(connection -> {
            IMessageSender sender = sender(connection, queue);
            sender.send(of("a", "one"));
            sender.send(of("a", "two"));
            IMessageSession session = accept(connection, queue, "a");
            IMessage message = session.receive(SOON);
            same(text(message), "one");
            session.abandon(message.getLockToken(), Map.of("why", "later"));
            message = session.receive(SOON);
            same(text(message), "one");
            same(message.getDeliveryCount(), 2L);
            same(message.getProperties().get("why"), "later");
            session.complete(message.getLockToken());
            same(left(session), List.of("two"));
        });
    }

    static void aDeferredMessageComesByItsNumberOnly() throws Exception {
        String queue = take("s");
        connected(connection -> {
            IMessageSender sender = sender(connection, queue);
            sender.send(of("a", "one"));
            sender.send(of("a", "two"));
            IMessageSession session = accept(connection, queue, "a");
            IMessage message = session.receive(SOON);
            session.defer(message.getLockToken());
            IMessage next = session.receive(SOON);
            same(text(next), "two");
            session.complete(next.getLockToken());
            same(session.receive(A_MOMENT), null);
            IMessage deferred = session.receiveDeferredMessage(message.getSequenceNumber());
            same(text(deferred), "one");
            session.complete(deferred.getLockToken());
            same(left(session), List.of());
        });
    }

    static void aDeadLetterHasItsReasonAndProperties() throws Exception {
        String queue = take("s");
        connected(connection -> {
            sender(connection, queue).send(of("a", "one"));
            IMessageSession session = accept(connection, queue, "a");
            session.deadLetter(session.receive(SOON).getLockToken(), "because", "of this",
                Map.of("size", 7));
            same(session.receive(A_MOMENT), null);
            IMessageReceiver dead = receiver(connection, queue + "/$DeadLetterQueue");
            IMessage message = dead.receive(SOON);
            same(text(message), "one");
            same(message.getSessionId(), "a");
            same(message.getProperties().get("DeadLetterReason"), "because");
            same(message.getProperties().get("DeadLetterErrorDescription"), "of this");
            same(message.getProperties().get("size"), 7);
            dead.complete(message.getLockToken());
            same(left(dead), List.of());
        });
    }

    static void aSessionKeepsItsState() throws Exception {
        String queue = take("s");
        byte[] state = {0, -1, 127, -128};
        connected(connection -> {
            IMessageSession session = accept(connection, queue, "a");
            same(session.getState(), null);
            session.setState(state);
            same(Arrays.toString(session.getState()), Arrays.toString(state));
        });
        connected(connection -> {
            IMessageSession session = accept(connection, queue, "a");
            same(Arrays.toString(session.getState()), Arrays.toString(state));
            session.setState(null);
            same(session.getState(), null);
            same(accept(connection, queue, "b").getState(), null);
        });
    }

    // Renews until the first lock would be over.
    static void aRenewedSessionIsNotLost() throws Exception {
        String queue = take("short");
        connected(connection -> {
            sender(connection, queue).send(of("a", "one"));
            IMessageSession session = accept(connection, queue, "a");
            IMessage message = session.receive(SOON);
            Instant first = session.getLockedUntilUtc();
            while (Instant.now().isBefore(first.plusMillis(500))) {
                same(session.receive(A_MOMENT), null); // which takes a moment
                Instant before = session.getLockedUntilUtc();
                session.renewSessionLock();
                same(session.getLockedUntilUtc().isAfter(before), true);
            }
            connected(other -> fails(SessionCannotBeLockedException.class,
                () -> accept(other, queue, "a")));
            session.complete(message.getLockToken());
            same(left(session), List.of());
        });
    }

    static void aLockOfAMessageIsRenewed() throws Exception {
        String queue = take("shortp");
        connected(connection -> {
            sender(connection, queue).send(new Message("one"));
            IMessageReceiver receiver = receiver(connection, queue);
            IMessage message = receiver.receive(SOON);
            Instant first = message.getLockedUntilUtc();
            while (Instant.now().isBefore(first.plusMillis(500))) {
                same(receiver.receive(A_MOMENT), null);
                same(receiver.renewMessageLock(message).isAfter(first), true);
            }
            receiver.complete(message.getLockToken());
            same(left(receiver), List.of());
        });
    }

    static void propertiesKeepTheirTypes() throws Exception {
        String queue = take("s");
        Map<String, Object> properties = new TreeMap<>();
        properties.put("text", "grüße");
        properties.put("int", 1 << 30);
        properties.put("long", 1L << 40);
        properties.put("short", (short) -2);
        properties.put("byte", (byte) -3);
        properties.put("float", 0.25f);
        properties.put("double", 0.5);
        properties.put("yes", true);
        properties.put("letter", 'ß');
        properties.put("id", UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"));
        properties.put("date", new Date(1_700_000_000_123L));
        Message sent = of("a", "body");
        sent.setMessageId("message-1");
        sent.setContentType("text/plain");
        sent.setCorrelationId("correlation");
        sent.setLabel("label");
        sent.setTo("to");
        sent.setReplyTo("answers");
        sent.setReplyToSessionId("b");
        sent.setTimeToLive(Duration.ofMinutes(10));
        sent.setProperties(properties);
        connected(connection -> {
            Instant began = Instant.now();
            sender(connection, queue).send(sent);
            IMessage got = accept(connection, queue, "a").receive(SOON);
            same(text(got), "body");
            same(new TreeMap<>(got.getProperties()), properties);
            same(got.getMessageId(), "message-1");
            same(got.getContentType(), "text/plain");
            same(got.getCorrelationId(), "correlation");
            same(got.getLabel(), "label");
            same(got.getTo(), "to");
            same(got.getReplyTo(), "answers");
            same(got.getReplyToSessionId(), "b");
            same(got.getTimeToLive(), Duration.ofMinutes(10));
            same(got.getSequenceNumber(), 1L);
            same(Duration.between(began, got.getEnqueuedTimeUtc()).abs().compareTo(SOON) < 0, true);
            same(got.getExpiresAtUtc(), got.getEnqueuedTimeUtc().plus(Duration.ofMinutes(10)));
        });
    }

    static void aBodyMayBeAValueOrASequence() throws Exception {
        String queue = take("p");
        connected(connection -> {
            IMessageSender sender = sender(connection, queue);
            List<List<Object>> sequence = List.of(List.of("one", 2, 3L));
            sender.send(new Message(MessageBody.fromValueData("värde")));
            sender.send(new Message(MessageBody.fromSequenceData(sequence)));
            sender.send(new Message(MessageBody.fromBinaryData(List.of(new byte[0]))));
            IMessageReceiver receiver = receiver(connection, queue);
            MessageBody got = receiver.receive(SOON).getMessageBody();
            same(got.getBodyType(), MessageBodyType.VALUE);
            same(got.getValueData(), "värde");
            got = receiver.receive(SOON).getMessageBody();
            same(got.getBodyType(), MessageBodyType.SEQUENCE);
            same(got.getSequenceData(), sequence);
            got = receiver.receive(SOON).getMessageBody();
            same(got.getBodyType(), MessageBodyType.BINARY);
            same(got.getBinaryData().get(0).length, 0);
        });
    }

    /** Notes what arrives. Fails on purpose for the texts in `refused`, each once. */
    static final class Noting implements ISessionHandler, IMessageHandler {
        final Map<String, List<String>> seen = new TreeMap<>();
        final List<String> refused = Collections.synchronizedList(new ArrayList<>());
        final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();
        final CountDownLatch all;
        final CountDownLatch closed; // sessions

        Noting(int messages, int sessions) {
            all = new CountDownLatch(messages);
            closed = new CountDownLatch(sessions);
        }

        CompletableFuture<Void> note(String session, IMessage message) {
            synchronized (seen) {
                seen.computeIfAbsent(session, any -> new ArrayList<>()).add(text(message));
            }
            all.countDown();
            return refused.remove(text(message))
                ? CompletableFuture.failedFuture(new IllegalStateException("refused"))
                : CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<Void> onMessageAsync(IMessageSession session, IMessage message) {
            same(message.getSessionId(), session.getSessionId());
            return note(session.getSessionId(), message);
        }

        @Override public CompletableFuture<Void> onMessageAsync(IMessage message) {
            return note("", message);
        }

        @Override public CompletableFuture<Void> OnCloseSessionAsync(IMessageSession session) {
            closed.countDown();
            return CompletableFuture.completedFuture(null);
        }

        @Override public void notifyException(Throwable failure, ExceptionPhase phase) {
            failures.add(phase + ": " + failure);
        }

        void await() throws InterruptedException {
            if (!all.await(30, TimeUnit.SECONDS) || !closed.await(10, TimeUnit.SECONDS)) {
                throw new AssertionError("only " + seen + ", failures " + failures);
            }
        }
    }

    // Two sessions at once, so the pump completes a session and leaves it for the next one.
    static void aSessionHandlerGoesThroughAllSessionsInOrder() throws Exception {
        String queue = take("s");
        connected(connection -> {
            IMessageSender sender = sender(connection, queue);
            Map<String, List<String>> sent = new TreeMap<>();
            for (String session : List.of("a", "b", "c", "d", "e")) {
                sent.put(session, numbers(0, 8));
                List<Message> batch = new ArrayList<>();
                numbers(0, 8).forEach(text -> batch.add(of(session, text)));
                sender.sendBatch(batch);
            }
            Noting noting = new Noting(40, 5);
            ExecutorService threads = Executors.newFixedThreadPool(4);
            QueueClient client = new QueueClient(place(queue), ReceiveMode.PEEKLOCK);
            client.registerSessionHandler(noting,
                new SessionHandlerOptions(2, 1, true, Duration.ofMinutes(1), A_MOMENT), threads);
            noting.await();
            client.close();
            threads.shutdown();
            same(noting.seen, sent);
            for (String session : sent.keySet()) {
                same(left(accept(connection, queue, session)), List.of());
            }
        });
    }

    static void aMessageWhoseHandlerFailsComesAgain() throws Exception {
        String queue = take("p");
        Noting noting = new Noting(6, 0);
        noting.refused.addAll(List.of("1", "3"));
        ExecutorService threads = Executors.newFixedThreadPool(2);
        QueueClient client = new QueueClient(place(queue), ReceiveMode.PEEKLOCK);
        client.registerMessageHandler(noting,
            new MessageHandlerOptions(1, true, Duration.ofMinutes(1), A_MOMENT), threads);
        for (String text : numbers(0, 4)) {
            client.send(new Message(text));
        }
        noting.await();
        connected(connection -> waitUntilEmpty(receiver(connection, queue)));
        client.close();
        threads.shutdown();
        Map<String, Integer> times = new HashMap<>();
        noting.seen.get("").forEach(text -> times.merge(text, 1, Integer::sum));
        same(times, Map.of("0", 1, "1", 2, "2", 1, "3", 2));
    }

    static void aScheduledMessageArrivesInTimeOrIsCancelled() throws Exception {
        String queue = take("s");
        connected(connection -> {
            IMessageSender sender = sender(connection, queue);
            Instant when = Instant.ofEpochMilli(System.currentTimeMillis() + 4_000);
            long early = sender.scheduleMessage(of("a", "early"), when);
            long late = sender.scheduleMessage(of("a", "late"), when.plusSeconds(1));
            long never = sender.scheduleMessage(of("a", "never"), when.plusSeconds(60));
            same(new TreeSet<>(List.of(early, late, never)).size(), 3);
            IMessageSession session = accept(connection, queue, "a");
            same(left(session), List.of("early", "late", "never"));
            sender.cancelScheduledMessage(never);
            same(left(session), List.of("early", "late"));
            for (String text : List.of("early", "late")) {
                IMessage message = session.receive(SOON);
                same(text(message), text);
                same(message.getEnqueuedTimeUtc().isBefore(when), false);
                session.complete(message.getLockToken());
            }
            same(session.receive(A_MOMENT), null);
            same(left(session), List.of());
        });
    }

    static void peekGoesOnFromWhereItWas() throws Exception {
        String queue = take("p");
        connected(connection -> {
            IMessageSender sender = sender(connection, queue);
            for (String text : numbers(0, 5)) {
                sender.send(new Message(text));
            }
            IMessageReceiver receiver = receiver(connection, queue);
            same(text(receiver.peek()), "0");
            same(texts(receiver.peekBatch(2)), List.of("1", "2"));
            same(text(receiver.peek()), "3");
            same(text(receiver.peek(2)), "1");
            same(text(receiver.receive(SOON)), "0"); // peeking has locked none
            same(left(receiver), numbers(0, 5));
        });
    }

    static void receiveAndDeleteLeavesNothing() throws Exception {
        String queue = take("s");
        connected(connection -> {
            IMessageSender sender = sender(connection, queue);
            sender.send(of("a", "one"));
            sender.send(of("a", "two"));
            IMessageSession session = ClientFactory.acceptSessionFromEntityPath(
                connection, queue, "a", ReceiveMode.RECEIVEANDDELETE);
            same(text(session.receive(SOON)), "one");
            same(left(session), List.of("two"));
            same(text(session.receive(SOON)), "two");
            same(left(session), List.of());
        });
    }

    static void aSubscriptionTakesRules() throws Exception {
        String topic = take("t");
        SubscriptionClient client = new SubscriptionClient(
            place(topic + "/subscriptions/plain"), ReceiveMode.PEEKLOCK);
        client.addRule(new RuleDescription("big", new SqlFilter("size > 10")));
        CorrelationFilter red = new CorrelationFilter();
        red.setLabel("red");
        client.addRule("red", red);
        client.removeRule("$Default");
        Map<String, String> rules = new TreeMap<>();
        for (RuleDescription rule : client.getRules()) {
            rules.put(rule.getName(), rule.getFilter().getClass().getSimpleName());
        }
        same(rules, Map.of("big", "SqlFilter", "red", "CorrelationFilter"));
        connected(connection -> {
            IMessageSender sender = sender(connection, topic);
            for (int size : List.of(5, 20)) {
                Message message = of("a", "size " + size);
                message.setProperties(Map.of("size", size));
                sender.send(message);
            }
            Message labelled = of("a", "red");
            labelled.setLabel("red");
            sender.send(labelled);
            IMessageReceiver receiver = receiver(connection, topic + "/subscriptions/plain");
            same(text(receiver.receive(SOON)), "size 20");
            same(text(receiver.receive(SOON)), "red");
            same(receiver.receive(A_MOMENT), null);
        });
        client.close();
    }

    static void anUnknownQueueIsRefusedByName() throws Exception {
        connected(connection -> fails(MessagingEntityNotFoundException.class,
            () -> sender(connection, "nowhere").send(new Message("one"))));
    }

    static void webSocketsWorkThroughAProxy() throws Exception {
        String queue = take("s");
        ConnectionStringBuilder place = place(queue);
        place.setTransportType(TransportType.AMQP_WEB_SOCKETS);
        MessagingFactory connection = MessagingFactory.createFromConnectionStringBuilder(place);
        same(Ways.PROXIED.get(), 1);
        sender(connection, queue).send(of("a", "x".repeat(200_000))); // of many frames
        IMessageSession session = accept(connection, queue, null);
        IMessage message = session.receive(SOON);
        same(text(message), "x".repeat(200_000));
        session.complete(message.getLockToken());
        same(left(session), List.of());
        connection.close();
    }

    public static void main(String[] arguments) throws Exception {
        Ways.open();
        runCases(Cases.class, arguments, 6, DEADLINE);
    }
}
