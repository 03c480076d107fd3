// SPDX-License-Identifier: MIT
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The ways to the broker. This client takes no port: it connects to 5671, or to 443 over
 * WebSockets. Here localhost is an address of this process alone, whose port 5671 leads to the
 * broker, and WebSockets go through an HTTP proxy, as the client supports it.
 */
final class Ways {
    static final AtomicInteger PROXIED = new AtomicInteger(); // connections of WebSockets

    private Ways() {
    }

    /** Must be called before anything else looks up a host. */
    static void open() throws IOException {
        long process = ProcessHandle.current().pid();
        String here = "127." + (100 + process % 100) + "." + process / 100 % 250 + ".1";
        Path hosts = Files.createTempFile("sessionq-hosts", null);
        hosts.toFile().deleteOnExit();
        Files.writeString(hosts, here + " localhost\n");
        System.setProperty("jdk.net.hosts.file", hosts.toString());
        int tls = Integer.parseInt(System.getenv("SESSIONQ_TLS_PORT"));
        String webSocket = System.getenv("SESSIONQ_WEB_SOCKET_CONNECTION");
        int wss = Integer.parseInt(webSocket.replaceAll(".*localhost:([0-9]+);.*", "$1"));
        listen(here, 5671, client -> relay(client, tls));
        int proxy = listen(here, 0, client -> {
            InputStream input = client.getInputStream();
            String wanted = head(input);
            if (!wanted.startsWith("CONNECT localhost:443")) {
                throw new IOException("the proxy was asked to " + wanted);
            }
            PROXIED.incrementAndGet();
            client.getOutputStream().write(
                "HTTP/1.1 200 Connection established\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            relay(client, wss);
        });
        ProxySelector.setDefault(new ProxySelector() {
            @Override public List<Proxy> select(URI uri) {
                return List.of(
                    new Proxy(Proxy.Type.HTTP, InetSocketAddress.createUnresolved(here, proxy)));
            }

            @Override
            public void connectFailed(URI uri, SocketAddress address, IOException failure) {
                System.out.println("no way through the proxy: " + failure);
            }
        });
    }

    private interface Service {
        void serve(Socket client) throws IOException;
    }

    private static int listen(String address, int port, Service service) throws IOException {
        ServerSocket server = new ServerSocket(port, 50, InetAddress.getByName(address));
        inBackground(() -> {
            while (true) {
                Socket client = server.accept();
                inBackground(() -> service.serve(client));
            }
        });
        return server.getLocalPort();
    }

    // The lines of a request up to the empty one, and not a byte more.
    private static String head(InputStream input) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = input.read();
            if (next < 0) {
                throw new IOException("the request ends early: " + head);
            }
            head.append((char) next);
        }
        return head.toString();
    }

    private static void relay(Socket client, int port) throws IOException {
        Socket broker = new Socket("127.0.0.1", port);
        inBackground(() -> pass(broker, client));
        pass(client, broker);
    }

    private static void pass(Socket from, Socket to) throws IOException {
        try (from; to) {
            from.getInputStream().transferTo(to.getOutputStream());
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void inBackground(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException ended) {
                // one of the two sides has closed its connection
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
