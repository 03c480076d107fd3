// SPDX-License-Identifier: MIT
#include "client/connecting/client_core.hpp"

#include <future>

#include "client/check.hpp"
#include "client/threads/thread_start.hpp"
#include "core/host_port.hpp"
#include "core/utf8.hpp"

namespace sessionq::detail::client {
namespace {

constexpr std::uint32_t max_receive_threads = 64;
constexpr Duration min_operation_timeout = std::chrono::milliseconds{1};
constexpr Duration max_operation_timeout = std::chrono::hours{24};
constexpr Duration max_receive_spin = std::chrono::milliseconds{1};
constexpr Duration min_connection_idle_timeout = std::chrono::seconds{4};
constexpr Duration max_connection_idle_timeout = std::chrono::hours{1};
constexpr Duration min_write_idle_timeout = std::chrono::seconds{1};

ClientOptions checked(ClientOptions options) {
    require_option(options.receive_threads >= 1 && options.receive_threads <= max_receive_threads,
                   "ClientOptions::receive_threads must be 1 to 64");
    require_option(options.operation_timeout >= min_operation_timeout &&
                       options.operation_timeout <= max_operation_timeout,
                   "ClientOptions::operation_timeout must be 1 ms to 24 h");
    require_option(options.receive_spin >= Duration::zero() &&
                       options.receive_spin <= max_receive_spin,
                   "ClientOptions::receive_spin must be 0 to 1 ms");
    require_option(options.connection_idle_timeout >= min_connection_idle_timeout &&
                       options.connection_idle_timeout <= max_connection_idle_timeout,
                   "ClientOptions::connection_idle_timeout must be 4 s to 1 h");
    require_option(options.connection_write_idle_timeout == Duration::zero() ||
                       (options.connection_write_idle_timeout >= min_write_idle_timeout &&
                        options.connection_write_idle_timeout <= max_connection_idle_timeout),
                   "ClientOptions::connection_write_idle_timeout must be 0 or 1 s to 1 h");
    require_option(core::is_utf8(options.client_id), "ClientOptions::client_id: is not UTF-8");
    require_option(options.reconnect_backoff.min > Duration::zero(),
                   "ClientOptions::reconnect_backoff.min must be over zero");
    require_option(options.reconnect_backoff.max >= options.reconnect_backoff.min,
                   "ClientOptions::reconnect_backoff.max must be at least min");
    if (options.proxy) {
        require_option(core::is_host(options.proxy->host),
                       "ClientOptions::proxy: host is empty or has a character that no host has");
        require_option(options.proxy->port != 0, "ClientOptions::proxy: port must be 1 to 65535");
        require_option(options.proxy->user.find(':') == std::string::npos,
                       "ClientOptions::proxy: user contains ':'");
        require_option(!options.proxy->user.empty() || options.proxy->password.empty(),
                       "ClientOptions::proxy: there is a password and no user");
    }
    return options;
}

} // namespace

ClientCore::ClientCore(ClientOptions options, const EndpointFactory& make_endpoint)
    : options_{checked(options)}, threads_(options.receive_threads) {
    try {
        for (EndpointThread& each : threads_) {
            each.thread = start_threads("cannot start a receive thread", [this] {
                return std::make_unique<ReceiveThread>(core::system_clock(), options_.receive_spin);
            });
            run_on(*each.thread, [&] { each.endpoint = make_endpoint(*each.thread, notifier_); });
        }
    } catch (...) {
        close();
        throw;
    }
}

ClientCore::~ClientCore() { close(); }

void ClientCore::begin_tracing(core::SpanBroker broker) {
    if (options_.tracer != nullptr) {
        broker.client_id = options_.client_id;
        tracing_ =
            std::make_shared<const core::Tracing>(options_.tracer, clock(), std::move(broker));
    }
}

Metrics ClientCore::metrics() const {
    core::MetricList all{core::common_attributes(capabilities().system(), options_.client_id)};
    for (const EndpointThread& each : threads_) {
        add_metrics(all, *each.meters, each.endpoint->connections());
    }
    return all.take();
}

EndpointThread& ClientCore::next_thread() noexcept {
    return threads_[next_.fetch_add(1, std::memory_order_relaxed) % threads_.size()];
}

void ClientCore::close() noexcept {
    for (EndpointThread& each : threads_) {
        if (each.endpoint != nullptr) {
            run_on(*each.thread, [&each] {
                each.receivers.end_all();
                each.tries.end_all();
            });
            run_on(*each.thread,
                   [&each] { each.endpoint.reset(); }); // after the tasks that `end_all` posted
        }
    }
    for (EndpointThread& each : threads_) {
        each.thread.reset();
    }
}

void run_on(ReceiveThread& thread, const std::function<void()>& work) {
    std::promise<void> ran;
    auto done = ran.get_future();
    thread.post([&work, ran = std::move(ran)]() mutable {
        try {
            work();
            ran.set_value();
        } catch (...) {
            ran.set_exception(std::current_exception());
        }
    });
    done.get();
}

} // namespace sessionq::detail::client
