// SPDX-License-Identifier: MIT
import com.azure.core.util.ClientOptions;
import com.azure.core.util.Context;
import com.azure.core.util.TracingOptions;
import com.azure.core.util.tracing.StartSpanOptions;
import com.azure.core.util.tracing.Tracer;
import com.azure.core.util.tracing.TracerProvider;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * What the client's own tracing calls, here with spans that count. The client finds it as a
 * service. It traces nothing without {@link #clientOptions()}, so other cases have no traces.
 */
public final class Traces implements TracerProvider {
    static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
    static final Queue<String> FOUND = new ConcurrentLinkedQueue<>(); // in messages, by the client
    private static final AtomicInteger SPANS = new AtomicInteger();

    private static final class Wanted extends TracingOptions {
    }

    static ClientOptions clientOptions() {
        return new ClientOptions().setTracingOptions(new Wanted());
    }

    @Override
    public Tracer createTracer(
        String library, String version, String namespace, TracingOptions options) {
        return new CountingTracer(options instanceof Wanted);
    }

    private static final class CountingTracer implements Tracer {
        private final boolean wanted;

        CountingTracer(boolean wanted) {
            this.wanted = wanted;
        }

        @Override
        public boolean isEnabled() {
            return wanted;
        }

        @Override
        public Context start(String name, Context context) {
            String id = String.format("%016x", SPANS.incrementAndGet());
            return context.addData(SPAN_CONTEXT_KEY, "00-" + TRACE_ID + "-" + id + "-01");
        }

        @Override
        public Context start(String name, StartSpanOptions options, Context context) {
            return start(name, context);
        }

        @Override
        public void injectContext(BiConsumer<String, String> setter, Context context) {
            setter.accept("traceparent", context.getData(SPAN_CONTEXT_KEY).get().toString());
            setter.accept("tracestate", "a=1");
        }

        @Override
        public Context extractContext(Function<String, String> getter) {
            String traceparent = getter.apply("traceparent");
            if (traceparent == null) {
                return Context.NONE;
            }
            FOUND.add(traceparent + " " + getter.apply("tracestate"));
            return new Context(SPAN_CONTEXT_KEY, traceparent);
        }

        @Override
        public void end(String error, Throwable thrown, Context context) {
        }

        @Override
        public void setAttribute(String name, String value, Context context) {
        }
    }
}
