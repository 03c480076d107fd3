#include "servicebus/session_requests.hpp"

#include <utility>

namespace sessionq::servicebus {

SessionRequests::SessionRequests(BrokerConnection& connection, std::string entity,
                                 std::string session_id, std::string link_name)
    : connection_{connection},
      alive_{connection.handle()},
      entity_{std::move(entity)},
      session_id_{std::move(session_id)},
      link_name_{std::move(link_name)} {}

SessionRequests::~SessionRequests() {
    for (const auto& [id, handler] : handlers_) {
        give_up(id);
    }
}

ports::RequestId SessionRequests::ask(std::string operation, amqp::Map body, Deadline deadline,
                                      Handler handler) {
    const ports::RequestId id = connection_.next_request_id();
    handlers_.emplace(id, std::move(handler));
    body.emplace_back("session-id", session_id_);
    connection_.manage(id, entity_,
                       {.operation = std::move(operation),
                        .properties = {{"associated-link-name", link_name_}},
                        .body = amqp::Value{std::move(body)}},
                       deadline, [handle = anchor_.handle(), id](core::Result<Response> result) {
                           if (SessionRequests* const self = handle.get()) {
                               self->answer(id, std::move(result));
                           }
                       });
    return id;
}

void SessionRequests::give_up(ports::RequestId id) {
    if (alive_.get() != nullptr) {
        connection_.give_up(id);
    }
}

void SessionRequests::answer(ports::RequestId id, core::Result<Response> result) {
    if (const auto node = handlers_.extract(id)) {
        node.mapped()(std::move(result));
    }
}

} // namespace sessionq::servicebus
