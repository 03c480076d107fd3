// SPDX-License-Identifier: MIT
#include "amqp/sender_channel.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "amqp/codec/batch.hpp"
#include "amqp/codec/decoder.hpp"
#include "core/uuid.hpp"

namespace sessionq::amqp {
namespace {

/// Tags of a send begin with its id.
std::string tag_of(SenderChannel::SendId id, std::size_t message) {
    return std::to_string(id) + "." + std::to_string(message);
}

/// Azure Service Bus takes batches of up to 1 MB, also where a message may be larger. It names
/// their limit in a property of the link. Without that, Azure's clients go by the same 1 MB
/// (azure-sdk-for-net pull 57941, azure-sdk-for-js pull 38049).
std::uint64_t batch_limit(const Attach& answer) {
    constexpr std::uint64_t most = std::uint64_t{1} << 20U;
    const auto properties = decode(answer.properties);
    const Value* const told = properties ? properties->find(max_batch_size) : nullptr;
    const auto limit = told != nullptr ? told->integer() : std::nullopt;
    if (limit && *limit > 0) {
        return static_cast<std::uint64_t>(*limit);
    }
    return answer.max_message_size != 0 ? std::min(answer.max_message_size, most) : most;
}

SenderChannel::SendId id_of(std::string_view tag) {
    SenderChannel::SendId id = 0;
    std::from_chars(tag.data(), tag.data() + tag.size(), id);
    return id;
}

} // namespace

SenderChannel::SenderChannel(core::EventLoop& loop, SenderTerms terms, WhenReady when_ready)
    : RequestQueue{loop,
                   {.peer = "'" + terms.entity + "'",
                    .about = "the send to '" + terms.entity + "'",
                    .explain = terms.explain},
                   std::move(when_ready)},
      sender_terms_{std::move(terms)} {}

void SenderChannel::send(SendId id, std::vector<std::string> encoded, Deadline deadline,
                         Handler handler) {
    Sending sending{.size = sent_size(encoded), .is_alone = encoded.size() == 1};
    if (sender_terms_.batches && encoded.size() > 1) {
        sending.encoded = {make_batch(encoded)};
        sending.format = batch_format;
    } else {
        sending.encoded = std::move(encoded);
    }
    add(id, std::move(sending), deadline, std::move(handler));
}

void SenderChannel::ask_limits(SendId id, Deadline deadline, Handler handler) {
    questions_.push_back(id);
    add(id, {}, deadline, std::move(handler));
}

bool SenderChannel::open_links() {
    sender_ = session_->make_sender("sender-" + core::Uuid::make().to_string());
    if (sender_ == nullptr) {
        return false;
    }
    sender_->set_listener(this);
    sender_->open({.source = {.address = std::string{sender_->name()}},
                   .target = {.address = sender_terms_.entity},
                   .sender_mode = SenderSettleMode::unsettled});
    return true;
}

void SenderChannel::on_link_open() {
    const Attach answer = sender_->remote();
    limits_.message = answer.max_message_size;
    limits_.together = sender_terms_.batches ? batch_limit(answer) : answer.max_message_size;
    RequestQueue::on_link_open();
}

void SenderChannel::transmit() {
    if (!sender_->is_remote_open()) {
        return;
    }
    answer_questions();
    while (!queued_.empty() && sender_->credit() != 0) {
        const auto first = queued_.begin();
        if (first->second.item.encoded.empty()) {
            return; // a question, which the peer's attach has yet to answer
        }
        if (first->second.item.sent == 0 && refuse_too_large(first)) {
            continue;
        }
        transmit_one(first->second);
        if (first->second.item.sent == first->second.item.encoded.size()) {
            end_if_answered(sent_.insert(queued_.extract(first)).position);
        }
    }
}

/// They need no credit. A peer that refuses the link attaches first, without a target.
void SenderChannel::answer_questions() {
    if (questions_.empty() || !sender_->remote().target.present) {
        return;
    }
    std::erase_if(questions_, [this](SendId id) {
        const auto found = queued_.find(id);
        if (found != queued_.end()) {
            reply(queued_, found, limits_);
            return true;
        }
        return !preparing_.contains(id); // it was given up
    });
}

bool SenderChannel::refuse_too_large(Requests::iterator found) {
    const Sending& sending = found->second.item;
    const std::uint64_t limit = sending.is_alone ? limits_.message : limits_.together;
    const std::size_t size = sending.size;
    if (limit == 0 || size <= limit) {
        return false;
    }
    reply(queued_, found,
          Failure{.code = Errc::message_too_large,
                  .detail = terms_.peer + ": " + std::to_string(size) +
                            " bytes at once exceed the limit of " + std::to_string(limit)});
    return true;
}

void SenderChannel::transmit_one(Pending& pending) {
    Sending& sending = pending.item;
    std::string& bytes = sending.encoded[sending.sent];
    sender_->send(tag_of(pending.id, sending.sent), bytes, false, sending.format);
    ++sending.sent;
    pending.is_sent = true;
    bytes = {};
}

void SenderChannel::on_disposition(DeliveryHandle delivery) {
    const OutcomeKind kind = delivery.remote_kind();
    if ((kind == OutcomeKind::none || kind == OutcomeKind::received) &&
        !delivery.remote_settled()) {
        return;
    }
    const SendId id = id_of(delivery.tag());
    const Outcome outcome = delivery.remote_outcome();
    delivery.settle();
    auto found = sent_.find(id);
    if (found == sent_.end()) {
        found = queued_.find(id);
        if (found == queued_.end()) {
            return; // given up
        }
    }
    Sending& sending = found->second.item;
    ++sending.answered;
    if (kind != OutcomeKind::accepted && !sending.failure) {
        sending.failure = kind == OutcomeKind::rejected
                              ? terms_.explain(outcome.error, terms_.peer + " rejected the message")
                              : Failure{.code = Errc::server_busy,
                                        .detail = terms_.peer + " did not accept the message"};
    }
    end_if_answered(found);
}

void SenderChannel::end_if_answered(Requests::iterator found) {
    Sending& sending = found->second.item;
    if (sending.answered != sending.encoded.size()) {
        return;
    }
    if (sending.failure) {
        reply(sent_, found, *std::move(sending.failure));
    } else {
        reply(sent_, found, limits_);
    }
}

} // namespace sessionq::amqp
