// SPDX-License-Identifier: MIT
import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.core.amqp.exception.AmqpErrorCondition;
import com.azure.core.amqp.exception.AmqpException;
import com.azure.core.amqp.models.AmqpAnnotatedMessage;
import com.azure.core.amqp.models.AmqpMessageBody;
import com.azure.core.amqp.models.AmqpMessageId;
import com.azure.core.util.BinaryData;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusFailureReason;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusMessageBatch;
import com.azure.messaging.servicebus.ServiceBusProcessorClient;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverAsyncClient;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusRuleManagerClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverAsyncClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverClient;
import com.azure.messaging.servicebus.administration.models.CorrelationRuleFilter;
import com.azure.messaging.servicebus.administration.models.CreateRuleOptions;
import com.azure.messaging.servicebus.administration.models.RuleProperties;
import com.azure.messaging.servicebus.administration.models.SqlRuleAction;
import com.azure.messaging.servicebus.administration.models.SqlRuleFilter;
import com.azure.messaging.servicebus.models.AbandonOptions;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import com.azure.messaging.servicebus.models.ServiceBusMessageState;
import com.azure.messaging.servicebus.models.ServiceBusReceiveMode;
import com.azure.messaging.servicebus.models.SubQueue;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Azure's Java client with sessions, against the broker in SESSIONQ_CONNECTION. Every case has
 * queues of its own.
 */
public final class Cases extends Support {
    static final String CONNECTION = System.getenv("SESSIONQ_CONNECTION");
    static final long DEADLINE = 90_000; // milliseconds, of a case
    static final Duration SOON = Duration.ofSeconds(10);
    static final Duration A_MOMENT = Duration.ofMillis(500);

    static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    static Throwable failureOf(Body body) {
        try {
            body.run();
        } catch (Throwable failure) {
            return failure;
        }
        throw new AssertionError("no failure");
    }

