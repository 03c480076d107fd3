// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <sessionq/operation_context.hpp>

#include "ports/endpoint.hpp"
#include "simulation/environment.hpp"
#include "simulation/handler_calls.hpp"

namespace sessionq::simulation {

/// A handler's sends to sessions that exist, over the connections of the consumer. Each is one
/// attempt.
class HandlerSends final : public HandlerCalls, public std::enable_shared_from_this<HandlerSends> {
public:
    /// The consumer's endpoints. Null: destroyed.
    using Endpoints = std::function<std::vector<ports::Endpoint*>()>;

    struct Terms {
        OperationContext context{}; ///< of the handler
        Duration timeout{};         ///< of a send without a deadline
        unsigned count{0};
    };

    HandlerSends(Environment& environment, Endpoints endpoints, std::uint32_t link, Terms terms)
        : environment_{&environment},
          endpoints_{std::move(endpoints)},
          link_{link},
          terms_{std::move(terms)} {}

    void go_on() override;

private:
    [[nodiscard]] const BrokerSession& some_session();
    void send(const BrokerSession& to, Deadline deadline);
    void told(SentRecord& record, const core::Result<std::vector<std::int64_t>>& answer);

    Environment* environment_;
    Endpoints endpoints_;
    std::uint32_t link_;
    Terms terms_;
};

} // namespace sessionq::simulation
