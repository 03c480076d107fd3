#include "processor/shared_state.hpp"

#include "core/log.hpp"

namespace sessionq::processor {

void SharedState::report(ErrorContext context) const {
    core::log(LogLevel::info, "processor", to_string(context.source), " failed for entity '",
              context.entity, "', session '", context.session_id,
              "': ", context.failure.to_string());
    if (!handlers.error) {
        return;
    }
    environment.workers->post([handler = handlers.error, context = std::move(context)] {
        try {
            handler(context);
        } catch (...) {
            core::log(LogLevel::error, "processor", "on_error threw");
        }
    });
}

} // namespace sessionq::processor
