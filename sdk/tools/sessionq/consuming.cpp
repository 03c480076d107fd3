// SPDX-License-Identifier: MIT
#include <mutex>

#include <sessionq/logging.hpp>
#include <sessionq/processor.hpp>
#include <sessionq/session_processor.hpp>
#include <sessionq/wait_for_signal.hpp>

#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/message_record.hpp"
#include "tools/sessionq/next_session.hpp"
#include "tools/sessionq/output.hpp"

namespace sessionq::cli {
namespace {

/// A session that waits is looked at and left. An entity that cannot be asked now is taken for one
/// with sessions, and its processor tells why.
bool has_sessions(const Client& client, const std::string& entity) {
    try {
        return next_session(client, entity, Duration::zero()).entity_has_sessions;
    } catch (const Error&) {
        return true;
    }
}

/// Prints the warnings that on_error and on_health_changed do not get: those about connections, and
/// those that no session hears of.
void tell_of_the_rest() {
    set_log_sink([](const LogRecord& record) {
        if (record.component != "processor") {
            tell(std::string{record.text});
        }
    });
    set_log_level(LogLevel::warning);
}

int consume(auto processor) {
    processor.on_message([](MessageContext& context) {
        try {
            static std::mutex one_at_a_time; // a line takes several times the message's memory
            const std::lock_guard lock{one_at_a_time};
            write_output(line_of(record_of(context.message())));
        } catch (const OutputError& error) {
            end_program(error); // at once: an unwritten message must not count as delivered
        }
    });
    processor.on_error([](const ErrorContext& error) { tell(error.to_string()); });
    processor.on_health_changed([](const Health& health) {
        for (const HealthReason& reason : health.reasons) {
            tell(reason.to_string() + ". " + std::string{advice(reason.cause)});
        }
        if (health.reasons.empty()) {
            tell("healthy again");
        }
    });
    SignalWatch signals; // a signal may come as soon as the first message is printed
    processor.start();
    signals.wait();
    if (processor.stop(std::chrono::seconds{10}).complete) {
        return 0;
    }
    tell("the stop took longer than ten seconds; what is not settled comes again");
    return 1;
}

} // namespace

int run(const Client& client, const Shared&, const ConsumeOptions& options) {
    tell_of_the_rest();
    if (!has_sessions(client, options.entity)) {
        return consume(Processor{client,
                                 options.entity,
                                 {.max_concurrent_calls = options.concurrent_sessions,
                                  .describe_socket = options.describe_socket}});
    }
    return consume(SessionProcessor{client,
                                    options.entity,
                                    {.max_concurrent_sessions = options.concurrent_sessions,
                                     .session_idle_timeout = options.idle_timeout,
                                     .describe_socket = options.describe_socket}});
}

} // namespace sessionq::cli
