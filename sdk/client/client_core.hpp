#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <sessionq/client.hpp>

#include "client/notifier.hpp"
#include "client/receive_thread.hpp"
#include "core/intrusive_list.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::client {

/// Makes the port to the broker for one receive thread. Called on that thread.
using EndpointFactory = std::function<ports::EndpointPtr(ReceiveThread&)>;

/// Something that lives on a station's thread and holds what belongs to its endpoint, a link say.
class Resident : public core::ListHook<Resident> {
public:
    /// The endpoint is about to go: lets go of what belongs to it and leaves the list, at once. On
    /// the thread.
    virtual void leave() noexcept = 0;

protected:
    ~Resident() = default;
};

using Residents = core::IntrusiveList<Resident, Resident>;

/// A receive thread and what lives on it.
struct Station {
    std::unique_ptr<ReceiveThread> thread;
    ports::EndpointPtr endpoint; ///< Made, used and destroyed on the thread.
    Residents residents;         ///< Touched on the thread only; gone before the endpoint.
};

/// What a `Client` shares with everything made from it.
///
/// Whoever works with a station keeps the core alive from outside the receive threads: the last
/// reference must not go on one of them, because the destructor waits for them. What lives on a
/// loop therefore refers to the loop and the endpoint only.
class ClientCore {
public:
    /// Starts the threads and makes their endpoints. Throws what the factory throws.
    ClientCore(ClientOptions options, const EndpointFactory& make_endpoint);

    /// Has the residents leave and destroys the endpoint, on each thread, which ends every
    /// operation under way with `cancelled`; then ends the threads.
    ~ClientCore();
    ClientCore(const ClientCore&) = delete;
    ClientCore& operator=(const ClientCore&) = delete;

    [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
    [[nodiscard]] const core::Clock& clock() const noexcept { return core::system_clock(); }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept {
        return stations_.front().endpoint->capabilities();
    }

    [[nodiscard]] std::size_t station_count() const noexcept { return stations_.size(); }
    [[nodiscard]] Station& station(std::size_t index) noexcept { return stations_[index]; }

    /// Where user code runs that a receive thread causes: callbacks of stop tokens.
    [[nodiscard]] core::Executor& notifier() noexcept { return notifier_; }

    /// Each in turn. Thread-safe.
    [[nodiscard]] Station& next_station() noexcept;

private:
    void close() noexcept;

    const ClientOptions options_;
    Notifier notifier_; // outlives the threads, which post to it
    std::vector<Station> stations_;
    std::atomic<std::size_t> next_{0};
};

/// Runs `work` on the thread and waits until it has run; what it throws is thrown here. Not on a
/// receive thread.
void run_on(ReceiveThread& thread, const std::function<void()>& work);

} // namespace sessionq::client
