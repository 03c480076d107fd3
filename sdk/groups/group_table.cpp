#include "groups/group_table.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::groups {
namespace {

template <typename List>
void erase_one(List& from, const Held& held) {
    if (const auto found = std::find(from.begin(), from.end(), &held); found != from.end()) {
        from.erase(found);
    }
}

} // namespace

Held& GroupTable::arrived(std::string_view group, amqp::DeliveryHandle handle,
                          ReceivedMessage message, std::size_t bytes) {
    Group& to = find_or_make(group);
    if (free_.empty()) {
        free_.push_back(&store_.emplace_back());
    }
    Held& held = *free_.back();
    free_.pop_back();
    held = {.handle = handle,
            .message = std::move(message),
            .bytes = bytes,
            .order = ++last_order_,
            .group = &to};
    to.waiting.push_back(&held);
    update_ready(to);
    return held;
}

Group& GroupTable::find_or_make(std::string_view id) {
    if (const auto found = groups_.find(id); found != groups_.end()) {
        return *found->second;
    }
    auto made = std::make_unique<Group>(Group{.id = std::string{id}});
    Group& group = *made;
    groups_.emplace(group.id, std::move(made));
    return group;
}

Group& GroupTable::take_ready(GroupLink& session) {
    Group& group = *ready_.front();
    group.session = &session;
    update_ready(group);
    return group;
}

Group& GroupTable::take(std::string_view id, GroupLink& session) {
    Group& group = find_or_make(id);
    group.session = &session;
    update_ready(group);
    return group;
}

bool GroupTable::is_settling(const Held& held) noexcept {
    return held.group != nullptr &&
           std::ranges::find(held.group->settling, &held) != held.group->settling.end();
}

void GroupTable::give_back(Group& group) {
    group.session = nullptr;
    group.begun = false;
    while (!group.given.empty()) {
        undo(*group.given.back());
    }
    update_ready(group);
}

Held* GroupTable::next_for(Group& group) {
    if (group.returning || group.waiting.empty()) {
        return nullptr;
    }
    Held* held = group.waiting.front();
    group.waiting.pop_front();
    insert(group.given, *held);
    group.begun = true;
    return held;
}

void GroupTable::undo(Held& held) {
    held.given = nullptr;
    erase_one(held.group->given, held);
    insert(held.group->waiting, held);
    update_ready(*held.group);
}

void GroupTable::fail(Held& held) {
    Group& group = *held.group;
    held.failed = true;
    if (!std::exchange(group.returning, true)) {
        ++returning_;
    }
    undo(held);
}

void GroupTable::remove(Held& held) {
    Group& group = *held.group;
    erase_one(group.waiting, held);
    erase_one(group.given, held);
    erase_one(group.settling, held);
    forget(held);
    update_ready(group);
}

void GroupTable::settle(Held& held, GroupLink& settler) {
    held.settler = &settler;
    erase_one(held.group->given, held);
    held.group->settling.push_back(&held);
}

void GroupTable::forget(Held& held) {
    held = {};
    free_.push_back(&held);
}

std::vector<Held*> GroupTable::take_returning() {
    std::vector<Held*> taken;
    for (auto& [id, group] : groups_) {
        if (group->returning) {
            taken.insert(taken.end(), group->waiting.begin(), group->waiting.end());
            group->returning = false;
        }
    }
    returning_ = 0;
    return taken;
}

std::vector<Held*> GroupTable::take_waiting() {
    std::vector<Held*> taken;
    for (auto& [id, group] : groups_) {
        if (group->session == nullptr) {
            taken.insert(taken.end(), group->waiting.begin(), group->waiting.end());
            returning_ -= std::exchange(group->returning, false) ? 1 : 0;
        }
    }
    std::sort(taken.begin(), taken.end(),
              [](const Held* left, const Held* right) { return left->order < right->order; });
    return taken;
}

bool GroupTable::rests(std::string_view id) const {
    const auto found = groups_.find(id);
    if (found == groups_.end()) {
        return false;
    }
    const Group& group = *found->second;
    return group.session != nullptr && group.begun && group.waiting.empty() &&
           group.given.empty() && group.settling.empty();
}

void GroupTable::lose_all() {
    ready_.clear();
    returning_ = 0;
    groups_.clear();
    free_.clear();
    for (Held& held : store_) {
        held = {};
        free_.push_back(&held);
    }
}

void GroupTable::update_ready(Group& group) {
    const bool is_ready = group.session == nullptr && !group.returning && !group.waiting.empty();
    if (is_ready && !group.ready) {
        group.place = ready_.insert(ready_.end(), &group);
    } else if (!is_ready && group.ready) {
        ready_.erase(group.place);
    }
    group.ready = is_ready;
    if (group.session == nullptr && group.waiting.empty() && group.given.empty() &&
        group.settling.empty()) {
        returning_ -= group.returning ? 1 : 0;
        groups_.erase(groups_.find(group.id));
    }
}

/// The place is mostly at the end.
void GroupTable::insert(std::deque<Held*>& into, Held& held) {
    auto at = into.end();
    while (at != into.begin() && (*std::prev(at))->order > held.order) {
        --at;
    }
    into.insert(at, &held);
}

} // namespace sessionq::groups
