// SPDX-License-Identifier: MIT
import com.azure.servicebus.jms.ServiceBusJmsConnectionFactory;
import com.azure.servicebus.jms.ServiceBusJmsConnectionFactorySettings;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Microsoft's JMS client for Service Bus against the broker in SESSIONQ_CONNECTION. Every case has
 * entities of its own. The client speaks TLS only.
 */
public final class Cases extends JmsSupport {
    static final long DEADLINE = 30_000; // milliseconds, of a case
    static final long SOON = 10_000;
    static final long A_MOMENT = 1_000;
    static final int ACCEPTED = 1; // JMS_AMQP_ACK_TYPE
    static final int REJECTED = 2;
    static final int RELEASED = 3;
    static final int FAILED = 4;

    // A connection string loses its port. The constructor with a host keeps it.
    static Connection connect(String key, int prefetch) throws JMSException {
        Map<String, String> options = new HashMap<>();
        options.put("jms.requestTimeout", Long.toString(SOON));
        options.put("jms.prefetchPolicy.all", Integer.toString(prefetch));
        ServiceBusJmsConnectionFactory factory = new ServiceBusJmsConnectionFactory(
            field("SharedAccessKeyName"), key,
            field("Endpoint").replace("sb://", "").replace("/", ""),
            new ServiceBusJmsConnectionFactorySettings(options));
        Connection connection = factory.createConnection();
        connection.start();
        return connection;
    }

    // Most cases fetch one by one, so no other message is locked meanwhile.
    static Connection connect() throws JMSException {
        return connect(field("SharedAccessKey"), 0);
    }

    static void fails(String text, Body body) throws Exception {
        long began = System.nanoTime();
        JmsSupport.fails(text, body);
        long took = (System.nanoTime() - began) / 1_000_000;
        if (took > SOON / 2) {
            throw new AssertionError("'" + text + "' took " + took + " ms");
        }
    }

    // A text member of an object of JSON, wherever it is.
    static String member(String json, String name) {
        Matcher found = Pattern.compile('"' + name + "\": ?\"([^\"]*)\"").matcher(json);
        if (!found.find()) {
            throw new AssertionError("no " + name + " in " + json);
        }
        return found.group(1);
    }

    static void settle(Message message, int outcome) throws JMSException {
        message.setIntProperty("JMS_AMQP_ACK_TYPE", outcome);
        message.acknowledge();
    }

