#pragma once

#include <string>
#include <vector>

#include <sessionq/processor_options.hpp>

#include "processor/counters.hpp"
#include "processor/environment.hpp"
#include "processor/handlers.hpp"
#include "processor/running_sessions.hpp"

namespace sessionq::processor {

/// What all shards of a processor and its workers share; only counters and `running` change after start.
struct SharedState {
    ProcessorOptions options{};
    std::vector<std::string> entities{};
    Handlers handlers{};
    Environment environment{};
    Counters counters{};
    RunningSessions running{};

    /// Tells the application, on a worker.
    void report(ErrorContext context) const;
};

} // namespace sessionq::processor
