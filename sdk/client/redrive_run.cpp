// SPDX-License-Identifier: MIT
#include "client/redrive_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <sessionq/async.hpp>

#include "client/awaiting.hpp"
#include "client/complete_all.hpp"
#include "client/redrive_mark.hpp"
#include "client/sender_core.hpp"
#include "client/wire_size.hpp"
#include "core/access.hpp"
#include "core/clock.hpp"

// GCC 12 destroys temporaries of a co_await expression incorrectly, so each call has a name.
namespace sessionq::client {
namespace {

constexpr std::uint32_t page = 256;

TimePoint now() { return core::system_clock().now(); }

/// Calls a function of the library outside of the ambient context.
template <typename Call>
auto detached(Call call) {
    const OperationContext::DetachedScope scope;
    return call();
}

SenderOptions sender_options() {
    SenderOptions options;
    options.max_tries = 5; // what the broker refused for now; never what may have arrived
    return options;
}

RedriveMachine::Holding holding(const RedriveOptions& options) {
    return options.hold_sessions ? RedriveMachine::Holding::sessions
                                 : RedriveMachine::Holding::nothing;
}

} // namespace

RedriveRun::RedriveRun(const Client& client, RedriveRoute route, RedriveOptions options,
                       OperationContext context)
    : client_{client},
      route_{std::move(route)},
      options_{std::move(options)},
      scope_{std::move(context)},
      work_{Deadline{}, scope_.stop()},
      sender_{client_, route_.target, sender_options()},
      machine_{holding(options_), options_.max_wait, now()} {}

asio::awaitable<RedriveReport> RedriveRun::run() {
    check_scope();
    auto planning = plan();
    co_await std::move(planning);
    tell_progress();
    for (;;) {
        check_scope();
        Machine::Step step = machine_.next(now());
        const bool is_last = std::holds_alternative<Machine::Finish>(step);
        auto performing = std::visit([this](auto& one) { return perform(std::move(one)); }, step);
        co_await std::move(performing);
        if (is_last) {
            co_return machine_.report();
        }
    }
}

asio::awaitable<void> RedriveRun::plan() {
    const WallTime began = core::system_clock().wall_now();
    std::uint64_t left =
        options_.limit != 0 ? options_.limit : std::numeric_limits<std::uint64_t>::max();
    Browser browser{client_, route_.dead_letters};
    for (;;) {
        auto peeking = detached([&] { return async_peek(browser, page, work_); });
        const auto letters = co_await std::move(peeking);
        if (letters.empty()) {
            co_return;
        }
        for (const ReceivedMessage& letter : letters) {
            if (letter.facts().state == MessageState::active &&
                options_.filter.matches(letter, began)) {
                const auto id = letter.shared_content()->session_id();
                machine_.plan(letter.sequence_number(),
                              id ? Machine::SessionId{*id} : std::nullopt);
                if (--left == 0) {
                    co_return;
                }
            }
        }
        check_scope();
    }
}

asio::awaitable<void> RedriveRun::perform(Machine::Receive step) {
    if (!receiver_) {
        ReceiverOptions options;
        options.sub_queue = SubQueue::dead_letter;
        options.max_lock_renewal = Duration::zero();
        auto opening =
            detached([&] { return async_open_receiver(client_, route_.entity, options, work_); });
        receiver_ = co_await std::move(opening);
    }
    const Duration wait = std::min(step.wait, scope_.deadline().remaining(now()));
    auto receiving =
        detached([&] { return async_receive(*receiver_, Machine::most_at_once, wait, work_); });
    auto letters = co_await std::move(receiving);
    if (letters.empty()) {
        machine_.received_nothing();
    }
    for (LockedMessage& letter : letters) {
        const std::int64_t number = letter.sequence_number();
        if (machine_.received(number, now())) {
            hand_.planned.insert_or_assign(number, std::move(letter));
        } else {
            hand_.others.push_back(std::move(letter));
        }
    }
}

asio::awaitable<void> RedriveRun::perform(Machine::Hold step) {
    std::optional<Failure> refusal;
    try {
        auto accepting = detached(
            [&] { return async_accept(client_, route_.entity, step.session_id, {}, work_); });
        held_ = co_await std::move(accepting);
    } catch (const Error& error) {
        refusal = error.failure();
    }
    if (!refusal) {
        machine_.held();
    } else if (refusal->code == Errc::session_locked_elsewhere) {
        machine_.busy(now());
    } else if (refusal->code == Errc::session_required) {
        machine_.cannot_hold();
    } else {
        throw Error{*std::move(refusal)};
    }
}

asio::awaitable<void> RedriveRun::perform(Machine::Look step) {
    BrowserOptions options;
    options.session_id = std::move(step.session_id);
    Browser browser{client_, route_.entity, std::move(options)};
    for (;;) {
        auto peeking = detached([&] { return async_peek(browser, page, work_); });
        const auto messages = co_await std::move(peeking);
        if (messages.empty()) {
            break;
        }
        for (const ReceivedMessage& message : messages) {
            if (const auto number = redriven_from(*message.shared_content(), route_.source)) {
                machine_.found_copy(*number);
            }
        }
        check_scope();
    }
    machine_.looked();
}

asio::awaitable<void> RedriveRun::perform(Machine::Send step) {
    const auto is_lost = [&](std::int64_t number) {
        return hand_.planned.at(number).stop_token().stop_requested();
    };
    const auto first_lost = std::ranges::find_if(step.numbers, is_lost);
    if (first_lost != step.numbers.end()) {
        machine_.lost(*first_lost);
        hand_.planned.erase(*first_lost);
        co_return;
    }
    if (held_ && held_->loss()) {
        held_.reset();
        machine_.hold_lost();
        co_return;
    }
    if (!most_bytes_) {
        auto asking = detached([&] { return async_create_batch(sender_, 0, work_); });
        const MessageBatch batch = co_await std::move(asking);
        most_bytes_ = batch.max_bytes();
    }
    std::vector<MessageContentPtr> copies = copies_of(step.numbers);
    step.numbers.resize(copies.size());
    auto sending =
        detached([&] { return await(Access::core(sender_)->send(std::move(copies), work_)); });
    co_await std::move(sending);
    std::ranges::for_each(step.numbers, [this](std::int64_t number) { machine_.sent(number); });
}

/// As many of the first copies as fit.
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
        if (*most_bytes_ != 0 && bytes > *most_bytes_) {
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

asio::awaitable<void> RedriveRun::perform(Machine::Complete step) {
    std::vector<const LockedMessage*> letters;
    for (const std::int64_t number : step.numbers) {
        letters.push_back(&hand_.planned.at(number));
    }
    auto completing = detached([&] { return await(complete_all(letters, work_)); });
    const CompleteFailures failures = co_await std::move(completing);
    std::optional<Failure> failed;
    for (std::size_t at = 0; at < failures.size(); ++at) {
        const auto& why = failures[at];
        const std::int64_t number = step.numbers[at];
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
}

asio::awaitable<void> RedriveRun::perform(Machine::Leave) {
    if (held_) {
        auto closing = detached([&] { return async_close(*held_, work_); });
        co_await std::move(closing);
        held_.reset();
    }
    machine_.left();
}

asio::awaitable<void> RedriveRun::perform(Machine::Finish) {
    if (receiver_) {
        auto closing = detached([&] { return async_close(*receiver_, work_); });
        co_await std::move(closing);
    }
    tell_progress();
}

/// Throws if the redrive may not go on.
void RedriveRun::check_scope() const {
    if (scope_.stop().stop_requested()) {
        throw Error{Errc::cancelled, "the redrive was stopped"};
    }
    if (scope_.deadline().passed(now())) {
        throw Error{Errc::timeout, "the redrive has not finished"};
    }
}

void RedriveRun::tell_progress() {
    if (options_.on_progress && told_ != machine_.report()) {
        told_ = machine_.report();
        options_.on_progress(machine_.report());
    }
}

} // namespace sessionq::client
