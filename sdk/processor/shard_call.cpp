// SPDX-License-Identifier: MIT
#include "processor/shard_call.hpp"

#include <utility>

#include "core/access.hpp"
#include "processor/session/session_view.hpp"

namespace sessionq::detail::processor {

dispatch::Verdict ShardCall::start_late(const std::function<void(Completion)>& start) {
    late_end_.starts();
    auto completion = client::Access::make<Completion>(
        [this](std::exception_ptr error) { ended_late(std::move(error)); },
        session_view().shared().faults);
    Completion kept = client::Access::share(completion); // a start that throws has not dropped it
    try {
        start(std::move(completion));
    } catch (...) {
        if (client::Access::revoke(kept)) { // the handler never started
            handler_ended(std::current_exception());
            return conclude();
        }
    }
    kept = {}; // if the handler has dropped its own, it ends here
    // If it waits, the call may be gone by now.
    return late_end_.waits() ? dispatch::Verdict::suspended : conclude();
}

void ShardCall::ended_late(std::exception_ptr error) noexcept {
    handler_ended(std::move(error));
    if (!late_end_.ends()) {
        return; // within the start: `start_late` concludes
    }
    const SessionView& session = session_view();
    dispatch::Lane& lane = session.lane(); // alive while the call is active: until the last line
    dispatch::Dispatcher dispatcher = *session.shared().environment.dispatcher;
    static_cast<void>(conclude());
    dispatcher.finish_suspended(lane);
}

} // namespace sessionq::detail::processor
