// SPDX-License-Identifier: MIT
#include "client/processors/describe_endpoint.hpp"

#include <pthread.h>

#include <exception>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

#include "client/processors/socket_path.hpp"
#include "client/threads/thread_start.hpp"
#include "core/log.hpp"

namespace sessionq::client {
namespace {

/// For one visitor to read its document. The next one waits meanwhile.
constexpr Duration visit_patience = std::chrono::seconds{2};
/// Before the next accept if one failed: there may be no descriptors left.
constexpr Duration accept_pause = std::chrono::seconds{1};

} // namespace

/// The socket, and who is connected. On the endpoint's thread, once it runs.
class DescribeEndpoint::Visits {
public:
    Visits(const std::string& path, Document document, const core::Clock& clock)
        : document_{std::move(document)}, clock_{clock}, path_{path, acceptor_} {
        accept();
    }

    void run() { context_.run(); }
    void stop() { context_.stop(); } ///< Any thread.

private:
    using Protocol = asio::local::stream_protocol;

    void accept();
    void tell();
    void end_visit();
    void accept_later();

    Document document_;
    const core::Clock& clock_;
    asio::io_context context_{1};
    Protocol::acceptor acceptor_{context_};
    Protocol::socket visitor_{context_};
    asio::steady_timer timer_{context_}; ///< one visit, or the wait after a failed accept
    std::string text_{};                 ///< being sent
    SocketPath path_;                    ///< ends before the acceptor, so nobody finds it refused
};

void DescribeEndpoint::Visits::accept() {
    acceptor_.async_accept(visitor_, [this](const asio::error_code& failed) {
        if (failed) {
            core::log(LogLevel::warning, "processor",
                      "describe_socket took no connection: ", failed.message());
            accept_later();
            return;
        }
        tell();
    });
}

void DescribeEndpoint::Visits::tell() {
    try {
        text_ = document_();
    } catch (const std::exception& error) { // out of memory
        core::log(LogLevel::warning, "processor", "describe_socket has no answer: ", error.what());
        end_visit();
        return;
    }
    timer_.expires_at(clock_.now() + visit_patience);
    timer_.async_wait([this](const asio::error_code& cancelled) {
        if (!cancelled) {
            visitor_.cancel();
        }
    });
    asio::async_write(visitor_, asio::buffer(text_),
                      [this](const asio::error_code&, std::size_t) { end_visit(); });
}

void DescribeEndpoint::Visits::end_visit() {
    timer_.cancel();
    asio::error_code ignored; // it may have gone
    visitor_.close(ignored);
    accept();
}

void DescribeEndpoint::Visits::accept_later() {
    timer_.expires_at(clock_.now() + accept_pause);
    timer_.async_wait([this](const asio::error_code& cancelled) {
        if (!cancelled) {
            accept();
        }
    });
}

DescribeEndpoint::DescribeEndpoint(const std::string& path, Document document,
                                   const core::Clock& clock)
    : visits_{std::make_unique<Visits>(path, std::move(document), clock)} {
    thread_ = start_threads("the thread of describe_socket could not be started", [this] {
        return std::jthread{[this] {
            pthread_setname_np(pthread_self(), "sessionq-tell");
            visits_->run();
        }};
    });
}

DescribeEndpoint::~DescribeEndpoint() {
    visits_->stop();
    thread_.join();
}

} // namespace sessionq::client
