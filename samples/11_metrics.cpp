// SPDX-License-Identifier: MIT
// Metrics for Prometheus: serves them over HTTP on localhost. With a port it serves until it is
// told to stop: `11_metrics 9464`, then `curl http://localhost:9464/metrics`. Without one it asks
// itself once, shows the answer and ends.

#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <latch>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/connect.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/read_until.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <sessionq/sessionq.hpp>

using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

/// Answers GET /metrics with the text that `render` returns, on a thread of its own. A service has
/// an HTTP server already and needs none of this.
class MetricsServer {
public:
    using Render = std::function<std::string()>;

    MetricsServer(std::uint16_t port, Render render)
        : acceptor_{io_, {asio::ip::address_v4::loopback(), port}}, render_{std::move(render)} {
        asio::co_spawn(io_, serve(), asio::detached);
        thread_ = std::thread{[this] { io_.run(); }};
    }
    ~MetricsServer() {
        io_.stop();
        thread_.join();
    }
    MetricsServer(const MetricsServer&) = delete;
    MetricsServer& operator=(const MetricsServer&) = delete;

    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

private:
    asio::awaitable<void> serve() {
        while (true) {
            asio::co_spawn(io_, answer(co_await acceptor_.async_accept(asio::use_awaitable)),
                           asio::detached); // a peer that goes away ends its own answer only
        }
    }

    asio::awaitable<void> answer(tcp::socket peer) {
        std::string request;
        co_await asio::async_read_until(peer, asio::dynamic_buffer(request, 8192), "\r\n\r\n",
                                        asio::use_awaitable);
        const bool is_known = request.starts_with("GET /metrics ");
        const std::string body = is_known ? render_() : "see /metrics\n";
        const std::string head =
            std::string{is_known ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 404 Not Found\r\n"} +
            "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\nConnection: close\r\n" +
            "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
        co_await asio::async_write(peer, asio::buffer(head + body), asio::use_awaitable);
    }

    asio::io_context io_;
    tcp::acceptor acceptor_;
    Render render_;
    std::thread thread_;
};

/// The answer that a scraper gets.
std::string scrape(std::uint16_t port) {
    asio::io_context io;
    tcp::socket server{io};
    server.connect({asio::ip::address_v4::loopback(), port});
    asio::write(server,
                asio::buffer(std::string{"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"}));
    std::string answer;
    asio::error_code end; // the server closes
    asio::read(server, asio::dynamic_buffer(answer), end);
    return answer;
}

} // namespace

int main(int argc, char** argv) {
    std::uint16_t port = 0; // any
    if (argc > 1) {
        const std::string_view text{argv[1]};
        if (std::from_chars(text.data(), text.data() + text.size(), port).ec != std::errc{}) {
            std::cerr << "usage: 11_metrics [PORT]\n";
            return 2;
        }
    }

    sessionq::LocalBroker broker;
    broker.create_queue("orders");
    const auto client = sessionq::Client::in_process(broker);
    sessionq::Sender sender{client, "orders"};
    for (int i = 0; i < 100; ++i) {
        sender.send(
            sessionq::Message::of("an order").in_session("customer " + std::to_string(i % 10)));
    }

    std::latch handled{100};
    sessionq::SessionProcessor orders{client, "orders"};
    orders.on_message([&handled](sessionq::MessageContext&) {
        std::this_thread::sleep_for(200us); // the work
        handled.count_down();
    });
    orders.start();

    MetricsServer server{port, [&] {
                             sessionq::Metrics all = orders.metrics();
                             all += client.metrics();
                             return sessionq::to_prometheus(all);
                         }};
    std::cout << "serves http://localhost:" << server.port() << "/metrics\n";
    if (argc > 1) {
        sessionq::wait_for_signal();
        orders.stop(10s);
        return 0;
    }

    handled.wait();
    orders.stop(10s);
    std::cout << scrape(server.port()) << '\n';
    // The numbers are at hand without any text, too.
    const sessionq::Metrics metrics = orders.metrics();
    const sessionq::Histogram handlers = metrics.histogram("messaging.process.duration");
    const auto slow =
        std::chrono::duration_cast<std::chrono::microseconds>(handlers.quantile(0.99));
    std::cout << handlers.count() << " handlers, 99 % took less than " << slow.count() << " us\n";
    const bool good =
        metrics.value("sessionq.message.ended", {{"sessionq.outcome", "completed"}}) == 100 &&
        handlers.min() >= 200us;
    return good ? 0 : 1;
}
