// SPDX-License-Identifier: MIT
#include "servicebus/session_requests.hpp"

#include <utility>

namespace sessionq::detail::servicebus {

SessionRequests::~SessionRequests() {
    for (const auto& [id, handler] : handlers_) {
        give_up(id);
    }
}

ports::RequestId SessionRequests::ask(std::string operation, amqp::Map body, Deadline deadline,
                                      Handler handler) {
    BrokerConnection& connection = link_.connection();
    const ports::RequestId id = connection.next_request_id();
    handlers_.emplace(id, std::move(handler));
    if (address_.scope == ports::Scope::session) {
        body.emplace_back("session-id", address_.session_id);
    }
    connection.manage(id, address_.entity,
                      {.operation = std::move(operation),
                       .properties = {{"associated-link-name", address_.link_name}},
                       .body = amqp::Value{std::move(body)}},
                      deadline, [handle = anchor_.handle(), id](core::Result<Response> result) {
                          if (SessionRequests* const self = handle.get()) {
                              const auto node = self->handlers_.extract(id);
                              node.mapped()(std::move(result));
                          }
                      });
    return id;
}

void SessionRequests::give_up(ports::RequestId id) {
    if (!link_.is_orphaned()) {
        link_.connection().give_up(id);
    }
}

} // namespace sessionq::detail::servicebus
