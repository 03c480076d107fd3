// SPDX-License-Identifier: MIT
#include "processor/message/batch_call.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <sessionq/operation_context.hpp>

#include "core/access.hpp"
#include "dispatch/turn_instant.hpp"
#include "processor/message/batch_machine.hpp"
#include "processor/session/session_driver.hpp"

namespace sessionq::detail::processor {

dispatch::Verdict BatchCall::handle(MessageCall& first, TimePoint now) {
    auto* const batch = new BatchCall{first, now}; // it destroys itself in `noticed`
    return first.session().driver()->view().begin(first) ? batch->run() : batch->give_back();
}

BatchCall::BatchCall(MessageCall& first, TimePoint now)
    : driver_{first.session().driver()}, times_{.started = now} {
    const SessionView& session = driver_->view();
    const std::size_t most =
        first.is_guarded() ? 1
                           : std::min<std::size_t>(session.shared().handlers.batch.max_messages,
                                                   session.lane().waiting() + 1);
    calls_.reserve(most);
    contexts_.reserve(most);
    take(first, now);
    take_more(most, now);
}

void BatchCall::take(MessageCall& call, TimePoint now) {
    call.times.started = now;
    deadline_ = deadline_.sooner(call.message.deadline());
    calls_.push_back(&call);
    contexts_.push_back(client::Access::make<MessageContext>(call));
}

/// Takes from the lane the messages that join the batch. The cast is safe, because only messages
/// follow a message in the lane. Nothing is allocated under the lane's lock.
void BatchCall::take_more(std::size_t most, TimePoint now) {
    const SessionView& session = driver_->view();
    const ExpiredMessageAction expired = session.workplace().options().expired_message;
    session.lane().take_more([&](dispatch::Call& next) {
        auto& call = static_cast<MessageCall&>(next);
        const bool joins =
            calls_.size() < most &&
            BatchMachine::joins(call,
                                MessageMachine::has_expired(now, call.message.deadline(), expired),
                                session.examines());
        if (joins) {
            take(call, now);
        }
        return joins;
    });
}

dispatch::Verdict BatchCall::run() noexcept {
    const SessionView& session = driver_->view();
    const Handlers& handlers = session.shared().handlers;
    {
        const OperationContext::Scope scope{begin()};
        const std::shared_ptr<void> entered = span_.enter();
        try {
            if (!handlers.messages) {
                return start_late([this, &handlers](Completion completion) {
                    handlers.start_messages(contexts_, std::move(completion));
                });
            }
            handlers.messages(contexts_);
        } catch (...) {
            error_ = std::current_exception();
        }
    }
    return conclude();
}

OperationContext BatchCall::begin() {
    const SessionView& session = driver_->view();
    span_ = core::MessageSpans::handling_batch(session.shared().environment.tracing,
                                               span_place(session), calls_);
    return core::under_span(span_, session.context(deadline_));
}

SessionView& BatchCall::session_view() const noexcept { return driver_->view(); }

dispatch::Verdict BatchCall::conclude() noexcept {
    const SessionView& session = driver_->view();
    times_.ended = dispatch::TurnInstant::end(*session.shared().environment.clock);
    ending_ = error_ != nullptr ? Ending::failed : Ending::handled;
    end_all();
    return tell();
}

dispatch::Verdict BatchCall::give_back() noexcept {
    ending_ = Ending::given_back;
    for (MessageCall* call : calls_) {
        call->end_with(ending_);
    }
    hold_for(calls_.size());
    driver_->view().skip(*calls_.front());
    BatchMachine::order(calls_);
    return tell();
}

dispatch::Verdict BatchCall::tell() noexcept {
    driver_->view().workplace().notify(*this); // the loop may destroy it from here on
    return dispatch::Verdict::proceed;
}

void BatchCall::hold_for(std::size_t messages) {
    if (messages != 0) {
        driver_->view().lane().hold(static_cast<unsigned>(messages));
    }
}

void BatchCall::end_all() {
    const auto open =
        std::ranges::find_if(calls_, [](const auto* call) { return !call->decided(); });
    const auto stated =
        error_ != nullptr ? calls_.end() : std::ranges::find_if(calls_, &MessageCall::has_failure);
    if (stated != calls_.end()) {
        ending_ = Ending::failed;
    }
    const bool settles = driver_->view().workplace().options().auto_complete;
    const BatchMachine machine{calls_.size(), static_cast<std::size_t>(open - calls_.begin()),
                               error_ != nullptr || is_unsettled(settles, open == calls_.end()),
                               static_cast<std::size_t>(stated - calls_.begin())};
    if (machine.failed() != calls_.size()) {
        MessageCall& failed = *calls_[machine.failed()];
        failed.keep(std::exchange(error_, nullptr));
        core::MessageSpans::end_handling(span_, failed.end().failure);
    }
    span_.end();
    std::size_t holds = 0;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        if (i != machine.failed()) {
            holds += calls_[i]->end_with(machine.ending(i, calls_[i]->decided())) ? 1U : 0U;
        }
    }
    hold_for(holds);
    BatchMachine::order(calls_);
}

void BatchCall::noticed() {
    const std::unique_ptr<BatchCall> self{this};
    driver_->view().workplace().meters.ran_once(times_, ending_);
    for (MessageCall* call : calls_) {
        driver_->ended(*call);
    }
}

} // namespace sessionq::detail::processor
