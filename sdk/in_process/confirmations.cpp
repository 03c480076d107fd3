// SPDX-License-Identifier: MIT
#include "in_process/confirmations.hpp"

#include <optional>

#include "timing/timer_service.hpp"

namespace sessionq::in_process {

/// Brings the journal's answer from its thread to the loop.
class Confirmations::Commit final : public TurnTaker {
public:
    Commit(core::WeakHandle<Confirmations> owner, ports::RequestId id)
        : owner_{std::move(owner)}, id_{id} {}

    void note(const Failure* why) {
        if (why != nullptr) {
            failure_ = *why;
        }
    }

    void turn() override {
        if (Confirmations* const owner = owner_.get()) {
            owner->end(id_, failure_ ? &*failure_ : nullptr);
        }
    }

private:
    const core::WeakHandle<Confirmations> owner_;
    const ports::RequestId id_;
    std::optional<Failure> failure_{};
};

ports::RequestId Confirmations::hold(WhenKept action, Deadline deadline) {
    const ports::RequestId id = next_id();
    const auto [held, is_new] = held_.try_emplace(id, *this, id, std::move(action));
    if (!deadline.is_never()) {
        turns_->loop().timers().arm(held->second.timer, deadline.time());
    }
    journal_->when_durable(
        [turns = turns_, commit = std::make_shared<Commit>(anchor_.handle(), id)](
            broker::Journal::Mark, const Failure* why) {
            commit->note(why);
            turns->notify(*commit);
        });
    return id;
}

void Confirmations::when_kept(core::Task task) {
    hold([this, task = std::make_shared<core::Task>(std::move(task))](const Failure* why) {
        if (why == nullptr) {
            (*task)();
        } else {
            when_kept(std::move(*task));
        }
    });
}

void Confirmations::end(ports::RequestId id, const Failure* why) {
    if (const auto node = held_.extract(id)) {
        node.mapped().action(why);
    }
}

/// The broker has made the change; only whether it is kept is not known yet.
void Confirmations::end_early(ports::RequestId id, Errc why) {
    const Failure failure{.code = why, .outcome_unknown = true};
    end(id, &failure);
}

void Confirmations::cancel() {
    phase_ = Phase::cancelled;
    replies_.flush();
    while (!held_.empty()) {
        Failure why = closed();
        why.outcome_unknown = true;
        end(held_.begin()->first, &why);
    }
}

Failure Confirmations::closed() {
    return {.code = Errc::cancelled, .detail = "the client is closed"};
}

} // namespace sessionq::in_process
