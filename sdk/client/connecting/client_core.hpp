// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <sessionq/client.hpp>

#include "client/connecting/client_meters.hpp"
#include "client/receiving/session_receiver_core.hpp"
#include "client/sending/retrying_send.hpp"
#include "client/threads/notifier.hpp"
#include "client/threads/receive_thread.hpp"
#include "core/tracing.hpp"
#include "ports/endpoint.hpp"
#include "processor/report/processor_metrics.hpp"

namespace sessionq::client {

/// Makes the endpoint of one receive thread. Called on that thread. `notifier` outlives the
/// endpoint and runs the application's callbacks.
using EndpointFactory = std::function<ports::EndpointPtr(ReceiveThread&, core::Executor& notifier)>;

/// A receive thread with its endpoint and receivers.
struct EndpointThread {
    std::unique_ptr<ReceiveThread> thread;
    ports::EndpointPtr endpoint; ///< Created, used and destroyed on the thread.
    ReceiverSet receivers;       ///< Used on the thread only; empty before the endpoint ends.
    WaitingTries tries;          ///< The same.
    std::unique_ptr<ClientMeters> meters{std::make_unique<ClientMeters>()};
};

/// The state that a `Client` shares with everything made from it.
///
/// No object on a receive thread may hold the last reference, because the destructor waits for the
/// threads. Such objects refer to the loop and the endpoint only. A waiting caller holds the core.
class ClientCore {
public:
    /// Starts the threads and makes their endpoints. Throws the factory's exceptions.
    ClientCore(ClientOptions options, const EndpointFactory& make_endpoint);

    /// Ends the receivers and the endpoint of each thread, on that thread. Operations under way end
    /// with `cancelled`. Then ends the threads.
    ~ClientCore();
    ClientCore(const ClientCore&) = delete;
    ClientCore& operator=(const ClientCore&) = delete;

    [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
    [[nodiscard]] const core::Clock& clock() const noexcept { return core::system_clock(); }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept {
        return threads_.front().endpoint->capabilities();
    }

    using TellBacklog = std::function<std::optional<processor::Backlog>(const std::string&)>;
    /// Sets the function by which the broker tells the backlog of an entity. Called before anything
    /// is made from the client.
    void tell_backlog_by(TellBacklog tell) { tell_backlog_ = std::move(tell); }
    [[nodiscard]] std::optional<processor::Backlog> backlog(const std::string& entity) const {
        return tell_backlog_ ? tell_backlog_(entity) : std::nullopt;
    }

    /// Names the broker in spans, if there is a tracer. Called before anything is made from the
    /// client.
    void begin_tracing(core::SpanBroker broker);
    [[nodiscard]] const core::TracingPtr& tracing() const noexcept { return tracing_; }

    [[nodiscard]] std::size_t thread_count() const noexcept { return threads_.size(); }
    [[nodiscard]] EndpointThread& thread(std::size_t index) noexcept { return threads_[index]; }

    [[nodiscard]] Metrics metrics() const;

    /// Runs callbacks of stop tokens and of `ClientOptions`, because user code must not run on a
    /// receive thread.
    [[nodiscard]] core::Executor& notifier() noexcept { return notifier_; }

    /// Returns each thread in turn. Thread-safe.
    [[nodiscard]] EndpointThread& next_thread() noexcept;

private:
    void close() noexcept;

    const ClientOptions options_;
    core::TracingPtr tracing_{};
    TellBacklog tell_backlog_{}; // null: the broker does not tell
    Notifier notifier_;          // outlives the threads, which post to it
    std::vector<EndpointThread> threads_;
    std::atomic<std::size_t> next_{0};
};

/// Runs `work` on the thread and waits for it. Throws its exception here. Not on a receive thread.
void run_on(ReceiveThread& thread, const std::function<void()>& work);

} // namespace sessionq::client
