// SPDX-License-Identifier: MIT
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.QueueBrowser;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;

/** What the suites with a JMS client share. */
class JmsSupport extends Support {
    /** Checks that a call throws a JMSException whose message contains `text`. */
    static void fails(String text, Body body) throws Exception {
        try {
            body.run();
        } catch (JMSException failure) {
            if (!String.valueOf(failure.getMessage()).contains(text)) {
                throw new AssertionError("another failure than '" + text + "'", failure);
            }
            return;
        }
        throw new AssertionError("no failure: '" + text + "'");
    }

    static void send(Session session, Queue queue, String... texts) throws JMSException {
        try (MessageProducer producer = session.createProducer(queue)) {
            for (String text : texts) {
                producer.send(session.createTextMessage(text));
            }
        }
    }

    static String text(Message message) throws JMSException {
        return message == null ? null : ((TextMessage) message).getText();
    }

    static List<String> browse(Session session, Queue queue) throws JMSException {
        List<String> texts = new ArrayList<>();
        try (QueueBrowser browser = session.createBrowser(queue)) {
            for (Enumeration<?> each = browser.getEnumeration(); each.hasMoreElements();) {
                texts.add(text((Message) each.nextElement()));
            }
        }
        return texts;
    }
}
