// SPDX-License-Identifier: MIT
#include "broker/message_store.hpp"

#include <algorithm>
#include <limits>

namespace sessionq::broker {
namespace {

std::uint32_t budgeted_bytes(const StoredMessage& message) noexcept {
    return static_cast<std::uint32_t>(
        std::min<std::size_t>(message.content->bytes() + bytes_of(message.dead_letter.get()),
                              std::numeric_limits<std::uint32_t>::max()));
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
    message.content = std::move(content);
    message.session = session;
    message.sequence = sequence;
    index_.insert(sequence, message);
    last_sequence_ = sequence;
    count(message);
    account_.change(part_, 0, beside_a_message);
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
    message.content = std::move(content);
    count(message);
}

void MessageStore::set_dead_letter(StoredMessage& message,
                                   std::shared_ptr<const DeadLetterInfo> why) {
    message.dead_letter = std::move(why);
    count(message);
}

void MessageStore::move(StoredMessage& message, Place to) noexcept {
    --counts_[static_cast<std::size_t>(message.place)];
    ++counts_[static_cast<std::size_t>(to)];
    message.place = to;
}

void MessageStore::remove(StoredMessage& message) noexcept {
    index_.erase(message.sequence);
    set_bytes(message, 0);
    account_.change(part_, beside_a_message, 0);
    --counts_[static_cast<std::size_t>(message.place)];
    const std::unique_ptr<StoredMessage> removed{&message}; // its hooks unlink themselves
}

void MessageStore::count(StoredMessage& message) noexcept {
    set_bytes(message, budgeted_bytes(message));
}

void MessageStore::set_bytes(StoredMessage& message, std::uint32_t bytes) noexcept {
    account_.change(part_, message.bytes, bytes);
    bytes_ += bytes;
    bytes_ -= message.bytes;
    message.bytes = bytes;
}

} // namespace sessionq::broker
