// SPDX-License-Identifier: MIT
#include <string>
#include <utility>

#include "amqp/engine/engine.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {

using namespace transfer_field;

namespace {

bool is_above(std::uint64_t max_message_size, std::size_t size) noexcept {
    return max_message_size != 0 && size > max_message_size;
}

} // namespace

void ReceiverLink::add_credit(std::uint32_t count) {
    if (may_speak() && count != 0) {
        credit_.add(count);
        session_->want_flow(*this);
    }
}

bool ReceiverLink::drain() {
    const bool is_over = credit_.left() == 0 && partial_ == nullptr;
    if (!may_speak() || is_over) {
        return false;
    }
    credit_.ask_for_drain();
    session_->want_flow(*this);
    return true;
}

void ReceiverLink::tell_flow() {
    if (may_speak() && partial_ == nullptr && credit_.take_drained() && listening() != nullptr) {
        listener_->on_drained();
    }
}

void ReceiverLink::peer_attached(const Fields& attach) {
    Link::peer_attached(attach);
    credit_.counts_from(attach.number(attach_field::initial_delivery_count));
}

void ReceiverLink::drop_bytes() noexcept {
    if (partial_ != nullptr) {
        const std::size_t bytes = partial_->bytes.size();
        partial_.reset();
        engine_->arriving_ -= bytes;
        session_->window_.parts_gone(bytes);
    }
}

Condition ReceiverLink::take(const Fields& transfer) {
    if (!may_speak() || !opened_) {
        return {};
    }
    if (partial_ != nullptr) {
        return take_more(transfer);
    }
    const std::string_view tag = transfer.text(delivery_tag);
    if (!transfer.has(delivery_id) || !transfer.has(delivery_tag) ||
        tag.size() > longest_received_tag) {
        return {.name = "amqp:invalid-field",
                .text = "a message begins without a delivery-id and a delivery-tag of at most " +
                        std::to_string(longest_received_tag) + " bytes",
                .found = Errc::protocol_error};
    }
    if (!credit_.begun()) {
        fail({.name = "amqp:link:transfer-limit-exceeded",
              .text = "the peer sent a message without credit",
              .found = Errc::protocol_error});
        return {};
    }
    if (transfer.is_true(resume)) {
        fail({.name = "amqp:not-implemented",
              .text = "deliveries cannot be resumed",
              .found = Errc::protocol_error});
        return {};
    }
    if (transfer.is_true(aborted)) {
        return {};
    }
    const TransferFacts facts{.id = transfer.number(delivery_id),
                              .message_format = transfer.number(message_format),
                              .state = Outcome::kind_of(transfer.raw(state)),
                              .settled = transfer.is_true(settled)};
    const std::string_view payload = transfer.payload();
    if (transfer.is_true(more) || is_above(max_message_size_, payload.size())) {
        partial_ = std::make_unique<PartialMessage>(
            PartialMessage{.tag = std::string{tag}, .facts = facts});
        return take_more(transfer);
    }
    deliver(facts, tag, payload);
    return {};
}

bool ReceiverLink::continues(const Fields& transfer) const {
    // Some peers number the last transfer anew. The tag tells it from another delivery.
    return !transfer.has(delivery_id) || transfer.number(delivery_id) == partial_->facts.id ||
           (transfer.has(delivery_tag) && transfer.text(delivery_tag) == partial_->tag);
}

Condition ReceiverLink::take_more(const Fields& transfer) {
    if (!continues(transfer)) {
        return {.name = "amqp:not-allowed",
                .text = "a message begins before the one before it has ended",
                .found = Errc::protocol_error};
    }
    if (transfer.is_true(aborted)) {
        drop_bytes();
        return {};
    }
    partial_->facts.settled = partial_->facts.settled || transfer.is_true(settled);
    const bool is_last = !transfer.is_true(more);
    if (partial_->refused) {
        if (is_last) {
            partial_.reset();
        }
        return {};
    }
    if (is_above(max_message_size_, partial_->bytes.size() + transfer.payload().size())) {
        refuse_by_size(is_last);
        return {};
    }
    partial_->bytes.append(transfer.payload());
    engine_->arriving_ += transfer.payload().size();
    session_->window_.part_came(transfer.payload().size());
    if (is_last) {
        const auto whole = std::exchange(partial_, nullptr);
        engine_->arriving_ -= whole->bytes.size();
        session_->window_.parts_gone(whole->bytes.size());
        deliver(whole->facts, whole->tag, whole->bytes.view());
    }
    return {};
}

void ReceiverLink::deliver(const TransferFacts& facts, std::string_view tag,
                           std::string_view encoded) {
    if (listening() == nullptr) {
        return;
    }
    Delivery& made =
        facts.settled ? make_delivery(tag, facts.message_format) : keep_unsettled(facts, tag);
    made.remote_settled = facts.settled;
    made.remote_kind = facts.state;
    listener_->on_delivery(DeliveryHandle{&made}, encoded);
}

Delivery& ReceiverLink::keep_unsettled(const TransferFacts& facts, std::string_view tag) {
    Delivery& made = make_delivery(tag, facts.message_format);
    made.id = facts.id;
    made.is_numbered = true;
    session_->table(false).add(made);
    return made;
}

// A sender that has settled its message hears only that the link is closed.
void ReceiverLink::refuse_by_size(bool is_last) {
    const Condition why{.name = "amqp:link:message-size-exceeded",
                        .text = "a message is larger than the link's max-message-size, " +
                                std::to_string(max_message_size_) + " bytes",
                        .found = Errc::message_too_large};
    if (!partial_->facts.settled) {
        Delivery& made = keep_unsettled(partial_->facts, partial_->tag);
        DeliveryHandle{&made}.settle({.kind = OutcomeKind::rejected, .error = why});
    }
    const bool goes_on =
        !partial_->facts.settled && listening() != nullptr && listener_->on_message_too_large();
    if (!goes_on) {
        fail(why);
        return;
    }
    PartialMessage rest{.tag = std::move(partial_->tag), .facts = partial_->facts, .refused = true};
    drop_bytes();
    if (!is_last) {
        partial_ = std::make_unique<PartialMessage>(std::move(rest));
    }
}

void ReceiverLink::fail(const Condition& why) {
    close(why);
    tell_closed(why, true);
}

std::vector<DeliveryHandle> ReceiverLink::unsettled() const {
    std::vector<DeliveryHandle> all;
    for (Delivery* each = deliveries_.front(); each != nullptr; each = deliveries_.next(*each)) {
        all.emplace_back(each);
    }
    return all;
}

} // namespace sessionq::amqp
