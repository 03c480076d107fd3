#include <utility>

#include <asio/co_spawn.hpp>

#include <sessionq/async.hpp>

#include "core/access.hpp"
#include "dispatch/pool_executor.hpp"
#include "processor/session_driver.hpp"

namespace sessionq {

MessageHandler coroutine(std::function<asio::awaitable<void>(MessageContext&)> handler) {
    return MessageHandler::started_by(
        [handler = std::move(handler)](MessageContext& message, MessageHandler::Done done) {
            dispatch::PoolContext& coroutines = *client::Access::driver(message.session())
                                                     .view()
                                                     .workplace()
                                                     .shared->environment.coroutines;
            const OperationContext context{message.deadline(), message.stop_token()};
            asio::co_spawn(
                coroutines.executor(context), handler(message),
                [done = std::move(done)](std::exception_ptr error) { done(std::move(error)); });
        });
}

} // namespace sessionq
