#include "client/session_state.hpp"

#include <utility>

#include "client/access.hpp"
#include "client/blocking.hpp"
#include "processor/session_pump.hpp"
#include "processor/shard.hpp"

namespace sessionq {
namespace client {
namespace {

constexpr Duration timeout_without_lease = std::chrono::seconds{60};

template <typename T>
Operation<T> operation(processor::SessionPump& pump, const OperationContext& context,
                       Start<T> start) {
    processor::Shard& shard = pump.shard();
    shard.endpoint().capabilities().require(ports::Capability::session_state);
    const TimePoint now = shard.shared().environment.clock->now();
    return {.client = nullptr, // the running handler keeps the processor and its client
            .loop = shard.loop(),
            .deadline = context.effective(timeout_without_lease, now),
            .stop = context.stop(),
            .start = std::move(start)};
}

/// Gives the request up at the session's link when the operation is given up.
void give_up_with(PendingBase& pending, const std::shared_ptr<processor::SessionPump>& pump,
                  ports::RequestId id) {
    pending.ask_port([weak = std::weak_ptr{pump}, id] {
        if (const auto there = weak.lock()) {
            there->give_up(id);
        }
    });
}

} // namespace

Operation<std::optional<std::string>> get_state(const SessionContext& session,
                                                const OperationContext& context) {
    using State = std::optional<std::string>;
    return operation<State>(
        Access::pump(session), context,
        [pump = Access::pump(session).shared_from_this()](const PendingPtr<State>& pending) {
            const auto id =
                pump->get_state(pending->deadline(), AnswerTo<State>{pending, Errc::lock_lost});
            give_up_with(*pending, pump, id);
        });
}

Operation<core::Done> set_state(const SessionContext& session, std::optional<std::string> state,
                                const OperationContext& context) {
    return operation<core::Done>(
        Access::pump(session), context,
        [pump = Access::pump(session).shared_from_this(),
         state = std::move(state)](const PendingPtr<core::Done>& pending) mutable {
            const auto id = pump->set_state(std::move(state), pending->deadline(),
                                            AnswerTo<core::Done>{pending, Errc::lock_lost});
            give_up_with(*pending, pump, id);
        });
}

} // namespace client

std::optional<std::string> SessionContext::state(const OperationContext& context) {
    return client::block(client::get_state(*this, context));
}

void SessionContext::set_state(std::optional<std::string> state, const OperationContext& context) {
    client::block(client::set_state(*this, std::move(state), context));
}

} // namespace sessionq
