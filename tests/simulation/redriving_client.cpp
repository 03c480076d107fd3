// SPDX-License-Identifier: MIT
#include "simulation/redriving_client.hpp"

#include <algorithm>
#include <utility>

#include "client/redrive/redrive_mark.hpp"

namespace sessionq::simulation {
namespace {

constexpr std::uint32_t page = 5;

} // namespace

RedrivingClient::RedrivingClient(Environment& environment, Terms terms, ports::EndpointPtr endpoint,
                                 std::function<void()> told)
    : environment_{&environment},
      terms_{std::move(terms)},
      route_{
          detail::client::redrive_route(endpoint->capabilities(), terms_.entity, terms_.options)},
      machine_{terms_.options.hold_sessions, terms_.options.max_wait, environment.scheduler.now()},
      endpoint_{std::move(endpoint)},
      told_{std::move(told)} {}

RedrivingClient::~RedrivingClient() { *here_ = false; }

template <typename T, typename Then>
std::function<void(core::Result<T>)> RedrivingClient::answer(Then then) {
    return [this, here = here_, then = std::move(then)](core::Result<T> result) {
        if (!*here || is_over_) {
            return;
        }
        if (result) {
            then(std::move(result).value());
        } else {
            fail(result.failure());
        }
    };
}

void RedrivingClient::later(Duration after, std::function<void()> what) {
    environment_->scheduler.after(
        after, [here = here_, loop = &endpoint_->loop(), what = std::move(what)] {
            if (!*here) {
                return;
            }
            loop->post([here, what] {
                if (*here) {
                    what();
                }
            });
        });
}

LetterRecord& RedrivingClient::letter(std::int64_t number) {
    return environment_->letters.at({route_.entity, number});
}

void RedrivingClient::plan(std::int64_t from) {
    endpoint_->peek({.entity = route_.dead_letters,
                     .from_sequence_number = from,
                     .max_messages = page,
                     .deadline = deadline()},
                    answer<std::vector<ReceivedMessage>>(
                        [this](const std::vector<ReceivedMessage>& letters) { planned(letters); }));
}

void RedrivingClient::planned(const std::vector<ReceivedMessage>& letters) {
    for (const ReceivedMessage& each : letters) {
        const std::int64_t number = each.sequence_number();
        const bool is_wanted = terms_.options.max_messages == 0 ||
                               machine_.report().selected < terms_.options.max_messages;
        if (is_wanted && terms_.options.filter.matches(each, environment_->scheduler.wall_now())) {
            machine_.plan(number, each.shared_content()->session_id()
                                      ? Machine::SessionId{each.session_id()}
                                      : std::nullopt);
            letter(number).is_planned = true;
        }
    }
    if (letters.empty()) {
        environment_->scheduler.trace("redrive of ", machine_.report().selected);
        next();
    } else {
        plan(letters.back().sequence_number() + 1);
    }
}

void RedrivingClient::next() {
    if (terms_.dies()) {
        return;
    }
    if (const Duration pause = terms_.pauses(); pause > Duration::zero()) {
        paused_until_ = now() + pause;
        later(pause, [this] { step(); });
    } else {
        step();
    }
}

void RedrivingClient::step() {
    Machine::Step step = machine_.next(now());
    std::visit([this](const auto& one) { perform(one); }, step);
}

void RedrivingClient::perform(const Machine::Receive& step) {
    if (receiver_) {
        receive(step.wait);
        return;
    }
    endpoint_->accept(
        {.entity = route_.dead_letters, .scope = ports::Scope::entity, .deadline = deadline()},
        answer<ports::SessionLinkPtr>([this, wait = step.wait](auto link) {
            receiver_ = make_link(std::move(link));
            receive(wait);
        }));
}

void RedrivingClient::receive(Duration wait) {
    receiver_->ask_for(Machine::most_at_once);
    is_waiting_ = true;
    // A wait that is too short for the answer would show nothing.
    later(std::max<Duration>(wait, milliseconds{300}), [this, wait = ++waits_] {
        if (is_waiting_ && wait == waits_) {
            is_waiting_ = false;
            machine_.received_nothing();
            next();
        }
    });
    take();
}

std::unique_ptr<RedrivingLink> RedrivingClient::make_link(ports::SessionLinkPtr link) {
    return std::make_unique<RedrivingLink>(
        *environment_, endpoint_->loop(), std::move(link),
        RedrivingLink::Owner{
            .arrived = [this] { take(); },
            .settled = [this](std::int64_t number,
                              const Failure* failure) { completed(number, failure); },
            .renews = [this] { return now() >= paused_until_; }});
}

void RedrivingClient::take() {
    if (held_ && held_->is_lost()) {
        forget_hold();
    }
    if (!is_waiting_ || !receiver_ || !(receiver_->has_some() || receiver_->is_lost())) {
        return;
    }
    is_waiting_ = false;
    if (receiver_->is_lost()) {
        later({}, [this] { fail(Failure{.code = Errc::connection_lost}); });
        return;
    }
    later({}, [this] {
        for (ports::Delivery* const each : receiver_->take()) {
            const std::int64_t number = each->message.sequence_number();
            if (machine_.received(number, now())) {
                hand_[number] = each;
                letter(number).is_in_hand = true;
            }
        }
        next();
    });
}

void RedrivingClient::perform(const Machine::Hold& step) {
    endpoint_->accept(
        {.entity = route_.entity, .session_id = step.session_id, .deadline = deadline()},
        [this, here = here_, asked = now()](core::Result<ports::SessionLinkPtr> result) {
            if (!*here || is_over_) {
                return;
            }
            if (result) {
                held_ = make_link(std::move(result).value());
                environment_->scheduler.trace("redrive holds ", held_->session_id());
                environment_->hold_for_redrive(route_.entity, held_->session_id(), asked);
                machine_.held();
            } else if (result.failure().code == Errc::session_locked_elsewhere) {
                machine_.busy(now());
            } else if (result.failure().code == Errc::session_required) {
                machine_.cannot_hold();
            } else {
                fail(result.failure());
                return;
            }
            next();
        });
}

void RedrivingClient::forget_hold() { environment_->end_redrive_hold(); }

void RedrivingClient::perform(const Machine::Look& step) { look(step.session_id, 0); }

void RedrivingClient::look(const Machine::SessionId& session, std::int64_t from) {
    endpoint_->peek({.entity = route_.entity,
                     .from_sequence_number = from,
                     .max_messages = page,
                     .session_id = session,
                     .deadline = deadline()},
                    answer<std::vector<ReceivedMessage>>([this, session](const auto& messages) {
                        for (const ReceivedMessage& each : messages) {
                            const auto number = detail::client::redriven_from(
                                *each.shared_content(), route_.source);
                            if (number) {
                                machine_.found_copy(*number);
                                letter(*number).is_known = true;
                            }
                        }
                        if (!messages.empty()) {
                            look(session, messages.back().sequence_number() + 1);
                            return;
                        }
                        machine_.looked();
                        next();
                    }));
}

void RedrivingClient::perform(const Machine::Send& step) {
    if (receiver_->is_lost()) {
        for (const std::int64_t number : step.numbers) {
            letter(number).is_in_hand = false;
            hand_.erase(number);
            machine_.lost(number);
        }
        next();
        return;
    }
    if (held_ && held_->is_lost()) {
        held_.reset();
        machine_.hold_lost();
        next();
        return;
    }
    Machine::Numbers numbers = step.numbers;
    numbers.resize(std::min(numbers.size(), terms_.fit));
    ports::SendRequest request{.entity = route_.target, .deadline = deadline()};
    for (const std::int64_t number : numbers) {
        request.contents.push_back(detail::client::redriven_copy(
            hand_.at(number)->message, route_.source,
            {.now = now(), .wall = environment_->scheduler.wall_now()}));
        environment_->scheduler.trace("redrive sends dead letter ", number);
        environment_->tell(&Oracle::copy_asked, letter(number));
        letter(number).is_asked = true;
    }
    endpoint_->send(std::move(request),
                    answer<std::vector<std::int64_t>>([this, numbers](const auto&) {
                        for (const std::int64_t number : numbers) {
                            letter(number).is_known = true;
                            machine_.sent(number);
                        }
                        next();
                    }));
}

void RedrivingClient::perform(const Machine::Complete& step) {
    if (receiver_->is_lost()) {
        fail(Failure{.code = Errc::connection_lost});
        return;
    }
    for (const std::int64_t number : step.numbers) {
        completing_[number] = true;
    }
    for (const std::int64_t number : step.numbers) {
        environment_->tell(&Oracle::removal_asked, letter(number));
        receiver_->complete(*hand_.at(number));
    }
}

void RedrivingClient::completed(std::int64_t number, const Failure* failure) {
    completing_.erase(number);
    hand_.erase(number);
    letter(number).is_in_hand = false;
    if (failure == nullptr) {
        machine_.completed(number, now());
    } else if (failure->code == Errc::lock_lost || failure->code == Errc::message_not_found) {
        machine_.lost(number);
    } else {
        failed_ = *failure;
    }
    if (completing_.empty()) {
        later({}, [this] {
            if (failed_) {
                fail(*failed_);
            } else {
                next();
            }
        });
    }
}

void RedrivingClient::perform(const Machine::Leave&) {
    if (!held_ || held_->is_lost()) {
        held_.reset();
        machine_.left();
        next();
        return;
    }
    environment_->scheduler.trace("redrive leaves ", held_->session_id());
    environment_->tell(&Oracle::redrive_leaves, held_->session_id());
    forget_hold();
    held_->close(answer<core::Done>([this](core::Done) {
        held_.reset();
        machine_.left();
        next();
    }));
}

void RedrivingClient::perform(const Machine::Finish&) {
    environment_->tell(&Oracle::redrive_done, machine_.report());
    if (!receiver_ || receiver_->is_lost()) {
        over();
        return;
    }
    receiver_->close(answer<core::Done>([this](core::Done) { over(); }));
}

void RedrivingClient::fail(const Failure& why) {
    environment_->scheduler.trace("redrive fails: ", to_string(why.code));
    over();
}

void RedrivingClient::over() {
    is_over_ = true;
    forget_hold();
    environment_->end_redrive();
    later({}, told_);
}

} // namespace sessionq::simulation
