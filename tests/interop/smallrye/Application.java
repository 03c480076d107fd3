// SPDX-License-Identifier: MIT
import io.smallrye.reactive.messaging.MutinyEmitter;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.eclipse.microprofile.reactive.messaging.Channel;
import org.eclipse.microprofile.reactive.messaging.Incoming;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.eclipse.microprofile.reactive.messaging.Outgoing;

/**
 * The channels. One that receives is named after its queue, one that sends after its queue with
 * "to-" before it. A case settles the messages that arrive.
 */
@ApplicationScoped
public class Application {
    private final Map<String, BlockingQueue<Message<?>>> arrived = new ConcurrentHashMap<>();
    private final Map<String, MutinyEmitter<Object>> emitters = new TreeMap<>();

    /** For the container. */
    public Application() {
    }

    @Inject
    public Application(@Channel("to-p0") MutinyEmitter<Object> toP0,
        @Channel("to-p1") MutinyEmitter<Object> toP1, @Channel("to-p2") MutinyEmitter<Object> toP2,
        @Channel("to-p3") MutinyEmitter<Object> toP3, @Channel("to-p4") MutinyEmitter<Object> toP4,
        @Channel("to-p5") MutinyEmitter<Object> toP5, @Channel("to-p6") MutinyEmitter<Object> toP6,
        @Channel("to-s0") MutinyEmitter<Object> toS0) {
        emitters.put("p0", toP0);
        emitters.put("p1", toP1);
        emitters.put("p2", toP2);
        emitters.put("p3", toP3);
        emitters.put("p4", toP4);
        emitters.put("p5", toP5);
        emitters.put("p6", toP6);
        emitters.put("s0", toS0);
    }

    public MutinyEmitter<Object> to(String queue) {
        return emitters.get(queue);
    }

    /** Returns what happens to a message that a channel's receiver does not acknowledge. */
    static Map<String, String> strategies() {
        Map<String, String> strategies = new TreeMap<>();
        strategies.put("p0", "reject");
        strategies.put("p1", "modified-failed");
        strategies.put("p2", "modified-failed");
        strategies.put("p3", "reject");
        strategies.put("p4", "release");
        strategies.put("p5", "modified-failed-undeliverable-here");
        strategies.put("p6", "reject");
        strategies.put("p7", "reject");
        return strategies;
    }

    public BlockingQueue<Message<?>> arrivedFrom(String channel) {
        return arrived.computeIfAbsent(channel, any -> new LinkedBlockingQueue<>());
    }

    private CompletionStage<Void> arrive(String channel, Message<?> message) {
        arrivedFrom(channel).add(message);
        return CompletableFuture.completedFuture(null);
    }

    @Incoming("p0") public CompletionStage<Void> fromP0(Message<Object> message) {
        return arrive("p0", message);
    }

    @Incoming("p1") public CompletionStage<Void> fromP1(Message<Object> message) {
        return arrive("p1", message);
    }

    @Incoming("p2") public CompletionStage<Void> fromP2(Message<Object> message) {
        return arrive("p2", message);
    }

    @Incoming("p3") public CompletionStage<Void> fromP3(Message<Object> message) {
        return arrive("p3", message);
    }

    @Incoming("p4") public CompletionStage<Void> fromP4(Message<Object> message) {
        return arrive("p4", message);
    }

    @Incoming("p5") public CompletionStage<Void> fromP5(Message<Object> message) {
        return arrive("p5", message);
    }

    // The broker's word for the message that is sent settles the one that was received.
    @Incoming("p6") @Outgoing("to-p7") public String fromP6(String text) {
        return text + " and on";
    }

    @Incoming("p7") public CompletionStage<Void> fromP7(Message<Object> message) {
        return arrive("p7", message);
    }
}
