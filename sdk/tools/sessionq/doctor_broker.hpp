// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/threads/receive_thread.hpp"
#include "tools/sessionq/doctor_connection.hpp"
#include "tools/sessionq/doctor_facts.hpp"
#include "tools/sessionq/doctor_place.hpp"

namespace sessionq::cli {

/// Asks a broker over one AMQP connection. Each question waits for at most `timeout`, and returns
/// the facts that it found.
class BrokerProbe {
public:
    /// The place outlives the probe. `targets`: those of its hosts that can be reached.
    BrokerProbe(const DoctorPlace& place, std::vector<amqp::Target> targets, Duration timeout);
    ~BrokerProbe();
    BrokerProbe(const BrokerProbe&) = delete;
    BrokerProbe& operator=(const BrokerProbe&) = delete;

    [[nodiscard]] OpenFacts open();
    /// Sends a token. An empty entity stands for the namespace.
    [[nodiscard]] ClaimFacts claim(const std::string& entity);
    /// Attaches to the entity to send or to receive, in the way of this kind of broker.
    [[nodiscard]] LinkFacts attach(const std::string& entity, bool sends);
    /// Locks a session and gives it back. Unset: the next one that has messages. Service Bus only.
    [[nodiscard]] LinkFacts accept(const std::string& entity,
                                   const std::optional<std::string>& session, Duration wait);
    /// A small request that needs no right. Service Bus only.
    [[nodiscard]] LinkFacts ask_small();

private:
    /// Runs `start` on the loop and waits for its answer.
    template <typename T>
    core::Result<T> ask(
        const std::function<void(DoctorConnection&, std::function<void(core::Result<T>)>)>& start,
        Duration within);
    LinkFacts attach(const LinkWish& wish, Duration within);

    const DoctorPlace& place_;
    const Duration timeout_;
    const std::vector<amqp::Target> targets_;
    detail::client::ReceiveThread thread_{};
    std::unique_ptr<DoctorConnection> connection_; // used on the thread
};

} // namespace sessionq::cli
