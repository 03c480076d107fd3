import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverClient;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Azure's Java client at the same work. Prints one line of JSON.
 *
 * <pre>
 * Peer steady QUEUE SESSIONS WARM MESSAGES     the client's own processor with SESSIONS sessions; the first WARM messages are not timed
 * Peer rolling QUEUE SLOTS WARM SESSIONS       SLOTS loops: accept the next session, receive its one message, complete, close; the first WARM are not timed
 * </pre>
 *
 * The processor's prefetch of 100 was the fastest of 0, 100 and 1,000, and its own number of threads faster than a greater one. It leaves a session only after
 * having waited for more of it, also where it may wait a millisecond only: so sessions of one message are taken by receivers, on a thread for each slot, which was
 * some thirty times as fast. The virtual machine has compiled what it runs when the warming is over.
 */
public final class Peer {
    /** Of what is done; the clock runs from the last one to warm up to the last one. */
    record Count(long warm, long all, AtomicLong done, AtomicLong began) {
        void one() {
            long now = done.incrementAndGet();
            if (now == warm) {
                began.set(System.nanoTime());
            } else if (now == all) {
                System.out.println("{\"seconds\": " + (System.nanoTime() - began.get()) / 1e9 + "}");
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
        client().sessionProcessor().queueName(queue).maxConcurrentSessions(sessions).maxConcurrentCalls(1).prefetchCount(100)
            .processMessage(context -> count.one()).processError(context -> fail(context.getException())).buildProcessorClient().start();
    }

    static void rolling(String queue, int slots, Count count) {
        ServiceBusSessionReceiverClient sessions = client().sessionReceiver().queueName(queue).buildClient();
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
        Count count = new Count(warm, warm + Long.parseLong(arguments[4]), new AtomicLong(), new AtomicLong());
        switch (arguments[0]) {
            case "steady" -> steady(queue, atOnce, count);
            case "rolling" -> rolling(queue, atOnce, count);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        Thread.currentThread().join(); // to the end, which is the count's
    }
}
