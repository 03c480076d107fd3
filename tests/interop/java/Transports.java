// SPDX-License-Identifier: MIT
import com.azure.core.amqp.AmqpTransportType;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import java.time.Duration;

/**
 * The client over the transport SESSIONQ_TRANSPORT: amqp, amqps, ws or wss. It sends a message into
 * a session of the queue of that name, receives it and completes it.
 */
public final class Transports extends Support {
    static final String TRANSPORT = System.getenv("SESSIONQ_TRANSPORT");

    static void connect() {
        ServiceBusClientBuilder client = Cases.client();
        if (TRANSPORT.startsWith("ws")) {
            client.transportType(AmqpTransportType.AMQP_WEB_SOCKETS);
        }
        try (ServiceBusSenderClient sender = client.sender().queueName(TRANSPORT).buildClient()) {
            sender.sendMessage(new ServiceBusMessage("over " + TRANSPORT).setSessionId("a"));
        }
        ServiceBusReceiverClient session = Cases.accept(client, TRANSPORT, "a");
        ServiceBusReceivedMessage message =
            session.receiveMessages(1, Duration.ofSeconds(5)).iterator().next();
        same(message.getBody().toString(), "over " + TRANSPORT);
        same(message.getSessionId(), "a");
        session.complete(message);
        same(session.peekMessage(), null);
        session.close();
        System.out.println("connected: " + TRANSPORT);
    }

    public static void main(String[] arguments) throws Exception {
        runCases(Transports.class, arguments, 1, 30_000);
    }
}
