#include "client/coroutine_handler.hpp"

#include <utility>

#include <asio/co_spawn.hpp>

#include "client/access.hpp"
#include "dispatch/pool_executor.hpp"
#include "processor/message_call.hpp"
#include "processor/session_pump.hpp"
#include "processor/shard.hpp"

namespace sessionq::client {

MessageHandler coroutine_handler(std::function<asio::awaitable<void>(MessageContext&)> handler) {
    return MessageHandler::started_by(
        [handler = std::move(handler)](MessageContext& message, MessageHandler::Done done) {
            dispatch::PoolContext& coroutines =
                *Access::pump(message.session()).shard().shared().environment.coroutines;
            const OperationContext context{message.deadline(), message.stop_token()};
            asio::co_spawn(
                coroutines.executor(context), handler(message),
                [done = std::move(done)](std::exception_ptr error) { done(std::move(error)); });
        });
}

} // namespace sessionq::client
