// SPDX-License-Identifier: MIT
import com.microsoft.azure.servicebus.IMessage;
import com.microsoft.azure.servicebus.IMessageSession;
import com.microsoft.azure.servicebus.primitives.ConnectionStringBuilder;
import com.microsoft.azure.servicebus.primitives.MessagingFactory;
import com.microsoft.azure.servicebus.primitives.TransportType;
import java.util.List;

/**
 * The client over the transport SESSIONQ_TRANSPORT: amqp, amqps, ws or wss. It sends a message into
 * a session of the queue of that name, receives it and completes it.
 */
public final class Transports extends Support {
    static final String TRANSPORT = System.getenv("SESSIONQ_TRANSPORT");

    static void connect() throws Exception {
        ConnectionStringBuilder place = Cases.place(TRANSPORT);
        if (TRANSPORT.startsWith("ws")) {
            place.setTransportType(TransportType.AMQP_WEB_SOCKETS);
        }
        MessagingFactory connection = MessagingFactory.createFromConnectionStringBuilder(place);
        Cases.sender(connection, TRANSPORT).send(Cases.of("a", "over " + TRANSPORT));
        IMessageSession session = Cases.accept(connection, TRANSPORT, "a");
        IMessage message = session.receive(Cases.SOON);
        same(Cases.text(message), "over " + TRANSPORT);
        same(message.getSessionId(), "a");
        session.complete(message.getLockToken());
        same(Cases.left(session), List.of());
        connection.close();
        System.out.println("connected: " + TRANSPORT);
    }

    public static void main(String[] arguments) throws Exception {
        Ways.open();
        runCases(Transports.class, arguments, 1, 50_000);
    }
}
