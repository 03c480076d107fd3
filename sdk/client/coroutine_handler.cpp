#include "client/coroutine_handler.hpp"

#include <utility>

#include <asio/co_spawn.hpp>

#include "client/access.hpp"
#include "dispatch/pool_executor.hpp"
#include "processor/session_driver.hpp"

namespace sessionq::client {

MessageHandler coroutine_handler(std::function<asio::awaitable<void>(MessageContext&)> handler) {
    return MessageHandler::started_by(
        [handler = std::move(handler)](MessageContext& message, MessageHandler::Done done) {
            const processor::SessionView& session = Access::driver(message.session()).view();
            dispatch::PoolContext& coroutines = *session.workplace().shared->environment.coroutines;
            asio::co_spawn(
                coroutines.executor(session.context(message.deadline())), handler(message),
                [done = std::move(done)](std::exception_ptr error) { done(std::move(error)); });
        });
}

} // namespace sessionq::client
