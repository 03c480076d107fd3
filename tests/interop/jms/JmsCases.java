// SPDX-License-Identifier: MIT
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.qpid.jms.JmsConnectionFactory;

/**
 * Qpid JMS, which knows nothing of Service Bus, against the broker in SESSIONQ_CONNECTION. Every
 * case has a queue of its own.
 */
public final class JmsCases extends JmsSupport {
    static final long DEADLINE = 90_000; // milliseconds, of a case
    static final long SOON = 20_000;
    static final long A_MOMENT = 1_000;

    // What a closed consumer has prefetched stays locked, so most cases fetch one by one.
    static Connection connect() throws JMSException {
        return connect(0);
    }

    static Connection connect(int prefetch) throws JMSException {
        String scheme = System.getenv("SESSIONQ_CA") == null ? "amqp" : "amqps";
        String place = field("Endpoint").replace("sb://", "").replace("/", "");
        JmsConnectionFactory factory = new JmsConnectionFactory(scheme + "://" + place
            + "?amqp.saslMechanisms=PLAIN&jms.requestTimeout=" + SOON
            + "&jms.prefetchPolicy.all=" + prefetch);
        Connection connection =
            factory.createConnection(field("SharedAccessKeyName"), field("SharedAccessKey"));
        connection.start();
        return connection;
    }

    static void aBrowserSeesEveryMessageAndConsumesNone() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(take("p"));
            same(browse(session, queue), Collections.emptyList());
            send(session, queue, "one", "two", "three");
            List<String> all = Arrays.asList("one", "two", "three");
            same(browse(session, queue), all);
            same(browse(session, queue), all);
            MessageConsumer consumer = session.createConsumer(queue);
            for (String text : all) {
                same(text(consumer.receive(SOON)), text);
            }
            same(consumer.receive(A_MOMENT), null);
            same(browse(session, queue), Collections.emptyList());
        }
    }

    static void aMessageKeepsItsHeadersAndProperties() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(take("p"));
            TextMessage sent = session.createTextMessage("body");
            sent.setJMSCorrelationID("correlation");
            sent.setJMSType("type");
            sent.setStringProperty("JMSXGroupID", "group");
            sent.setLongProperty("number", 1L << 40);
            sent.setBooleanProperty("yes", true);
            session.createProducer(queue).send(sent);
            Message got = session.createConsumer(queue).receive(SOON);
            same(got.getBody(String.class), "body");
            same(got.getJMSMessageID(), sent.getJMSMessageID());
            same(got.getJMSCorrelationID(), "correlation");
            same(got.getJMSType(), "type");
            same(got.getStringProperty("JMSXGroupID"), "group");
            same(got.getLongProperty("number"), 1L << 40);
            same(got.getBooleanProperty("yes"), true);
            same(got.getJMSRedelivered(), false);
        }
    }

    static void aSelectorIsRefusedByName() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(take("p"));
            fails("apache.org:selector-filter:string",
                () -> session.createConsumer(queue, "colour = 'red'"));
            send(session, queue, "one"); // the session goes on
            same(browse(session, queue), Arrays.asList("one"));
        }
    }

    static void aTransactionIsRefusedByName() throws Exception {
        try (Connection connection = connect()) {
            fails("transactions are not supported", () -> connection.createSession(true, 0));
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            send(session, session.createQueue(take("p")), "one"); // the connection goes on
        }
    }

    static void aMessageThatIsTooLargeIsRefused() throws Exception {
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue(take("p"));
            fails("max-message-size", () -> send(session, queue, "x".repeat((1 << 20) + 1)));
            send(session, queue, "x".repeat(1_000_000)); // of many frames
            same(browse(session, queue).get(0).length(), 1_000_000);
        }
    }

    static void whatIsNotAcknowledgedComesAgain() throws Exception {
        String name = take("shortp");
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
            Queue queue = session.createQueue(name);
            send(session, queue, "one", "two");
            MessageConsumer consumer = session.createConsumer(queue);
            consumer.receive(SOON).acknowledge();
            same(text(consumer.receive(SOON)), "two");
        }
        try (Connection connection = connect()) {
            Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            MessageConsumer consumer = session.createConsumer(session.createQueue(name));
            same(text(consumer.receive(SOON)), "two");
            same(consumer.receive(A_MOMENT), null);
        }
    }

    static void aListenerGetsAThousandMessagesInOrder() throws Exception {
        try (Connection connection = connect(100)) {
            Session sending = connection.createSession(Session.AUTO_ACKNOWLEDGE);
            Queue queue = sending.createQueue(take("p"));
            String[] texts = new String[1000];
            Arrays.setAll(texts, Integer::toString);
            send(sending, queue, texts);
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
            left.await(3 * SOON, TimeUnit.MILLISECONDS);
            same(got, Arrays.asList(texts));
        }
    }

    public static void main(String[] arguments) throws Exception {
        runCases(JmsCases.class, arguments, 1, DEADLINE);
    }
}
