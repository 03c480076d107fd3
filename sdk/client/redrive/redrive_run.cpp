// SPDX-License-Identifier: MIT
#include "client/redrive/redrive_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "client/browsing/browser_core.hpp"
#include "client/calls/answering.hpp"
#include "client/redrive/redrive_mark.hpp"
#include "client/sending/sender_core.hpp"
#include "client/sending/wire_size.hpp"
#include "core/access.hpp"
#include "core/clock.hpp"

namespace sessionq::detail::client {
namespace {

constexpr std::uint32_t page_size = 256;

TimePoint now() { return core::system_clock().now(); }

/// Returns `call` with `then` as its last step. `then` gets a function that returns the result of
/// `call` or throws its failure.
template <typename T, typename R, typename Then>
detail::CallPtr<void> with(PublicCall<T, R> call, Then then) {
    return prepared(PublicCall<T, void>{
        std::move(call.operation),
        [finish = std::move(call.finish), then = std::move(then)](core::Result<T> answer) {
            then([&] { return finish(std::move(answer)); });
        }});
}

template <typename T, typename Then>
detail::CallPtr<void> with(Operation<T> operation, Then then) {
    return with(PublicCall<T>{std::move(operation)}, std::move(then));
}

/// Makes a call outside of the ambient context, so that messages do not carry its deadline and
/// trace.
template <typename Make, typename Then>
detail::CallPtr<void> request(Make make, Then then) {
    const OperationContext::DetachedScope scope;
    return with(make(), std::move(then));
}

SenderOptions sender_options() {
    SenderOptions options;
    options.max_attempts = 5; // a send with an unknown outcome is not retried
    return options;
}

} // namespace

RedriveRun::RedriveRun(const Client& client, RedriveRoute route, RedriveOptions options,
                       CallScope scope)
    : client_{client},
      route_{std::move(route)},
      options_{std::move(options)},
      scope_{std::move(scope)},
      work_{.stop = scope_.context.stop()},
      sender_{client_, route_.target, sender_options()},
      machine_{options_.hold_sessions, options_.max_wait, now()},
      selection_{core::system_clock().wall_now(),
                 options_.max_messages != 0 ? options_.max_messages
                                            : std::numeric_limits<std::uint64_t>::max()} {}

detail::CallPtr<void> RedriveRun::next() {
    while (under_way_.phase != Phase::done) {
        check_scope();
        if (under_way_.phase == Phase::planning) {
            return plan();
        }
        if (!under_way_.step) {
            under_way_.step = machine_.next(now());
        }
        if (auto call =
                std::visit([this](auto& step) { return perform(step); }, *under_way_.step)) {
            return call;
        }
        under_way_.step.reset();
    }
    return nullptr;
}

detail::CallPtr<void> RedriveRun::plan() {
    if (!under_way_.browser) {
        under_way_.browser.emplace(client_, route_.dead_letters);
    }
    return request(
        [&] {
            return Access::core(*under_way_.browser)->peek(*under_way_.browser, page_size, work_);
        },
        [this](auto take) { select(take()); });
}

void RedriveRun::select(const Letters& letters) {
    for (const ReceivedMessage& letter : letters) {
        if (letter.facts().state == MessageState::active &&
            options_.filter.matches(letter, selection_.began)) {
            const auto id = letter.shared_content()->session_id();
            machine_.plan(letter.sequence_number(), id ? Machine::SessionId{*id} : std::nullopt);
            if (--selection_.left == 0) {
                break;
            }
        }
    }
    if (letters.empty() || selection_.left == 0) {
        under_way_.browser.reset();
        under_way_.phase = Phase::working;
        tell_progress();
    }
}

detail::CallPtr<void> RedriveRun::perform(const Machine::Receive& step) {
    if (!hand_.receiver) {
        ReceiverOptions options;
        options.sub_queue = SubQueue::dead_letter;
        options.max_lock_renewal = Duration::zero();
        return request([&] { return open_receiver(client_, route_.entity, options, work_); },
                       [this](auto take) { hand_.receiver = take(); });
    }
    const Duration wait = std::min(step.wait, scope_.deadline.remaining(now()));
    return request([&] { return receive(*hand_.receiver, Machine::most_at_once, wait, work_); },
                   [this](auto take) { received(take()); });
}

void RedriveRun::received(std::vector<LockedMessage> letters) {
    machine_.received_nothing();
    for (LockedMessage& letter : letters) {
        const std::int64_t number = letter.sequence_number();
        auto& place = machine_.received(number, now()) ? hand_.planned : hand_.others;
        place.insert_or_assign(number, std::move(letter));
    }
    under_way_.step.reset();
}

detail::CallPtr<void> RedriveRun::perform(const Machine::Hold& step) {
    return request(
        [&] {
            return accept_session<SessionReceiver>(
                client_,
                {.entity = route_.entity,
                 .session_id = step.session_id,
                 .receiver = settings_of(SessionReceiverOptions{})},
                work_);
        },
        [this](auto take) {
            std::optional<Failure> refusal;
            try {
                hand_.session = take();
            } catch (const Error& error) {
                refusal = error.failure();
            }
            held(refusal);
        });
}

void RedriveRun::held(const std::optional<Failure>& refusal) {
    if (!refusal) {
        machine_.held();
    } else if (refusal->code == Errc::session_locked_elsewhere) {
        machine_.busy(now());
    } else if (refusal->code == Errc::session_required) {
        machine_.cannot_hold();
    } else {
        throw Error{*refusal};
    }
    under_way_.step.reset();
}

detail::CallPtr<void> RedriveRun::perform(const Machine::Look& step) {
    if (!under_way_.browser) {
        BrowserOptions options;
        options.session_id = step.session_id;
        under_way_.browser.emplace(client_, route_.entity, std::move(options));
    }
    return request(
        [&] {
            return Access::core(*under_way_.browser)->peek(*under_way_.browser, page_size, work_);
        },
        [this](auto take) { found(take()); });
}

void RedriveRun::found(const Letters& messages) {
    for (const ReceivedMessage& message : messages) {
        if (const auto number = redriven_from(*message.shared_content(), route_.source)) {
            machine_.found_copy(*number);
        }
    }
    if (messages.empty()) {
        under_way_.browser.reset();
        machine_.looked();
        under_way_.step.reset();
    }
}

detail::CallPtr<void> RedriveRun::perform(Machine::Send& step) {
    if (!can_send(step.numbers)) {
        return nullptr;
    }
    if (!limit_) {
        return request([&] { return Access::core(sender_)->create_batch(0, work_); },
                       [this](auto take) {
                           const MessageBatch empty = take();
                           limit_ = ports::SendingLimit{.message_bytes =
                                                            Access::max_message_bytes(empty),
                                                        .bytes = empty.max_bytes()};
                       });
    }
    std::vector<MessageContentPtr> copies = copies_of(step.numbers);
    step.numbers.resize(copies.size());
    return request([&] { return Access::core(sender_)->send(std::move(copies), work_); },
                   [this, numbers = step.numbers](auto take) {
                       take();
                       std::ranges::for_each(
                           numbers, [this](std::int64_t number) { machine_.sent(number); });
                       under_way_.step.reset();
                   });
}

/// Whether the letters and their session are still locked. If not, tells the machine which lock was
/// lost.
bool RedriveRun::can_send(const Machine::Numbers& numbers) {
    const auto is_lost = [&](std::int64_t number) {
        return hand_.planned.at(number).stop_token().stop_requested();
    };
    const auto first_lost = std::ranges::find_if(numbers, is_lost);
    if (first_lost != numbers.end()) {
        machine_.lost(*first_lost);
        hand_.planned.erase(*first_lost);
        return false;
    }
    if (hand_.session && hand_.session->loss()) {
        hand_.session.reset();
        machine_.hold_lost();
        return false;
    }
    return true;
}

/// Returns copies of the first letters, as many as fit into one send.
std::vector<MessageContentPtr> RedriveRun::copies_of(const Machine::Numbers& numbers) const {
    const amqp::ClockReading at{.now = now(), .wall = core::system_clock().wall_now()};
    std::vector<MessageContentPtr> copies;
    std::uint64_t as_batch = 0;
    for (const std::int64_t number : numbers) {
        MessageContentPtr copy =
            redriven_copy(hand_.planned.at(number).message(), route_.source, at);
        const WireSize size = wire_size(*copy);
        as_batch += size.in_batch + (copies.empty() ? size.envelope : 0);
        const std::uint64_t bytes = copies.empty() ? size.alone : as_batch;
        const std::uint64_t most = copies.empty() ? limit_->message_bytes : limit_->bytes;
        if (most != 0 && bytes > most) {
            break;
        }
        copies.push_back(std::move(copy));
    }
    if (copies.empty()) {
        throw Error{Errc::message_too_large, "message " + std::to_string(numbers.front()) +
                                                 " of '" + route_.dead_letters +
                                                 "', with its mark"};
    }
    return copies;
}

detail::CallPtr<void> RedriveRun::perform(const Machine::Complete& step) {
    std::vector<const LockedMessage*> letters;
    for (const std::int64_t number : step.numbers) {
        letters.push_back(&hand_.planned.at(number));
    }
    return request([&] { return complete_all(letters, work_); },
                   [this, numbers = step.numbers](auto take) { completed(numbers, take()); });
}

void RedriveRun::completed(const Machine::Numbers& numbers, const CompleteFailures& failures) {
    std::optional<Failure> failed;
    for (std::size_t at = 0; at < failures.size(); ++at) {
        const auto& why = failures[at];
        const std::int64_t number = numbers[at];
        if (!why) {
            machine_.completed(number, now());
        } else if (why->code == Errc::lock_lost || why->code == Errc::message_not_found) {
            machine_.lost(number);
        } else {
            failed = why;
        }
        hand_.planned.erase(number);
    }
    tell_progress();
    if (failed) {
        throw Error{*std::move(failed)};
    }
    under_way_.step.reset();
}

detail::CallPtr<void> RedriveRun::perform(const Machine::Leave& /*step*/) {
    if (!hand_.session) {
        machine_.left();
        return nullptr;
    }
    return request([&] { return close(*hand_.session, work_); },
                   [this](auto take) {
                       take();
                       hand_.session.reset();
                       machine_.left();
                       under_way_.step.reset();
                   });
}

detail::CallPtr<void> RedriveRun::perform(const Machine::Finish& /*step*/) {
    const auto finish = [this] {
        under_way_.phase = Phase::done;
        tell_progress();
    };
    if (!hand_.receiver) {
        finish();
        return nullptr;
    }
    return request([&] { return close(*hand_.receiver, work_); },
                   [finish](auto take) {
                       take();
                       finish();
                   });
}

/// Throws if the redrive may not go on.
void RedriveRun::check_scope() const {
    if (scope_.context.stop().stop_requested()) {
        throw Error{Errc::cancelled, "the redrive was stopped"};
    }
    if (scope_.deadline.passed(now())) {
        throw Error{Errc::timeout, "the redrive has not finished"};
    }
}

void RedriveRun::tell_progress() {
    if (options_.on_progress && told_ != machine_.report()) {
        told_ = machine_.report();
        options_.on_progress(machine_.report());
    }
}

} // namespace sessionq::detail::client
