// SPDX-License-Identifier: MIT
#include "broker/entity_deliveries.hpp"

#include <algorithm>

namespace sessionq::broker {

bool EntityDeliveries::pull(Consumer& consumer, std::uint32_t max, std::uint64_t max_bytes,
                            std::vector<Delivered>& to) {
    if (consumer.ended) {
        return false;
    }
    if (consumer.mode == ReceiveMode::receive_and_delete &&
        entity_.context.is_failing()) { // deliveries could not be recorded as removed
        consumers_.lose(consumer, journal_failing(entity_.name));
        return false;
    }
    std::uint32_t taken = 0;
    std::uint64_t bytes = 0;
    for (; taken < max && bytes < max_bytes; ++taken) {
        StoredMessage* message = entity_.pop_available(consumer.session);
        if (message == nullptr) {
            break;
        }
        entity_.prefetch_available(consumer.session);
        deliver(*message, consumer, to);
        bytes += to.back().bytes;
    }
    consumers_.set_wanted(consumer, bytes < max_bytes ? max - taken : 0);
    return true;
}

void EntityDeliveries::deliver(StoredMessage& message, Consumer& consumer,
                               std::vector<Delivered>& to) {
    Delivered& delivered = to.emplace_back();
    delivered.message = describe_delivery(message);
    delivered.bytes = message.bytes;
    delivered.holder_lost = message.holder_lost;
    message.delivered_before = true;
    if (consumer.mode == ReceiveMode::receive_and_delete) {
        messages_.remove(message);
        return;
    }
    delivered.token = consumer.unsettled.add(message);
    message.holder = &consumer;
    message.token = delivered.token;
    message.timer.reset();
    if (!consumer.has_session) {
        messages_.arm(message, entity_.lock_end());
    }
}

core::Result<core::Done> EntityDeliveries::receive_deferred(Consumer& consumer,
                                                            std::span<const std::int64_t> sequences,
                                                            std::uint64_t max_bytes,
                                                            std::vector<Delivered>& to) {
    if (consumer.ended) {
        return consumers_.lock_lost(consumer);
    }
    if (consumer.mode == ReceiveMode::receive_and_delete && entity_.context.is_failing()) {
        return journal_failing(entity_.name);
    }
    const auto not_found = [this](std::int64_t sequence) {
        return entity_.failure(Errc::message_not_found,
                               "no deferred message has the sequence number " +
                                   std::to_string(sequence));
    };
    std::vector<std::int64_t> sorted{sequences.begin(), sequences.end()};
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
        return not_found(*twice); // it is there once
    }
    std::vector<StoredMessage*> found;
    std::uint64_t bytes = 0;
    for (const std::int64_t sequence : sequences) {
        StoredMessage* message = entity_.store.find(sequence);
        bool is_there = message != nullptr && message->place == Place::deferred &&
                        message->holder == nullptr && message->session == consumer.session;
        if (is_there &&
            message->expires <= entity_.context.now()) { // a deferred message expires on demand
            messages_.expire(*message);
            is_there = false;
        }
        if (!is_there) {
            return not_found(sequence);
        }
        found.push_back(message);
        bytes += message->bytes;
    }
    if (found.size() > 1 && bytes > max_bytes) {
        return entity_.failure(Errc::message_too_large,
                               "the messages take " + std::to_string(bytes) +
                                   " bytes together, and an answer holds " +
                                   std::to_string(max_bytes) + "; ask for fewer at once");
    }
    for (StoredMessage* message : found) {
        deliver(*message, consumer, to);
    }
    return core::Done{};
}

void EntityDeliveries::settle(Consumer& consumer, SettleOrder& order) {
    StoredMessage* message = consumer.unsettled.find(order.token);
    if (message == nullptr) {
        order.failed_with =
            consumer.ended || !consumer.has_session ? Errc::lock_lost : Errc::already_settled;
        return;
    }
    if (order.outcome == Outcome::dead_letter && entity_.is_dead_letter_queue) {
        order.failed_with = Errc::not_supported;
        return;
    }
    if (order.outcome != Outcome::release && entity_.context.is_failing()) {
        order.failed_with = Errc::server_busy; // it stays unsettled
        return;
    }
    const DeadLetterInfo* const why =
        order.outcome == Outcome::dead_letter && order.changes != nullptr
            ? order.changes->dead_letter.get()
            : nullptr;
    const bool has_properties = order.outcome != Outcome::release && order.changes != nullptr &&
                                !order.changes->properties.empty();
    if (has_properties && entity_.context.is_full()) {
        // it stays unsettled and can be settled without properties
        order.failed_with = Errc::quota_exceeded;
        return;
    }
    if (bytes_of(why) > most_reason_bytes) {
        order.failed_with = Errc::message_too_large; // likewise
        return;
    }
    MessageContentPtr changed;
    std::uint64_t more = bytes_of(why);
    if (has_properties) {
        changed = message->content->with_changes(
            {.properties = order.changes->properties, .encoded = order.changes->encoded});
        if (changed->wire_bytes() > entity_.options.max_message_bytes) {
            order.failed_with = Errc::message_too_large;
            return;
        }
        const std::size_t before = message->content->bytes();
        more += changed->bytes() - std::min(before, changed->bytes());
    }
    if (entity_.find_room_fault(more, StoredBytes::For::settlement)) {
        order.failed_with = Errc::quota_exceeded; // likewise
        return;
    }
    consumers_.end_delivery(consumer, order.token);
    if (order.outcome == Outcome::complete) {
        messages_.remove(*message);
        return;
    }
    if (has_properties) {
        entity_.store.replace_content(*message, std::move(changed));
        entity_.journal.note_changed(*message, message->content);
    }
    switch (order.outcome) {
    case Outcome::complete: break;
    case Outcome::abandon: messages_.put_back(*message, true); break;
    case Outcome::release: messages_.put_back(*message, false); break;
    case Outcome::defer:
        entity_.store.move(*message, Place::deferred);
        entity_.journal.note_changed(*message);
        messages_.put_back(*message, false);
        break;
    case Outcome::dead_letter:
        message->holder = nullptr;
        messages_.dead_letter(*message, order.changes != nullptr && order.changes->dead_letter
                                            ? order.changes->dead_letter
                                            : std::make_shared<DeadLetterInfo>());
        break;
    }
}

core::Result<TimePoint> EntityDeliveries::renew_message(Consumer& consumer,
                                                        DeliveryTable::Token token) {
    StoredMessage* message = consumer.has_session ? nullptr : consumer.unsettled.find(token);
    if (message == nullptr) {
        return entity_.failure(Errc::lock_lost, "the message is not locked by this receiver");
    }
    const TimePoint until = entity_.lock_end();
    messages_.arm(*message, until);
    return until;
}

} // namespace sessionq::broker
