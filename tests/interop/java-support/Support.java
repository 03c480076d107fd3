// SPDX-License-Identifier: MIT
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** What the suites in Java share. A case is a static void method without parameters. */
class Support {
    private static final Map<String, AtomicInteger> TAKEN = new ConcurrentHashMap<>();

    interface Body {
        void run() throws Exception;
    }

    /** Returns the name of an entity that no other case uses. */
    static String take(String kind) {
        return kind + TAKEN.computeIfAbsent(kind, any -> new AtomicInteger()).getAndIncrement();
    }

    /** Returns a field of SESSIONQ_CONNECTION. */
    static String field(String name) {
        for (String part : System.getenv("SESSIONQ_CONNECTION").split(";")) {
            if (part.startsWith(name + "=")) {
                return part.substring(name.length() + 1);
            }
        }
        throw new IllegalStateException("SESSIONQ_CONNECTION has no " + name);
    }

    static void same(Object got, Object want) {
        if (got == null ? want != null : !got.equals(want)) {
            throw new AssertionError("got " + got + ", want " + want);
        }
    }

    /** Runs the cases of a class, or those named, and exits. A deadline is in milliseconds. */
    static void runCases(Class<?> suite, String[] named, int atOnce, long deadline)
        throws InterruptedException {
        List<String> wanted = Arrays.asList(named);
        AtomicInteger failed = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(atOnce);
        for (Method method : suite.getDeclaredMethods()) {
            boolean isCase = method.getParameterCount() == 0 && method.getReturnType() == void.class
                && !method.isSynthetic();
            if (isCase && (wanted.isEmpty() || wanted.contains(method.getName()))) {
                threads.execute(() -> failed.addAndGet(passes(method, deadline) ? 0 : 1));
            }
        }
        threads.shutdown();
        threads.awaitTermination(Long.MAX_VALUE, TimeUnit.MILLISECONDS);
        ProcessHandle.current().children().forEach(ProcessHandle::destroyForcibly);
        System.exit(failed.get() == 0 ? 0 : 1); // the clients' threads keep the process alive
    }

    private static boolean passes(Method method, long deadline) {
        long began = System.nanoTime();
        Throwable failure = failureOf(method, deadline);
        StringWriter report = new StringWriter();
        report.append(failure == null ? "passed: " : "failed: ").append(method.getName());
        report.append(" (" + (System.nanoTime() - began) / 1_000_000 + " ms)");
        if (failure != null) {
            failure.printStackTrace(new PrintWriter(report.append("\n"), true));
        }
        System.out.println(report);
        return failure == null;
    }

    // Runs a case on a thread of its own, which is left behind after the deadline.
    private static Throwable failureOf(Method method, long deadline) {
        FutureTask<Object> task = new FutureTask<>(() -> method.invoke(null));
        Thread thread = new Thread(task, method.getName());
        thread.setDaemon(true);
        thread.start();
        try {
            task.get(deadline, TimeUnit.MILLISECONDS);
            return null;
        } catch (ExecutionException thrown) {
            Throwable failure = thrown.getCause();
            return failure.getCause() != null ? failure.getCause() : failure;
        } catch (TimeoutException late) {
            AssertionError failure = new AssertionError("not done after " + deadline + " ms");
            failure.setStackTrace(thread.getStackTrace());
            return failure;
        } catch (InterruptedException interrupted) {
            return interrupted;
        }
    }
}