    // Starts our command line.
    static Process sessionq(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(Arrays.asList(System.getenv("SESSIONQ_COMMAND"),
            "--ca-file", System.getenv("SESSIONQ_CA"), "--json"));
        command.addAll(Arrays.asList(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    static void textBytesAndMapsArriveWithTheirProperties() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(take("p"));
            MessageProducer producer = session.createProducer(queue);
            TextMessage sent = session.createTextMessage("grüße");
            sent.setJMSCorrelationID("correlation");
            sent.setJMSType("type");
            sent.setJMSReplyTo(session.createQueue("answers"));
            sent.setStringProperty("JMSXGroupID", "group");
            sent.setLongProperty("number", 1L << 40);
            sent.setDoubleProperty("half", 0.5);
            sent.setBooleanProperty("yes", true);
            producer.setTimeToLive(600_000);
            producer.setPriority(7);
            producer.send(sent);
            byte[] bytes = {0, -1, 127, -128};
            BytesMessage second = session.createBytesMessage();
            second.writeBytes(bytes);
            producer.send(second);
            MapMessage third = session.createMapMessage();
            third.setString("name", "ada");
            third.setInt("age", 36);
            producer.send(third);
            MessageConsumer consumer = session.createConsumer(queue);
            Message got = consumer.receive(SOON);
            same(text(got), "grüße");
            same(got.getJMSMessageID(), sent.getJMSMessageID());
            same(got.getJMSCorrelationID(), "correlation");
            same(got.getJMSType(), "type");
            same(((Queue) got.getJMSReplyTo()).getQueueName(), "answers");
            same(got.getJMSExpiration(), sent.getJMSExpiration());
            same(got.getJMSPriority(), 7);
            same(got.getStringProperty("JMSXGroupID"), "group");
            same(got.getLongProperty("number"), 1L << 40);
            same(got.getDoubleProperty("half"), 0.5);
            same(got.getBooleanProperty("yes"), true);
            same(got.getJMSRedelivered(), false);
            same(got.getIntProperty("JMSXDeliveryCount"), 1);
            same(Arrays.toString(consumer.receive(SOON).getBody(byte[].class)),
                Arrays.toString(bytes));
            MapMessage map = (MapMessage) consumer.receive(SOON);
            same(map.getString("name"), "ada");
            same(map.getInt("age"), 36);
        }
    }

    static void acknowledgeCompletesAndRecoverDeliversAgain() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
            Queue queue = session.createQueue(take("p"));
            send(session, queue, "one", "two");
            MessageConsumer consumer = session.createConsumer(queue);
            same(text(consumer.receive(SOON)), "one");
            session.recover();
            Message again = consumer.receive(SOON);
            same(text(again), "one");
            same(again.getJMSRedelivered(), true);
            same(again.getIntProperty("JMSXDeliveryCount"), 2);
            again.acknowledge();
            same(browse(session, queue), Arrays.asList("two"));
        }
    }

    static void eachOutcomeHasItsEffect() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
            String name = take("p");
            Queue queue = session.createQueue(name);
            send(session, queue, "one", "two");
            MessageConsumer consumer = session.createConsumer(queue);
            Message message = consumer.receive(SOON);
            same(message.getIntProperty("JMSXDeliveryCount"), 1);
            settle(message, FAILED);
            message = consumer.receive(SOON);
            same(text(message), "one");
            same(message.getIntProperty("JMSXDeliveryCount"), 2);
            settle(message, RELEASED);
            message = consumer.receive(SOON);
            same(text(message), "one");
            same(message.getIntProperty("JMSXDeliveryCount"), 2);
            settle(message, REJECTED);
            message = consumer.receive(SOON);
            same(text(message), "two");
            settle(message, ACCEPTED);
            same(browse(session, queue), Collections.emptyList());
            Queue dead = session.createQueue(name + "/$DeadLetterQueue");
            message = session.createConsumer(dead).receive(SOON);
            same(text(message), "one");
            message.acknowledge();
        }
    }

    static void aMessageThatIsNotAcknowledgedReturnsAndIsCounted() throws Exception {
        String name = take("shortp");
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
            Queue queue = session.createQueue(name);
            send(session, queue, "one");
            same(text(session.createConsumer(queue).receive(SOON)), "one");
        }
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(name);
            Message message = session.createConsumer(queue).receive(SOON);
            same(text(message), "one");
            same(message.getIntProperty("JMSXDeliveryCount"), 2);
        }
    }

    static void aGroupIsASessionOfOurProcessor() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            String name = take("s");
            MessageProducer producer = session.createProducer(session.createQueue(name));
            for (String text : Arrays.asList("one", "two")) {
                for (String group : Arrays.asList("ada", "ben")) {
                    TextMessage message = session.createTextMessage(group + " " + text);
                    message.setStringProperty("JMSXGroupID", group);
                    message.setStringProperty("colour", "red");
                    producer.send(message);
                }
            }
            fails("The SessionId was not set",
                () -> producer.send(session.createTextMessage("of no session")));
            fails("an entity that requires sessions",
                () -> session.createConsumer(session.createQueue(name)).receive(A_MOMENT));
            Process processor = sessionq("consume", name);
            List<String> ofAda = new ArrayList<>();
            List<String> ofBen = new ArrayList<>();
            BufferedReader lines = processor.inputReader(StandardCharsets.UTF_8);
            for (int i = 0; i < 4; ++i) {
                String line = lines.readLine();
                same(member(line, "colour"), "red");
                (member(line, "session").equals("ada") ? ofAda : ofBen).add(member(line, "body"));
            }
            same(ofAda, Arrays.asList("ada one", "ada two"));
            same(ofBen, Arrays.asList("ben one", "ben two"));
            processor.destroy(); // SIGTERM: it stops and settles
            same(processor.waitFor(), 0);
            same(browse(session, session.createQueue(name)), Collections.emptyList());
        }
    }

    static void aMessageOfOursKeepsItsSessionAndProperties() throws Exception {
        String name = take("p");
        Process sender = sessionq("send", name, "--session", "ada", "--subject", "greeting",
            "--property", "colour=red", "--property", "size:int=3", "hello");
        same(sender.waitFor(), 0);
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Message message = session.createConsumer(session.createQueue(name)).receive(SOON);
            same(new String(message.getBody(byte[].class), StandardCharsets.UTF_8), "hello");
            same(message.getStringProperty("JMSXGroupID"), "ada");
            same(message.getJMSType(), "greeting");
            same(message.getStringProperty("colour"), "red");
            same(message.getLongProperty("size"), 3L); // our int has 64 bits
        }
    }

    static void aTopicIsConsumedThroughASubscription() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            MessageProducer producer = session.createProducer(session.createTopic("t0"));
            for (String color : Arrays.asList("blue", "red")) {
                TextMessage message = session.createTextMessage(color);
                message.setJMSType("order");
                message.setStringProperty("color", color);
                message.setIntProperty("size", 21);
                message.setStringProperty("JMSXGroupID", "ada");
                producer.send(message);
            }
            Queue plain = session.createQueue("t0/subscriptions/plain");
            MessageConsumer consumer = session.createConsumer(plain);
            same(text(consumer.receive(SOON)), "blue");
            same(text(consumer.receive(SOON)), "red");
            Queue red = session.createQueue("t0/Subscriptions/red");
            Message message = session.createConsumer(red).receive(SOON);
            same(text(message), "red");
            same(message.getLongProperty("size"), 42L); // the rule's action doubles it
            fails("t0", () -> session.createConsumer(session.createTopic("t0")));
        }
    }

    static void aBrowserSeesEveryMessageAndConsumesNone() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(take("p"));
            List<String> all = Arrays.asList("one", "two", "three");
            send(session, queue, "one", "two", "three");
            same(browse(session, queue), all);
            same(browse(session, queue), all);
            MessageConsumer consumer = session.createConsumer(queue);
            for (String text : all) {
                Message message = consumer.receive(SOON);
                same(text(message), text);
                same(message.getIntProperty("JMSXDeliveryCount"), 1);
            }
            same(browse(session, queue), Collections.emptyList());
        }
    }

    static void aDelayedMessageComesAfterItsDelay() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(take("p"));
            MessageProducer producer = session.createProducer(queue);
            producer.setDeliveryDelay(3_000);
            TextMessage late = session.createTextMessage("late");
            producer.send(late);
            producer.setDeliveryDelay(0);
            producer.send(session.createTextMessage("early"));
            same(browse(session, queue), Arrays.asList("early"));
            MessageConsumer consumer = session.createConsumer(queue);
            same(text(consumer.receive(SOON)), "early");
            Message message = consumer.receive(SOON);
            same(text(message), "late");
            long ahead = late.getJMSDeliveryTime() - System.currentTimeMillis();
            if (ahead > 50) {
                throw new AssertionError("came " + ahead + " ms before its time");
            }
            same(message.getJMSDeliveryTime(), late.getJMSDeliveryTime());
        }
    }

    static void whatIsNotSupportedIsRefusedByName() throws Exception {
        try (Connection connection = connect()) {
            fails("transactions are not supported", () -> connection.createSession(true, 0));
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(take("p"));
            fails("apache.org:selector-filter:string",
                () -> session.createConsumer(queue, "colour = 'red'"));
            fails("dynamic nodes are not supported", session::createTemporaryQueue);
            send(session, queue, "one"); // the session goes on
            same(browse(session, queue), Arrays.asList("one"));
        }
    }

    static void aMissingQueueIsToldAtOnce() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue("absent");
            fails("absent", () -> session.createProducer(queue));
            fails("absent", () -> session.createConsumer(queue));
        }
    }

    static void aWrongKeyIsToldAtOnce() throws Exception {
        fails("SASL", () -> connect("WRONG", 0).close());
    }

    static void aThousandMessagesComeOnceAndInOrder() throws Exception {
        try (Connection connection = connect(field("SharedAccessKey"), 100)) {
            Session sending = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = sending.createQueue(take("p"));
            String[] texts = new String[1000];
            Arrays.setAll(texts, Integer::toString);
            Session receiving = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            List<String> got = Collections.synchronizedList(new ArrayList<>());
            CountDownLatch left = new CountDownLatch(texts.length);
            receiving.createConsumer(queue).setMessageListener(message -> {
                try {
                    got.add(text(message));
                } catch (JMSException failure) {
                    got.add(failure.toString());
                }
                left.countDown();
            });
            send(sending, queue, texts);
            left.await(2 * SOON, TimeUnit.MILLISECONDS);
            same(got, Arrays.asList(texts));
            same(browse(sending, queue), Collections.emptyList());
        }
    }

    public static void main(String[] arguments) throws Exception {
        runCases(Cases.class, arguments, 1, DEADLINE);
    }
}
