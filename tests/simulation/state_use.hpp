// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <sessionq/message_context.hpp>
#include <sessionq/operation_context.hpp>

#include "simulation/environment.hpp"
#include "simulation/handler_calls.hpp"

namespace sessionq::simulation {

/// A handler's reads and writes of its session's state.
class StateUse final : public HandlerCalls, public std::enable_shared_from_this<StateUse> {
public:
    /// Makes so many calls, under the context of the handler.
    StateUse(Environment& environment, MessageContext& call, const LinkRecord& link,
             OperationContext context, unsigned calls)
        : environment_{&environment},
          call_{&call},
          link_{&link},
          context_{std::move(context)},
          left_{calls} {}

    void go_on() override;

private:
    void read();
    void write(std::optional<std::string> value);
    StateRecord& begin(bool writes, std::optional<std::string> value);
    void told(const StateRecord& record, const Failure* failure);

    Environment* environment_;
    MessageContext* call_;
    const LinkRecord* link_;
    OperationContext context_;
    unsigned left_;
};

} // namespace sessionq::simulation
