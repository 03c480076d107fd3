// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include <sessionq/message_context.hpp>
#include <sessionq/operation_context.hpp>
#include <sessionq/session_receiver.hpp>

#include "simulation/environment.hpp"
#include "simulation/handler_calls.hpp"

namespace sessionq::simulation {

/// A handler that receives deferred messages of its session and settles some of them.
class DeferredUse final : public HandlerCalls, public std::enable_shared_from_this<DeferredUse> {
public:
    DeferredUse(Environment& environment, MessageContext& call, const LinkRecord& link,
                OperationContext context)
        : environment_{&environment}, call_{&call}, link_{&link}, context_{std::move(context)} {}

    void go_on() override;

private:
    void ask();
    void received(std::vector<SessionMessage> messages);
    void settle(SessionMessage& message);

    Environment* environment_;
    MessageContext* call_;
    const LinkRecord* link_;
    OperationContext context_;
    std::vector<MessageRecord*> wanted_{};
    std::vector<SessionMessage> messages_{};
    std::size_t next_{0};
    bool was_asked_{false};
};

} // namespace sessionq::simulation
