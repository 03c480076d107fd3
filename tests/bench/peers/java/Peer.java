// SPDX-License-Identifier: MIT
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverClient;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Azure's Java client at the same work. Prints one line of JSON.
 *
 * <pre>
 * Peer steady QUEUE SESSIONS WARM MESSAGES     the client's own processor with SESSIONS sessions
 * Peer rolling QUEUE SLOTS WARM SESSIONS       SLOTS loops: accept the next session, receive and
 *                                              complete its one message, close
 * </pre>
 *
 * The first WARM messages or sessions are not timed; the virtual machine compiles during them.
 *
 * A prefetch of 100 was the fastest of 0, 100 and 1,000, and the default number of threads was
 * faster than a larger one. The processor leaves a session only after a wait, even with an idle
 * timeout of one millisecond. So rolling uses receivers with a thread per slot, which was about
 * thirty times as fast.
 */
public final class Peer {
    /** Counts work. The clock runs from the last warm-up item to the last item. */
    record Count(long warm, long all, AtomicLong done, AtomicLong began) {
        void one() {
            long now = done.incrementAndGet();
            if (now == warm) {
                began.set(System.nanoTime());
            } else if (now == all) {
                System.out.println(
                    "{\"seconds\": " + (System.nanoTime() - began.get()) / 1e9 + "}");
                Runtime.getRuntime().halt(0);
            }
        }
    }

    static ServiceBusClientBuilder client() {
        return new ServiceBusClientBuilder().connectionString(System.getenv("SESSIONQ_CONNECTION"));
    }

    static void fail(Throwable failure) {
        failure.printStackTrace();
        Runtime.getRuntime().halt(1);
    }

    static void steady(String queue, int sessions, Count count) {
        client()
            .sessionProcessor()
            .queueName(queue)
            .maxConcurrentSessions(sessions)
            .maxConcurrentCalls(1)
            .prefetchCount(100)
            .processMessage(context -> count.one())
            .processError(context -> fail(context.getException()))
            .buildProcessorClient()
            .start();
    }

    static void rolling(String queue, int slots, Count count) {
        ServiceBusSessionReceiverClient sessions =
            client().sessionReceiver().queueName(queue).buildClient();
        for (int i = 0; i < slots; ++i) {
            new Thread(() -> {
                try {
                    for (;;) {
                        try (ServiceBusReceiverClient receiver = sessions.acceptNextSession()) {
                            for (ServiceBusReceivedMessage message : receiver.receiveMessages(1)) {
                                receiver.complete(message);
                            }
                        }
                        count.one();
                    }
                } catch (Throwable failure) {
                    fail(failure);
                }
            }).start();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        String queue = arguments[1];
        int atOnce = Integer.parseInt(arguments[2]);
        long warm = Long.parseLong(arguments[3]);
        Count count = new Count(
            warm, warm + Long.parseLong(arguments[4]), new AtomicLong(), new AtomicLong());
        switch (arguments[0]) {
            case "steady" -> steady(queue, atOnce, count);
            case "rolling" -> rolling(queue, atOnce, count);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        Thread.currentThread().join(); // the counter ends the program
    }
}
