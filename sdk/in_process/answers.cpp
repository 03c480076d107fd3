#include "in_process/answers.hpp"

namespace sessionq::in_process {

/// Brings the journal's word from its thread to the loop.
class Answers::Commit final : public Pumped {
public:
    Commit(std::weak_ptr<Pumped> answers, std::uint64_t number)
        : answers_{std::move(answers)}, number_{number} {}

    void note(const Failure* why) {
        if (why != nullptr) {
            failure_ = *why;
        }
    }

    void turn() override {
        const auto alive = std::static_pointer_cast<Answers>(answers_.lock());
        if (alive == nullptr) {
            return;
        }
        if (const auto node = alive->held_.extract(number_)) { // else it was cancelled
            node.mapped()(failure_ ? &*failure_ : nullptr);
        }
    }

private:
    const std::weak_ptr<Pumped> answers_;
    const std::uint64_t number_;
    std::optional<Failure> failure_{};
};

void Answers::hold(WhenKept action) {
    held_.emplace(++last_held_, std::move(action));
    journal_->when_durable(
        [pump = pump_, commit = std::make_shared<Commit>(weak_from_this(), last_held_)](
            broker::Journal::Mark, const Failure* why) {
            commit->note(why);
            pump->stir(*commit);
        });
}

} // namespace sessionq::in_process
