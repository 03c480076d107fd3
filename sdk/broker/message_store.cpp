// SPDX-License-Identifier: MIT
#include "broker/message_store.hpp"

#include <algorithm>
#include <limits>

namespace sessionq::broker {
namespace {

std::uint32_t budgeted_bytes(const MessageContent& content) noexcept {
    return static_cast<std::uint32_t>(
        std::min<std::size_t>(content.bytes(), std::numeric_limits<std::uint32_t>::max()));
}

} // namespace

MessageStore::~MessageStore() {
    while (StoredMessage* message = index_.at_or_after(std::numeric_limits<std::int64_t>::min())) {
        remove(*message);
    }
}

StoredMessage& MessageStore::add(MessageContentPtr content, Session* session,
                                 std::int64_t sequence) {
    auto made = std::make_unique<StoredMessage>();
    StoredMessage& message = *made;
    message.bytes = budgeted_bytes(*content);
    message.content = std::move(content);
    message.session = session;
    message.sequence = sequence;
    index_.insert(sequence, message);
    last_sequence_ = sequence;
    count(message);
    ++counts_[static_cast<std::size_t>(message.place)];
    if (session != nullptr) {
        session->messages.push_back(message);
    }
    static_cast<void>(made.release()); // the index refers to it now; `remove` deletes it
    return message;
}

void MessageStore::renumber(StoredMessage& message) {
    index_.insert(last_sequence_ + 1, message);
    index_.erase(message.sequence);
    message.sequence = ++last_sequence_;
    if (message.session != nullptr) {
        message.session->messages.remove(message);
        message.session->messages.push_back(message);
    }
}

void MessageStore::replace_content(StoredMessage& message, MessageContentPtr content) {
    count_off(message);
    message.bytes = budgeted_bytes(*content);
    count(message);
    message.content = std::move(content);
}

void MessageStore::move(StoredMessage& message, Place to) noexcept {
    --counts_[static_cast<std::size_t>(message.place)];
    ++counts_[static_cast<std::size_t>(to)];
    message.place = to;
}

void MessageStore::remove(StoredMessage& message) noexcept {
    index_.erase(message.sequence);
    count_off(message);
    --counts_[static_cast<std::size_t>(message.place)];
    const std::unique_ptr<StoredMessage> removed{&message}; // its hooks unlink themselves
}

void MessageStore::count(const StoredMessage& message) noexcept {
    bytes_ += message.bytes;
    if (account_ != nullptr) {
        account_->add(message.bytes);
    }
}

void MessageStore::count_off(const StoredMessage& message) noexcept {
    bytes_ -= message.bytes;
    if (account_ != nullptr) {
        account_->take(message.bytes);
    }
}

} // namespace sessionq::broker
