// SPDX-License-Identifier: MIT
import jakarta.jms.Connection;
import jakarta.jms.Session;
import java.util.concurrent.CountDownLatch;
import org.apache.qpid.jms.JmsConnectionFactory;

/**
 * Qpid JMS: one consumer with a listener, which acknowledges each message. JmsReceiver PORT USER
 * PASSWORD QUEUE MESSAGES CREDIT
 */
public class JmsReceiver {
    public static void main(String[] arguments) throws Exception {
        long messages = Long.parseLong(arguments[4]);
        String url = "amqp://127.0.0.1:" + arguments[0] + "?jms.prefetchPolicy.all=" + arguments[5];
        Connection connection =
            new JmsConnectionFactory(arguments[1], arguments[2], url).createConnection();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        CountDownLatch done = new CountDownLatch(1);
        long[] state = {0, 0};
        session.createConsumer(session.createQueue(arguments[3])).setMessageListener(message -> {
            if (state[0]++ == 0) {
                state[1] = System.nanoTime();
            }
            if (state[0] == messages) {
                done.countDown();
            }
        });
        connection.start();
        done.await();
        System.out.printf("%.6f%n", (System.nanoTime() - state[1]) / 1e9);
        connection.close();
    }
}
