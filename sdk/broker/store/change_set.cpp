// SPDX-License-Identifier: MIT
#include "broker/store/change_set.hpp"

#include <algorithm>

namespace sessionq::broker {

void ChangeSet::add(Change change) {
    std::visit([this](auto& what) { apply(std::move(what)); }, change);
}

ChangeSet::MessageRow& ChangeSet::row_of(EntityId entity, std::int64_t sequence) {
    const auto [at, is_new] = rows_.try_emplace(Key{entity, sequence}, messages_.size());
    if (is_new) {
        messages_.push_back({.message = {.entity = entity, .sequence = sequence}});
    }
    return messages_[at->second];
}

void ChangeSet::apply(MessageAdded added) {
    std::int64_t& last = last_sequences_[added.message.entity];
    last = std::max(last, added.message.sequence);
    MessageRow& row = row_of(added.message.entity, added.message.sequence);
    row.action = Action::insert;
    row.message = std::move(added.message);
}

void ChangeSet::apply(MessageChanged changed) {
    MessageRow& row = row_of(changed.message.entity, changed.message.sequence);
    MessageContentPtr former = std::move(row.message.content);
    std::vector<EntityId> forwarded_to = std::move(row.message.forwarded_to);
    const bool has_content = changed.message.content != nullptr;
    row.message = std::move(changed.message);
    row.message.forwarded_to = std::move(forwarded_to);
    if (!has_content) {
        row.message.content = std::move(former);
    }
    if (row.action != Action::insert) {
        row.action = row.message.content ? Action::update_with_content : Action::update;
    }
}

void ChangeSet::apply(MessageRemoved removed) {
    MessageRow& row = row_of(removed.entity, removed.sequence);
    row.action = row.action == Action::insert ? Action::nothing : Action::erase;
    row.message.content.reset();
    row.message.forwarded_to.clear();
}

void ChangeSet::apply(MessageForwarded passed) {
    auto& all = row_of(passed.entity, passed.sequence).message.forwarded_to;
    if (std::ranges::find(all, passed.to) == all.end()) { // once, even if several copies arrived
        all.push_back(passed.to);
    }
}

void ChangeSet::apply(QueueRemoved removed) {
    removed_.insert({removed.queue, removed.dead_letters});
    queues_.emplace_back(removed);
}

bool ChangeSet::empty() const noexcept {
    return queues_.empty() && messages_.empty() && states_.empty() && taken_ids_.empty() &&
           last_sequences_.empty();
}

void ChangeSet::clear() {
    queues_.clear();
    messages_.clear();
    rows_.clear();
    states_.clear();
    taken_ids_.clear();
    last_sequences_.clear();
    removed_.clear();
}

} // namespace sessionq::broker
