// SPDX-License-Identifier: MIT
#include "groups/group_table.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::groups {

using Place = Held::Place;

Held& GroupTable::arrived(std::string_view id, amqp::DeliveryHandle handle, ReceivedMessage message,
                          std::size_t bytes) {
    Group& group = find_or_make(id);
    if (free_.empty()) {
        free_.push_back(&store_.emplace_back());
    }
    Held& held = *free_.back();
    free_.pop_back();
    held = {.handle = handle,
            .message = std::move(message),
            .bytes = bytes,
            .order = ++last_order_,
            .group = &group};
    group.waiting.push_back(&held);
    window_.arrived(bytes);
    update_ready(group);
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

Group& GroupTable::take_ready(GroupLink& session) { return take(ready_.front()->id, session); }

Group& GroupTable::take(std::string_view id, GroupLink& session) {
    Group& group = find_or_make(id);
    group.session = &session;
    update_ready(group);
    return group;
}

void GroupTable::give_back(Group& group) {
    group.session = nullptr;
    group.begun = false;
    for (Held* const each : std::exchange(group.given, {})) {
        if (each->place == Place::settling) {
            group.given.push_back(each);
        } else {
            wait_again(*each);
        }
    }
    update_ready(group);
}

Held* GroupTable::next_for(Group& group) {
    if (group.returning || group.waiting.empty()) {
        return nullptr;
    }
    Held* const held = group.waiting.front();
    group.waiting.pop_front();
    group.given.push_back(held);
    held->place = Place::given;
    group.begun = true;
    return held;
}

void GroupTable::undo(Held& held) {
    std::erase(held.group->given, &held);
    wait_again(held);
}

void GroupTable::fail(Held& held, core::WeakHandle<GroupLink> settler) {
    held.failed = true;
    held.settler = std::move(settler);
    held.group->returning = true;
    undo(held);
}

void GroupTable::settle(Held& held, core::WeakHandle<GroupLink> settler) {
    held.settler = std::move(settler);
    held.place = Place::settling;
    window_.gone(held.bytes);
}

void GroupTable::remove(Held& held) {
    Group& group = *held.group;
    if (held.place != Place::settling) {
        window_.gone(held.bytes);
    }
    if (held.place == Place::waiting) {
        std::erase(group.waiting, &held);
    } else {
        std::erase(group.given, &held);
    }
    held = {};
    free_.push_back(&held);
    update_ready(group);
}

template <typename Wanted>
std::vector<Held*> GroupTable::take_from(Wanted wanted) {
    std::vector<Held*> taken;
    for (const auto& [id, group] : groups_) {
        if (wanted(*group)) {
            taken.insert(taken.end(), group->waiting.begin(), group->waiting.end());
            group->returning = false;
        }
    }
    std::ranges::sort(taken, {}, &Held::order);
    return taken;
}

std::vector<Held*> GroupTable::take_returning() {
    return take_from([](const Group& group) { return group.returning; });
}

std::vector<Held*> GroupTable::take_waiting() {
    return take_from([](const Group& group) { return group.session == nullptr; });
}

GroupLink* GroupTable::holder(std::string_view id) const {
    const auto found = groups_.find(id);
    return found != groups_.end() ? found->second->session : nullptr;
}

GroupLink* GroupTable::resting(std::string_view id) const {
    const auto found = groups_.find(id);
    return found != groups_.end() && found->second->begun && found->second->waiting.empty() &&
                   found->second->given.empty()
               ? found->second->session
               : nullptr;
}

void GroupTable::lose_all() {
    ready_.clear();
    groups_.clear();
    free_.clear();
    store_.clear();
    window_.lost();
}

void GroupTable::update_ready(Group& group) {
    const bool is_ready = group.session == nullptr && !group.returning && !group.waiting.empty();
    if (is_ready && !group.ready) {
        group.place = ready_.insert(ready_.end(), &group);
    } else if (!is_ready && group.ready) {
        ready_.erase(group.place);
    }
    group.ready = is_ready;
    if (group.session == nullptr && group.waiting.empty() && group.given.empty()) {
        groups_.erase(groups_.find(group.id));
    }
}

/// Puts a message back among the waiting messages, in order. Usually its place is the front.
void GroupTable::wait_again(Held& held) {
    auto& waiting = held.group->waiting;
    held.place = Place::waiting;
    waiting.insert(std::ranges::upper_bound(waiting, held.order, {}, &Held::order), &held);
}

} // namespace sessionq::groups
