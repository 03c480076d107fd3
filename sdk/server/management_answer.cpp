// SPDX-License-Identifier: MIT
#include "server/management_answer.hpp"

#include <string>
#include <utility>

namespace sessionq::server {

Answer ok(amqp::Value body) { return {.body = std::move(body)}; }

Answer no_content() { return {.status = 204, .description = "NoContent", .body = amqp::Map{}}; }

Answer refuse(std::int32_t status, std::string_view condition, std::string_view text) {
    return {
        .status = status, .description = std::string{text}, .condition = std::string{condition}};
}

Answer refuse(const Failure& failure, LockKind lock) {
    amqp::Condition condition = condition_of(failure, lock);
    return {.status = status_of(failure.code),
            .description = std::move(condition.text),
            .condition = std::move(condition.name)};
}

Answer lacks(std::string_view key) {
    return refuse(400, condition::argument_error,
                  "the request body needs '" + std::string{key} + "' of the right type");
}

Answer session_lock_lost() {
    return refuse(
        410, condition::session_lock_lost,
        "The session lock has expired or belongs to another connection. Accept the session again.");
}

Answer message_lock_lost() { return refuse({.code = Errc::lock_lost}); }

} // namespace sessionq::server