    static boolean says(Throwable failure, Object reason) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ServiceBusException
                    && reason.equals(((ServiceBusException) cause).getReason())
                || cause instanceof AmqpException
                    && reason.equals(((AmqpException) cause).getErrorCondition())) {
                return true;
            }
        }
        return false;
    }

    // Checks the error. `reason` is a ServiceBusFailureReason, or an AmqpErrorCondition for errors
    // of accept, which the client passes on unchanged.
    static void failsWith(Object reason, Body body) {
        Throwable failure = failureOf(body);
        if (!says(failure, reason)) {
            throw new AssertionError("want " + reason, failure);
        }
    }

    static void failsSaying(String text, Body body) {
        Throwable failure = failureOf(body);
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (String.valueOf(cause.getMessage()).contains(text)) {
                return;
            }
        }
        throw new AssertionError("want '" + text + "'", failure);
    }

    // Returns a client without retries, so that a case sees the broker's answer.
    static ServiceBusClientBuilder client(String connection, Duration tryTimeout) {
        return new ServiceBusClientBuilder()
            .connectionString(connection)
            .retryOptions(new AmqpRetryOptions().setMaxRetries(0).setTryTimeout(tryTimeout));
    }

    static ServiceBusClientBuilder client() {
        return client(CONNECTION, SOON);
    }

    static ServiceBusClientBuilder.ServiceBusSessionReceiverClientBuilder sessions(
        ServiceBusClientBuilder client, String queue) {
        return client.sessionReceiver()
            .queueName(queue)
            .disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ZERO);
    }

    static ServiceBusClientBuilder.ServiceBusReceiverClientBuilder messages(
        ServiceBusClientBuilder client, String queue) {
        return client.receiver().queueName(queue).disableAutoComplete().maxAutoLockRenewDuration(
            Duration.ZERO);
    }

    static ServiceBusReceiverClient accept(
        ServiceBusClientBuilder client, String queue, String session) {
        return sessions(client, queue).buildClient().acceptSession(session);
    }

    // Accepts a session that was left a moment ago. The client names the link after the session and
    // closes it in the background. On the same connection it may reuse the closing link; on another
    // one it may be too early.
    static ServiceBusReceiverClient acceptAgain(String queue, String session) {
        ServiceBusClientBuilder other = client();
        for (int attempt = 0;; ++attempt) {
            try {
                return accept(other, queue, session);
            } catch (RuntimeException early) {
                if (attempt == 50 || !says(early, AmqpErrorCondition.SESSION_CANNOT_BE_LOCKED)) {
                    throw early;
                }
                sleep(100);
            }
        }
    }

    static ServiceBusMessage of(String session, String body) {
        return new ServiceBusMessage(body).setSessionId(session);
    }

    static void send(ServiceBusClientBuilder client, String queue, ServiceBusMessage... messages) {
        try (ServiceBusSenderClient sender = client.sender().queueName(queue).buildClient()) {
            if (messages.length == 1) {
                sender.sendMessage(messages[0]);
            } else {
                sender.sendMessages(Arrays.asList(messages));
            }
        }
    }

    static List<ServiceBusReceivedMessage> receive(
        ServiceBusReceiverClient receiver, int most, Duration wait) {
        List<ServiceBusReceivedMessage> all = new ArrayList<>();
        receiver.receiveMessages(most, wait).forEach(all::add);
        return all;
    }

    static ServiceBusReceivedMessage one(ServiceBusReceiverClient receiver) {
        List<ServiceBusReceivedMessage> all = receive(receiver, 1, SOON);
        same(all.size(), 1);
        return all.get(0);
    }

    static void nothing(ServiceBusReceiverClient receiver) {
        same(texts(receive(receiver, 1, A_MOMENT)), List.of());
    }

    static String text(ServiceBusReceivedMessage message) {
        return message.getBody().toString();
    }

    static List<String> texts(Iterable<ServiceBusReceivedMessage> messages) {
        List<String> all = new ArrayList<>();
        messages.forEach(message -> all.add(text(message)));
        return all;
    }

    static void acceptTheNextSessionReceiveComplete() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        send(client, queue, of("a", "one"));
        try (ServiceBusReceiverClient receiver =
                 sessions(client, queue).buildClient().acceptNextSession()) {
            same(receiver.getSessionId(), "a");
            ServiceBusReceivedMessage message = one(receiver);
            same(text(message), "one");
            same(message.getSessionId(), "a");
            same(message.getDeliveryCount(), 0L);
            same(message.getSequenceNumber(), 1L);
            receiver.complete(message);
            nothing(receiver);
        }
    }

    static void acceptANamedSessionThatHasNoMessagesYet() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        try (ServiceBusReceiverClient receiver = accept(client, queue, "later")) {
            send(client, queue, of("later", "one"));
            same(text(one(receiver)), "one");
        }
    }

    static void acceptWithNothingThereEndsWithATimeOut() {
        String queue = take("s");
        ServiceBusSessionReceiverClient receiver =
            sessions(client(CONNECTION, Duration.ofSeconds(3)), queue).buildClient();
        Instant began = Instant.now();
        Throwable failure = failureOf(receiver::acceptNextSession);
        check(String.valueOf(failure).contains("imeout")
                || String.valueOf(failure.getMessage()).contains("imed out"),
            "got " + failure);
        check(Instant.now().isBefore(began.plusSeconds(20)), "it took too long");
    }

    static void aClientThatWaitsForTheNextSessionGetsOneWhenItAppears() throws Exception {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        Thread late = new Thread(() -> {
            sleep(500);
            send(client, queue, of("late", "one"));
        });
        late.start();
        try (ServiceBusReceiverClient receiver =
                 sessions(client, queue).buildClient().acceptNextSession()) {
            same(receiver.getSessionId(), "late");
        }
        late.join();
    }

    static void twoClientsCompeteForOneSession() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        ServiceBusClientBuilder other = client();
        send(client, queue, of("a", "one"));
        try (ServiceBusReceiverClient first = accept(client, queue, "a")) {
            failsWith(AmqpErrorCondition.SESSION_CANNOT_BE_LOCKED, () -> accept(other, queue, "a"));
            same(text(one(first)), "one");
        }
        try (ServiceBusReceiverClient second = acceptAgain(queue, "a")) {
            ServiceBusReceivedMessage again = one(second);
            same(text(again), "one");
            second.complete(again);
        }
    }

    static void receiveInOrderAcrossTwoSessions() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        for (int i = 0; i < 10; ++i) {
            send(client, queue, of("a", String.valueOf(i)), of("b", String.valueOf(100 + i)));
        }
        for (Map.Entry<String, Integer> session : Map.of("a", 0, "b", 100).entrySet()) {
            try (ServiceBusReceiverClient receiver = accept(client, queue, session.getKey())) {
                int received = 0;
                while (received < 10) {
                    for (ServiceBusReceivedMessage message : receive(receiver, 4, SOON)) {
                        same(text(message), String.valueOf(session.getValue() + received++));
                        receiver.complete(message);
                    }
                }
            }
        }
    }

    static void streamingReceive() throws Exception {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        ServiceBusMessage[] messages = new ServiceBusMessage[50];
        List<String> sent = new ArrayList<>();
        for (int i = 0; i < messages.length; ++i) {
            messages[i] = of("a", String.valueOf(i));
            sent.add(String.valueOf(i));
        }
        send(client, queue, messages);
        ConcurrentLinkedQueue<String> received = new ConcurrentLinkedQueue<>();
        CountDownLatch all = new CountDownLatch(messages.length);
        try (ServiceBusSessionReceiverAsyncClient acceptor =
                 sessions(client, queue).buildAsyncClient();
             ServiceBusReceiverAsyncClient receiver = acceptor.acceptSession("a").block(SOON)) {
            var subscription =
                receiver.receiveMessages()
                    .concatMap(message -> receiver.complete(message).doOnSuccess(done -> {
                        received.add(text(message));
                        all.countDown();
                    }))
                    .subscribe();
            check(all.await(20, TimeUnit.SECONDS), "only " + received);
            subscription.dispose();
        }
        same(new ArrayList<>(received), sent);
    }

    static void receiveWithPrefetch() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        for (int i = 0; i < 20; ++i) {
            send(client, queue, of("a", String.valueOf(i)));
        }
        try (ServiceBusReceiverClient receiver =
                 sessions(client, queue).prefetchCount(10).buildClient().acceptSession("a")) {
            for (int i = 0; i < 10; ++i) {
                ServiceBusReceivedMessage message = one(receiver);
                same(text(message), String.valueOf(i));
                receiver.complete(message);
            }
        }
        // messages that were fetched but not handled are back
        try (ServiceBusReceiverClient again = acceptAgain(queue, "a")) {
            same(text(one(again)), "10");
        }
    }

    // The client's own processor, which rolls from session to session.
    static void sessionProcessor() throws Exception {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        for (int i = 0; i < 5; ++i) {
            for (int session = 0; session < 4; ++session) {
                send(client, queue, of("session-" + session, String.valueOf(i)));
            }
        }
        Map<String, List<String>> received = new ConcurrentHashMap<>();
        CountDownLatch all = new CountDownLatch(20);
        ServiceBusProcessorClient processor =
            client.sessionProcessor()
                .queueName(queue)
                .maxConcurrentSessions(2)
                .sessionIdleTimeout(A_MOMENT)
                .processMessage(context -> {
                    List<String> session = received.computeIfAbsent(
                        context.getMessage().getSessionId(), any -> new ArrayList<>());
                    synchronized (session) {
                        session.add(text(context.getMessage()));
                    }
                    all.countDown();
                })
                .processError(context -> {})
                .buildProcessorClient();
        processor.start();
        check(all.await(30, TimeUnit.SECONDS), "only " + received);
        processor.close();
        same(received.size(), 4);
        received.values().forEach(session -> same(session, List.of("0", "1", "2", "3", "4")));
    }

    static void abandonBringsTheSameMessageAgainBeforeLaterOnes() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        ServiceBusMessage typed = of("a", "one");
        typed.getApplicationProperties().put("number", 7); // an int, not a long
        send(client, queue, typed, of("a", "two"));
        try (ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            receiver.abandon(
                one(receiver), new AbandonOptions().setPropertiesToModify(Map.of("tried", "once")));
            ServiceBusReceivedMessage again = one(receiver);
            same(text(again), "one");
            same(again.getDeliveryCount(), 1L);
            same(again.getApplicationProperties(), Map.of("number", 7, "tried", "once"));
            receiver.complete(again);
            same(text(one(receiver)), "two");
        }
    }

    static void deferReceiveDeferredComplete() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        send(client, queue, of("a", "one"), of("a", "two"));
        try (ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            ServiceBusReceivedMessage message = one(receiver);
            receiver.defer(message);
            same(text(one(receiver)), "two");
            ServiceBusReceivedMessage deferred =
                receiver.receiveDeferredMessage(message.getSequenceNumber());
            same(text(deferred), "one");
            receiver.complete(deferred);
            // not an error for this client
            same(texts(receiver.receiveDeferredMessageBatch(List.of(message.getSequenceNumber()))),
                List.of());
        }
    }

    static void deadLetterWithAReason() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        send(client, queue, of("a", "bad"));
        try (ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            receiver.deadLetter(one(receiver),
                new DeadLetterOptions()
                    .setDeadLetterReason("reason")
                    .setDeadLetterErrorDescription("description")
                    .setPropertiesToModify(Map.of("extra", 7L)));
        }
        try (ServiceBusReceiverClient graveyard =
                 messages(client, queue).subQueue(SubQueue.DEAD_LETTER_QUEUE).buildClient()) {
            ServiceBusReceivedMessage dead = one(graveyard);
            same(text(dead), "bad");
            same(dead.getDeadLetterReason(), "reason");
            same(dead.getDeadLetterErrorDescription(), "description");
            same(dead.getApplicationProperties().get("extra"), 7L);
            check(graveyard.renewMessageLock(dead).isAfter(OffsetDateTime.now()),
                "the lock has expired");
            graveyard.complete(dead);
            nothing(graveyard);
        }
    }

    // All that this client shows of a message, but for what a redrive is to change.
    static String contentOf(ServiceBusReceivedMessage message) {
        AmqpAnnotatedMessage raw = message.getRawAmqpMessage();
        AmqpMessageBody body = raw.getBody();
        String shown = switch (body.getBodyType()) {
            case DATA -> Arrays.toString(body.getFirstData());
            case VALUE -> body.getValue() + " " + body.getValue().getClass();
            case SEQUENCE -> body.getSequence().toString();
        };
        Map<String, Object> properties = new TreeMap<>(raw.getApplicationProperties());
        Object id = properties.get("sessionq-redrive-message-id");
        properties.keySet().removeIf(name -> name.startsWith("sessionq-redrive-"));
        List<String> types = new ArrayList<>();
        properties.forEach((name, value) -> types.add(name + " " + value.getClass() + value));
        return String.join(" ", String.valueOf(id == null ? message.getMessageId() : id), shown,
            body.getBodyType().toString(), types.toString(),
            String.valueOf(raw.getProperties().getCorrelationId()),
            String.valueOf(raw.getProperties().getContentEncoding()),
            String.valueOf(raw.getProperties().getGroupSequence()),
            Arrays.toString(raw.getProperties().getUserId()), raw.getProperties().getSubject(),
            String.valueOf(raw.getHeader().isDurable()),
            String.valueOf(raw.getHeader().getPriority()),
            String.valueOf(raw.getMessageAnnotations().get("x-of-mine")),
            raw.getFooter().toString());
    }

    static void aRedrivenMessageIsReceivedAsItWasSent() throws Exception {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        List<AmqpMessageBody> bodies = List.of(
            AmqpMessageBody.fromData(new byte[] {0, -1, 7}), AmqpMessageBody.fromValue(5L),
            AmqpMessageBody.fromValue("grüße"), AmqpMessageBody.fromSequence(List.of(1, "two")));
        for (int i = 0; i < bodies.size(); ++i) {
            ServiceBusMessage message = new ServiceBusMessage(bodies.get(i))
                                            .setMessageId("id" + i)
                                            .setSessionId("a")
                                            .setSubject("subject");
            AmqpAnnotatedMessage raw = message.getRawAmqpMessage();
            raw.getHeader().setDurable(true).setPriority((short) 3);
            raw.getProperties()
                .setCorrelationId(new AmqpMessageId("c"))
                .setContentEncoding("gzip")
                .setGroupSequence(7L)
                .setUserId("me".getBytes());
            raw.getMessageAnnotations().put("x-of-mine", 5);
            message.getApplicationProperties().putAll(Map.of("int", 5, "long", 1L << 40, "float",
                0.5f, "yes", true, "text", "grüße", "uuid", new UUID(1, 2)));
            send(client, queue, message);
        }
        List<String> before = new ArrayList<>();
        List<String> after = new ArrayList<>();
        try (ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            for (AmqpMessageBody body : bodies) {
                ServiceBusReceivedMessage message = one(receiver);
                before.add(contentOf(message));
                receiver.deadLetter(message, new DeadLetterOptions().setDeadLetterReason("r"));
            }
        }
        List<String> command = new ArrayList<>(List.of(System.getenv("SESSIONQ_COMMAND")));
        if (System.getenv("SESSIONQ_CA") != null) {
            command.addAll(List.of("--ca-file", System.getenv("SESSIONQ_CA")));
        }
        command.addAll(List.of("dead-letters", "redrive", queue));
        same(new ProcessBuilder(command).inheritIO().start().waitFor(), 0);
        try (ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            for (AmqpMessageBody body : bodies) {
                ServiceBusReceivedMessage message = one(receiver);
                after.add(contentOf(message));
                receiver.complete(message);
            }
        }
        same(after, before);
    }

    static void aMessageThatIsAbandonedTooOftenIsDeadLettered() {
        String queue = take("p");
        ServiceBusClientBuilder client = client();
        send(client, queue, new ServiceBusMessage("poison"));
        try (ServiceBusReceiverClient receiver = messages(client, queue).buildClient()) {
            for (long i = 0; i < 10; ++i) {
                ServiceBusReceivedMessage message = one(receiver);
                same(message.getDeliveryCount(), i);
                receiver.abandon(message);
            }
        }
        try (ServiceBusReceiverClient graveyard =
                 messages(client, queue).subQueue(SubQueue.DEAD_LETTER_QUEUE).buildClient()) {
            ServiceBusReceivedMessage dead = one(graveyard);
            same(dead.getDeadLetterReason(), "MaxDeliveryCountExceeded");
            graveyard.complete(dead);
        }
    }

    static void holds(ServiceBusReceiverClient receiver, byte[] want) {
        byte[] state = receiver.getSessionState();
        check(Arrays.equals(state, want),
            "got " + Arrays.toString(state) + ", want " + Arrays.toString(want));
    }

    static void sessionState() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        byte[] state = {3, 0, -1};
        try (ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            holds(receiver, null);
            receiver.setSessionState(state);
            holds(receiver, state);
        }
        try (ServiceBusReceiverClient again = acceptAgain(queue, "a")) {
            holds(again, state);
            again.setSessionState(null);
            holds(again, null);
        }
    }

    static void renewTheLock() {
        try (ServiceBusReceiverClient receiver = accept(client(), take("s"), "a")) {
            OffsetDateTime first = receiver.renewSessionLock();
            check(first.isAfter(OffsetDateTime.now().plusSeconds(30)), "locked until " + first);
            sleep(50);
            check(receiver.renewSessionLock().isAfter(first), "not renewed");
        }
    }

    static void aLockThatIsRenewedLastsLongerThanItWasGivenFor() {
        String queue = take("short");
        ServiceBusClientBuilder client = client();
        send(client, queue, of("a", "one"));
        try (ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            ServiceBusReceivedMessage message = one(receiver);
            receiver.renewSessionLock(Duration.ofSeconds(20), failure -> {});
            sleep(8000);
            receiver.complete(message);
        }
    }

    static void aLockThatIsNotRenewedIsLost() {
        String queue = take("short");
        ServiceBusClientBuilder client = client();
        send(client, queue, of("a", "one"));
        try (ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            ServiceBusReceivedMessage message = one(receiver);
            sleep(6500);
            failsWith(ServiceBusFailureReason.SESSION_LOCK_LOST, () -> receiver.complete(message));
        }
        try (ServiceBusReceiverClient again = acceptAgain(queue, "a")) {
            ServiceBusReceivedMessage same = one(again);
            same(text(same), "one");
            same(same.getDeliveryCount(), 1L);
        }
    }

    static void aMessagesOwnLockIsLostAsWell() {
        String queue = take("shortp");
        ServiceBusClientBuilder client = client();
        send(client, queue, new ServiceBusMessage("one"));
        try (ServiceBusReceiverClient receiver = messages(client, queue).buildClient()) {
            ServiceBusReceivedMessage message = one(receiver);
            sleep(6000);
            failsWith(ServiceBusFailureReason.MESSAGE_LOCK_LOST, () -> receiver.complete(message));
            ServiceBusReceivedMessage again = one(receiver);
            same(again.getDeliveryCount(), 1L);
            receiver.complete(again);
        }
    }

    static void peekTakesNothing() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        send(client, queue, of("a", "1"), of("b", "2"), of("a", "3"));
        try (ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            same(texts(receiver.peekMessages(10)), List.of("1", "3"));
            same(texts(receiver.peekMessages(10)), List.of());
            ServiceBusReceivedMessage message = one(receiver);
            same(text(message), "1");
            same(message.getDeliveryCount(), 0L);
        }
    }

    static void scheduleAndCancel() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        try (ServiceBusSenderClient sender = client.sender().queueName(queue).buildClient();
             ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            check(sender.scheduleMessage(of("a", "soon"), OffsetDateTime.now().plusSeconds(2)) > 0,
                "no sequence number");
            List<Long> later = new ArrayList<>();
            sender
                .scheduleMessages(
                    List.of(of("a", "x"), of("a", "y")), OffsetDateTime.now().plusSeconds(60))
                .forEach(later::add);
            same(later.size(), 2);
            int peeked = 0;
            for (ServiceBusReceivedMessage message : receiver.peekMessages(10)) {
                same(message.getState(), ServiceBusMessageState.SCHEDULED);
                ++peeked;
            }
            same(peeked, 3);
            sender.cancelScheduledMessages(later);
            same(text(one(receiver)), "soon");
            // it got a new number when it was due
            receiver.peekMessages(10, later.get(0)).forEach(message -> same(text(message), "soon"));
        }
    }

    static void sendsOneAListAndABatch() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        send(client, queue, of("a", "1"));
        send(client, queue, of("a", "2"), of("a", "3"));
        try (ServiceBusSenderClient sender = client.sender().queueName(queue).buildClient()) {
            ServiceBusMessageBatch batch = sender.createMessageBatch();
            for (int i = 4; i <= 40; ++i) {
                ServiceBusMessage message = of("a", String.valueOf(i)).setMessageId("id-" + i);
                message.getApplicationProperties().put("number", i);
                check(batch.tryAddMessage(message), "the batch is full");
            }
            sender.sendMessages(batch);
        }
        try (ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            int received = 0;
            while (received < 40) {
                for (ServiceBusReceivedMessage message :
                    receive(receiver, 40 - received, A_MOMENT)) {
                    same(text(message), String.valueOf(++received));
                    if (received >= 4) {
                        same(message.getMessageId(), "id-" + received);
                        same(message.getApplicationProperties().get("number"), received);
                    }
                    receiver.complete(message);
                }
            }
        }
    }

    static void aBatchOfTwoSessionsReachesBoth() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        send(client, queue, of("a", "1"), of("b", "2"));
        for (Map.Entry<String, String> session : Map.of("a", "1", "b", "2").entrySet()) {
            try (ServiceBusReceiverClient receiver = accept(client, queue, session.getKey())) {
                same(text(one(receiver)), session.getValue());
            }
        }
    }

    static void largeMessagesAndEveryField() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        byte[] body = new byte[300000];
        Arrays.fill(body, (byte) 7);
        ServiceBusMessage sent = new ServiceBusMessage(BinaryData.fromBytes(body))
                                     .setSessionId("a")
                                     .setMessageId("id")
                                     .setCorrelationId("c")
                                     .setSubject("s")
                                     .setTo("t")
                                     .setReplyTo("r")
                                     .setReplyToSessionId("rs")
                                     .setContentType("x/y")
                                     .setTimeToLive(Duration.ofHours(1));
        Map<String, Object> properties =
            Map.of("text", "x", "number", 1.5, "flag", true, "when", new Date(1700000000000L));
        sent.getApplicationProperties().putAll(properties);
        send(client, queue, sent);
        try (ServiceBusReceiverClient receiver = accept(client, queue, "a")) {
            ServiceBusReceivedMessage message = one(receiver);
            check(Arrays.equals(message.getBody().toBytes(), body), "another body");
            same(List.of(message.getMessageId(), message.getCorrelationId(), message.getSubject(),
                     message.getTo(), message.getReplyTo(), message.getReplyToSessionId(),
                     message.getContentType()),
                List.of("id", "c", "s", "t", "r", "rs", "x/y"));
            same(message.getTimeToLive(), Duration.ofHours(1));
            same(message.getApplicationProperties(), properties);
            check(message.getExpiresAt().isAfter(OffsetDateTime.now()),
                "expired at " + message.getExpiresAt());
        }
    }

    static void receiveAndDelete() {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        send(client, queue, of("a", "1"), of("a", "2"));
        try (ServiceBusReceiverClient receiver =
                 client.sessionReceiver()
                     .queueName(queue)
                     .receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE)
                     .buildClient()
                     .acceptSession("a")) {
            List<String> received = new ArrayList<>();
            while (received.size() < 2) {
                received.addAll(texts(receive(receiver, 2 - received.size(), SOON)));
            }
            same(received, List.of("1", "2"));
        }
        try (ServiceBusReceiverClient again = acceptAgain(queue, "a")) {
            nothing(again);
        }
    }

    static void queuesWithoutSessions() {
        String queue = take("p");
        ServiceBusClientBuilder client = client();
        send(client, queue, new ServiceBusMessage("1"), new ServiceBusMessage("2"));
        try (ServiceBusReceiverClient receiver = messages(client, queue).buildClient()) {
            ServiceBusReceivedMessage first = one(receiver);
            receiver.defer(first);
            receiver.complete(one(receiver));
            ServiceBusReceivedMessage deferred =
                receiver.receiveDeferredMessage(first.getSequenceNumber());
            same(text(deferred), "1");
            receiver.deadLetter(deferred, new DeadLetterOptions().setDeadLetterReason("late"));
        }
        try (ServiceBusReceiverClient graveyard =
                 client.receiver()
                     .queueName(queue)
                     .subQueue(SubQueue.DEAD_LETTER_QUEUE)
                     .receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE)
                     .buildClient()) {
            same(one(graveyard).getDeadLetterReason(), "late");
        }
    }

    static ServiceBusMessage notice(
        String session, String body, String subject, String tier, int amount) {
        ServiceBusMessage message = of(session, body).setSubject(subject);
        message.getApplicationProperties().put("tier", tier);
        message.getApplicationProperties().put("amount", amount);
        return message;
    }

    static void sendToTopic(
        ServiceBusClientBuilder client, String topic, ServiceBusMessage... messages) {
        try (ServiceBusSenderClient sender = client.sender().topicName(topic).buildClient()) {
            sender.sendMessages(Arrays.asList(messages));
        }
    }

    static List<ServiceBusReceivedMessage> receiveAll(
        ServiceBusClientBuilder client, String topic, String subscription, int most) {
        try (ServiceBusReceiverClient receiver =
                 client.receiver()
                     .topicName(topic)
                     .subscriptionName(subscription)
                     .receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE)
                     .buildClient()) {
            return receive(receiver, most, Duration.ofSeconds(2));
        }
    }

    static void aTopicsSubscriptions() {
        ServiceBusClientBuilder client = client();
        sendToTopic(client, "filters", notice("a", "1", "blue", "gold", 5),
            notice("a", "2", "red", "gold", 50), notice("b", "3", "blue", "tin", 50));
        try (ServiceBusReceiverClient receiver = client.sessionReceiver()
                                                     .topicName("filters")
                                                     .subscriptionName("sessions")
                                                     .disableAutoComplete()
                                                     .buildClient()
                                                     .acceptSession("a")) {
            same(text(one(receiver)), "1");
            same(text(one(receiver)), "2");
        }
        same(texts(receiveAll(client, "filters", "plain", 3)), List.of("1", "2", "3"));
        same(texts(receiveAll(client, "filters", "gold", 3)), List.of("2"));
        same(texts(receiveAll(client, "filters", "blue", 3)), List.of("1"));
    }

    static void rulesAreListedRemovedAndAdded() {
        ServiceBusClientBuilder client = client();
        try (ServiceBusRuleManagerClient rules =
                 client.ruleManager().topicName("rules").subscriptionName("gold").buildClient()) {
            RuleProperties gold = rules.listRules().iterator().next();
            same(gold.getName(), "gold");
            same(((SqlRuleFilter) gold.getFilter()).getSqlExpression(),
                "tier = 'gold' AND amount > 10");
            rules.deleteRule("gold");
            CorrelationRuleFilter green = new CorrelationRuleFilter().setLabel("green");
            green.getProperties().put("tier", "any");
            rules.createRule("greens", new CreateRuleOptions(green));
            rules.createRule("blacks",
                new CreateRuleOptions(new SqlRuleFilter("sys.Label = 'black'"))
                    .setAction(new SqlRuleAction("SET tier = 'none'")));
            Map<String, RuleProperties> all = new ConcurrentHashMap<>();
            rules.listRules().forEach(rule -> all.put(rule.getName(), rule));
            same(((CorrelationRuleFilter) all.get("greens").getFilter()).getLabel(), "green");
            same(
                ((CorrelationRuleFilter) all.get("greens").getFilter()).getProperties().get("tier"),
                "any");
            same(((SqlRuleAction) all.get("blacks").getAction()).getSqlExpression(),
                "SET tier = 'none'");
        }
        sendToTopic(client, "rules", notice("a", "1", "black", "gold", 50),
            notice("a", "2", "green", "gold", 5), notice("a", "3", "green", "any", 5));
        List<ServiceBusReceivedMessage> received = receiveAll(client, "rules", "gold", 3);
        same(texts(received), List.of("1", "3"));
        same(received.get(0).getApplicationProperties().get("tier"), "none");
    }

    static void refusals() {
        String queue = take("s");
        String plain = take("p");
        ServiceBusClientBuilder client = client();
        failsWith(AmqpErrorCondition.NOT_FOUND, () -> accept(client, "nosuch", "a"));
        failsSaying("does not require sessions", () -> accept(client, plain, "a"));
        failsSaying(
            "requires sessions", () -> receive(messages(client, queue).buildClient(), 1, SOON));
        failsSaying("SessionId was not set", () -> send(client, queue, new ServiceBusMessage("x")));
        try (ServiceBusSenderClient sender = client.sender().queueName(queue).buildClient()) {
            failsSaying("transactions are not supported", sender::createTransaction);
        }
    }

    static void aWrongKeyIsRefused() {
        ServiceBusClientBuilder wrong = client(CONNECTION.replace("SAS_KEY_VALUE", "WRONG"), SOON);
        failsWith(ServiceBusFailureReason.UNAUTHORIZED, () -> send(wrong, take("s"), of("a", "x")));
    }

    static void twentyReceiversAtOnceEachWithASessionOfItsOwn() throws Exception {
        String queue = take("s");
        ServiceBusClientBuilder client = client();
        ServiceBusMessage[] messages = new ServiceBusMessage[20];
        for (int i = 0; i < messages.length; ++i) {
            messages[i] = of("session-" + i, String.valueOf(i));
        }
        send(client, queue, messages);
        ServiceBusSessionReceiverClient acceptor = sessions(client, queue).buildClient();
        Map<String, Boolean> seen = new ConcurrentHashMap<>();
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        Thread[] threads = new Thread[messages.length];
        for (int i = 0; i < threads.length; ++i) {
            threads[i] = new Thread(() -> {
                try (ServiceBusReceiverClient receiver = acceptor.acceptNextSession()) {
                    ServiceBusReceivedMessage message = one(receiver);
                    same(receiver.getSessionId(), "session-" + text(message));
                    receiver.complete(message);
                    seen.put(receiver.getSessionId(), true);
                } catch (Throwable failure) {
                    failures.add(failure);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (!failures.isEmpty()) {
            throw new AssertionError(failures.size() + " failed", failures.peek());
        }
        same(seen.size(), messages.length);
    }

    // The client's trace goes on in a sessionq handler (trace_relay), and from there back to it.
    static void aTraceOfTheClientGoesThroughAHandlerOfSessionqAndBack() throws Exception {
        String from = take("s");
        String to = take("s");
        ServiceBusClientBuilder client = client().clientOptions(Traces.clientOptions());
        Process relay = new ProcessBuilder(System.getenv("SESSIONQ_TRACE_RELAY"), from, to)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
        same(relay.inputReader().readLine(), "ready");
        send(client, from, of("a", "one"));
        ServiceBusReceivedMessage message;
        try (ServiceBusReceiverClient receiver = accept(client, to, "a")) {
            message = one(receiver);
            receiver.complete(message);
        }
        relay.getOutputStream().close();
        check(relay.waitFor(20, TimeUnit.SECONDS), "trace_relay does not end");
        same(relay.exitValue(), 0);
        JsonNode seen = new ObjectMapper().readTree(text(message));
        same(seen.get("body").asText(), "one");
        String sent = seen.get("sent").asText();
        check(sent.matches("00-" + Traces.TRACE_ID + "-0{8}[0-9a-f]{8}-01"), "sent " + sent);
        String handler = seen.get("handler").asText();
        same(handler.substring(3, 35), Traces.TRACE_ID);
        check(!handler.equals(sent), "the handler has no span of its own");
        Map<String, Object> properties = message.getApplicationProperties();
        String traceparent = properties.get("traceparent").toString();
        same(traceparent.substring(3, 35), Traces.TRACE_ID);
        check(!traceparent.equals(handler), "the send has no span of its own");
        same(properties.get("Diagnostic-Id"), traceparent);
        same(properties.get("tracestate"), "a=1");
        check(Traces.FOUND.contains(traceparent + " a=1"), "found " + Traces.FOUND);
    }

    static void sleep(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    public static void main(String[] arguments) throws Exception {
        runCases(Cases.class, arguments, 8, DEADLINE);
    }
}
