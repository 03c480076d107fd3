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

namespace sessionq::detail::client {

/// Makes the endpoint of one receive thread. It is called on that thread. `notifier` runs the
/// application's callbacks, and outlives the endpoint.
using EndpointFactory = std::function<ports::EndpointPtr(ReceiveThread&, core::Executor& notifier)>;

/// One receive thread, with everything that a client has on it. A `ClientCore` has
/// `ClientOptions::receive_threads` objects of this type.
struct EndpointThread {
    std::unique_ptr<ReceiveThread> thread;
    ports::EndpointPtr endpoint; ///< Created, used and destroyed on the thread.
    ReceiverSet receivers;       ///< Used on the thread only. Emptied before the endpoint.
    WaitingTries tries;          ///< Used on the thread only. Emptied before the endpoint.
    std::unique_ptr<ClientMeters> meters{std::make_unique<ClientMeters>()};
};

/// Owns everything that a `Client` shares with its senders, receivers and processors: the options,
/// the receive threads, and the notifier. The client makes the core when it connects. Senders,
/// receivers and processors hold the core, too. The core ends with its last holder.
///
/// No object on a receive thread may be the last holder, because the destructor waits for the
/// threads. Such an object refers to the loop and the endpoint only. A caller that waits for an
/// operation holds the core.
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
    /// Sets the function that asks the broker for the backlog of an entity. Call it before anything
    /// is made from the client.
    void tell_backlog_by(TellBacklog tell) { tell_backlog_ = std::move(tell); }
    [[nodiscard]] std::optional<processor::Backlog> backlog(const std::string& entity) const {
        return tell_backlog_ ? tell_backlog_(entity) : std::nullopt;
    }

    /// Names the broker in spans, if there is a tracer. Call it before anything is made from the
    /// client.
    void begin_tracing(core::SpanBroker broker);
    [[nodiscard]] const core::TracingPtr& tracing() const noexcept { return tracing_; }

    [[nodiscard]] std::size_t thread_count() const noexcept { return threads_.size(); }
    [[nodiscard]] EndpointThread& thread(std::size_t index) noexcept { return threads_[index]; }

    [[nodiscard]] Metrics metrics() const;

    /// Returns the executor that runs the callbacks of stop tokens and of `ClientOptions`. These
    /// callbacks are user code, which must not run on a receive thread.
    [[nodiscard]] core::Executor& notifier() noexcept { return notifier_; }

    /// Returns another thread at each call, in turn, to spread the work. Thread-safe.
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

/// Runs `work` on the thread and waits for its end. Throws the exception of `work` to the caller.
/// Must not be called on a receive thread, because nothing may wait there.
void run_on(ReceiveThread& thread, const std::function<void()>& work);

} // namespace sessionq::detail::client
