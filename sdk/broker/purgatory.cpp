#include "broker/purgatory.hpp"

#include <limits>

namespace sessionq::broker {

OperationId Purgatory::watch(OperationPtr operation, std::span<const Key> keys, int priority,
                             TimePoint due) {
    Operation& waiting = *operation;
    waiting.id_ = ++last_id_;
    waiting.priority_ = priority;
    waiting.purgatory_ = this;
    waiting.watches_ = std::make_unique<Operation::Watch[]>(keys.size());
    for (const Key key : keys) {
        Operation::Watch& watch = waiting.watches_[waiting.watch_count_++];
        watch.operation = &waiting;
        watch.key = key;
        lines_[{key, priority}].push_back(watch);
    }
    if (due != TimePoint::max()) {
        context_.arm(waiting.timer_, due);
    }
    operations_.emplace(waiting.id_, std::move(operation));
    return waiting.id_;
}

Purgatory::Operation* Purgatory::first(Key key) const noexcept {
    const auto at = lines_.lower_bound({key, std::numeric_limits<int>::max()});
    const Operation::Watch* watch =
        at != lines_.end() && at->first.key == key ? at->second.front() : nullptr;
    return watch != nullptr ? watch->operation : nullptr;
}

Purgatory::OperationPtr Purgatory::take(OperationId id) {
    auto node = operations_.extract(id);
    if (node.empty()) {
        return nullptr;
    }
    OperationPtr operation = std::move(node.mapped());
    context_.cancel(operation->timer_);
    for (std::size_t i = 0; i < operation->watch_count_; ++i) {
        Operation::Watch& watch = operation->watches_[i];
        watch.unlink();
        if (const auto line = lines_.find({watch.key, operation->priority_});
            line != lines_.end() && line->second.empty()) {
            lines_.erase(line);
        }
    }
    return operation;
}

void Purgatory::expire(Operation& operation) {
    const OperationPtr expired = take(operation.id_);
    expired->on_expired();
}

} // namespace sessionq::broker
