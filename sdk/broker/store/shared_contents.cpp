// SPDX-License-Identifier: MIT
#include "broker/store/shared_contents.hpp"

#include <utility>

namespace sessionq::broker {

void SharedContents::add(std::int64_t id, MessageContentPtr content) {
    remember(id);
    put(id, {.content = std::move(content)});
}

MessageContentPtr SharedContents::content_of(std::int64_t id) const {
    const auto found = contents_.find(id);
    return found != contents_.end() ? found->second.content : nullptr;
}

std::int64_t SharedContents::id_of(const MessageContent& content) const {
    const auto found = ids_.find(&content);
    return found != ids_.end() ? found->second : 0;
}

void SharedContents::use(std::int64_t id) {
    if (const auto found = contents_.find(id); found != contents_.end()) {
        remember(id);
        ++found->second.uses;
    }
}

void SharedContents::release(std::int64_t id) {
    if (const auto found = contents_.find(id); found != contents_.end()) {
        remember(id);
        --found->second.uses;
    }
}

std::vector<std::int64_t> SharedContents::take_unused() {
    std::vector<std::int64_t> unused;
    for (const auto& [id, former] : former_) {
        const auto found = contents_.find(id);
        if (found != contents_.end() && found->second.uses <= 0) {
            unused.push_back(id);
            put(id, {});
        }
    }
    return unused;
}

void SharedContents::undo() {
    for (auto& [id, former] : former_) {
        put(id, std::move(former));
    }
    former_.clear();
}

void SharedContents::remember(std::int64_t id) {
    const auto found = contents_.find(id);
    former_.try_emplace(id, found != contents_.end() ? found->second : Content{});
}

void SharedContents::put(std::int64_t id, Content content) {
    if (const auto found = contents_.find(id); found != contents_.end()) {
        ids_.erase(found->second.content.get());
        contents_.erase(found);
    }
    if (content.content != nullptr) {
        ids_.emplace(content.content.get(), id);
        contents_.emplace(id, std::move(content));
    }
}

} // namespace sessionq::broker
