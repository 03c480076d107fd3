// SPDX-License-Identifier: MIT
#include "server/management.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "server/management_answer.hpp"
#include "server/message_operations.hpp"
#include "server/rule_operations.hpp"
#include "server/session_operations.hpp"

namespace sessionq::server {
namespace {

struct Operation {
    std::string_view name;
    Answer (*perform)(const ManagedEntity&, const Request&);
    Rights needed;
    bool changes;        // changes stored data
    bool receives{true}; // needs an entity that can be received from: no topic
};

constexpr Operation operations[] = {
    {"com.microsoft:renew-lock", &message_operations::renew_lock, Rights::listen(), false},
    {"com.microsoft:peek-message", &message_operations::peek, Rights::listen(), false, false},
    {"com.microsoft:schedule-message", &message_operations::schedule, Rights::send(), true, false},
    {"com.microsoft:cancel-scheduled-message", &message_operations::cancel_scheduled,
     Rights::send(), true, false},
    {"com.microsoft:renew-session-lock", &session_operations::renew_session_lock, Rights::listen(),
     false},
    {"com.microsoft:set-session-state", &session_operations::set_session_state, Rights::listen(),
     true},
    {"com.microsoft:get-session-state", &session_operations::get_session_state, Rights::listen(),
     false},
    {"com.microsoft:get-message-sessions", &session_operations::list_sessions, Rights::listen(),
     false},
    {"com.microsoft:receive-by-sequence-number", &message_operations::receive_by_sequence,
     Rights::listen(), true},
    {"com.microsoft:batch-delete-messages", &message_operations::batch_delete, Rights::listen(),
     true},
    {"com.microsoft:update-disposition", &message_operations::update_disposition, Rights::listen(),
     true},
    {"com.microsoft:enumerate-rules", &rule_operations::enumerate_rules, Rights::listen(), false,
     false},
    {"com.microsoft:add-rule", &rule_operations::add_rule, Rights::listen(), true, false},
    {"com.microsoft:remove-rule", &rule_operations::remove_rule, Rights::listen(), true, false},
};

std::optional<Answer> find_size_fault(const amqp::Value& body, std::size_t most) {
    for (const char* const list : {"lock-tokens", "messages", "sequence-numbers"}) {
        const amqp::Value* value = body.find(list);
        const auto* items = value != nullptr ? value->items() : nullptr;
        if (items != nullptr && items->size() > most) {
            return server::refuse(400, condition::resource_limit_exceeded,
                                  std::string{list} + ": a request may have at most " +
                                      std::to_string(most) + " items; it has " +
                                      std::to_string(items->size()));
        }
    }
    return std::nullopt;
}

} // namespace

Answer Management::answer(const Request& request) const {
    const std::string_view name = request.operation();
    const auto* found = std::ranges::find(operations, name, &Operation::name);
    if (found == std::end(operations)) {
        return refuse(501, condition::not_implemented,
                      "unknown operation '" + std::string{name.substr(0, 100)} + "'");
    }
    if (!entity_.peer.claims.covers(node_, found->needed, entity_.peer.loop.wall_now())) {
        return refuse(401, condition::unauthorized_access,
                      text_of_missing(found->needed, entity_.queue->name()));
    }
    if (found->receives && entity_.queue->kind() == broker::EntityKind::topic) {
        return refuse(*entity_.queue->find_receive_fault());
    }
    const broker::Journal* journal = entity_.peer.broker.journal();
    if (found->changes && journal != nullptr && journal->is_failing()) {
        return refuse({.code = Errc::server_busy,
                       .detail = "the broker cannot write to its store; retry later"});
    }
    if (auto refused = find_size_fault(request.body, entity_.peer.limits.items_per_request)) {
        return *std::move(refused);
    }
    Answer answer = found->perform(entity_, request);
    answer.is_confirmation = found->changes && answer.condition.empty();
    return answer;
}

} // namespace sessionq::server
