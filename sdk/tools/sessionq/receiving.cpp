// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <sessionq/receiver.hpp>
#include <sessionq/session_receiver.hpp>

#include "tools/sessionq/arrival_progress.hpp"
#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/message_record.hpp"
#include "tools/sessionq/next_session.hpp"
#include "tools/sessionq/output.hpp"

namespace sessionq::cli {
namespace {

constexpr std::size_t received_at_once = 100;

void settle(LockedMessage& message, const ReceiveOptions& options) {
    switch (options.settling) {
    case Settling::complete: return message.complete();
    case Settling::abandon: return message.abandon();
    case Settling::release: return message.release();
    case Settling::defer: return message.defer();
    case Settling::dead_letter: return message.dead_letter(options.reason, options.description);
    }
}

/// Whether a settled message is available again at once. All are settled at the end then.
bool comes_again(Settling settling) {
    return settling == Settling::abandon || settling == Settling::release;
}

/// Prints messages and settles them. A message that cannot be written is not settled.
class Settler {
public:
    explicit Settler(const ReceiveOptions& options) : options_{options} {}

    void take(std::vector<LockedMessage> messages) {
        for (LockedMessage& message : messages) {
            write_output(line_of(record_of(message.message())));
            if (comes_again(options_.settling)) {
                held_.push_back(std::move(message));
            } else {
                settle(message, options_);
            }
        }
    }
    void finish() {
        for (LockedMessage& message : held_) {
            settle(message, options_);
        }
    }

private:
    const ReceiveOptions& options_;
    std::vector<LockedMessage> held_{};
};

/// Receives the messages that the options ask for. `receiver`: of a session, or of an entity
/// without sessions.
void receive_from(auto receiver, const ReceiveOptions& options) {
    Settler settler{options};
    if (!options.deferred.empty()) {
        settler.take(receiver.receive_deferred(options.deferred));
    } else {
        ArrivalProgress progress{options.entity};
        std::size_t left =
            options.count != 0 ? options.count : std::numeric_limits<std::size_t>::max();
        while (left != 0) {
            auto messages = receiver.receive(std::min(left, received_at_once), options.wait);
            if (messages.empty()) {
                break;
            }
            progress.add(messages);
            left -= messages.size();
            settler.take(std::move(messages));
        }
    }
    settler.finish();
    receiver.close();
}

} // namespace

int run(const Client& client, const Shared&, const ReceiveOptions& options) {
    if (options.session) {
        receive_from(SessionReceiver::accept(client, options.entity, *options.session), options);
        return 0;
    }
    // Deferred messages are asked for by number, which is not that of any session.
    auto next = options.deferred.empty() ? next_session(client, options.entity, options.wait)
                                         : NextSession{.entity_has_sessions = false};
    if (next.session) {
        receive_from(*std::move(next.session), options);
    } else if (next.entity_has_sessions) {
        tell("no session has messages");
    } else {
        receive_from(Receiver::open(client, options.entity), options);
    }
    return 0;
}

} // namespace sessionq::cli
