// SPDX-License-Identifier: MIT
#include "broker/purgatory.hpp"

namespace sessionq::broker {

OperationId Purgatory::add(OperationPtr operation, int priority, TimePoint due) {
    Operation& waiting = *operation;
    waiting.id_ = ++last_id_;
    waiting.priority_ = priority;
    waiting.purgatory_ = this;
    lines_[priority].push_back(waiting);
    if (due != TimePoint::max()) {
        context_.arm(waiting.timer_, due);
    }
    operations_.emplace(waiting.id_, std::move(operation));
    return waiting.id_;
}

Purgatory::OperationPtr Purgatory::take(OperationId id) {
    auto node = operations_.extract(id);
    if (node.empty()) {
        return nullptr;
    }
    OperationPtr operation = std::move(node.mapped());
    context_.cancel(operation->timer_);
    Line::remove(*operation);
    if (const auto line = lines_.find(operation->priority_); line->second.empty()) {
        lines_.erase(line);
    }
    return operation;
}

void Purgatory::expire(Operation& operation) {
    const OperationPtr expired = take(operation.id_);
    expired->on_expired();
}

} // namespace sessionq::broker
