#include "amqp/sender_channel.hpp"

#include <charconv>
#include <utility>

#include "amqp/codec/batch.hpp"
#include "core/uuid.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::amqp {
namespace {

/// Tags of a send begin with its id.
std::string tag_of(SenderChannel::SendId id, std::size_t message) {
    return std::to_string(id) + "." + std::to_string(message);
}

SenderChannel::SendId id_of(std::string_view tag) {
    SenderChannel::SendId id = 0;
    std::from_chars(tag.data(), tag.data() + tag.size(), id);
    return id;
}

} // namespace

SenderChannel::Sending::Sending(SenderChannel& of, SendId number, std::vector<std::string> messages,
                                Handler told)
    : channel{of},
      id{number},
      encoded{std::move(messages)},
      format{of.terms_.batches && encoded.size() > 1 ? batch_format : 0},
      handler{std::move(told)} {
    if (format == batch_format) {
        encoded = {make_batch(encoded)};
    }
}

SenderChannel::SenderChannel(core::EventLoop& loop, SenderTerms terms, WhenReady when_ready)
    : loop_{loop}, terms_{std::move(terms)}, when_ready_{std::move(when_ready)}, replies_{loop} {}

SenderChannel::~SenderChannel() {
    link_.reset();
    session_.reset();
    for (Sends* const sends : {&preparing_, &queued_, &sent_}) {
        while (!sends->empty()) {
            conclude(sends->begin()->first, Errc::cancelled);
        }
    }
    replies_.flush();
}

void SenderChannel::send(SendId id, std::vector<std::string> encoded, Deadline deadline,
                         Handler handler) {
    const auto [made, is_new] =
        preparing_.try_emplace(id, *this, id, std::move(encoded), std::move(handler));
    if (deadline.passed(loop_.now())) {
        conclude(id, Errc::timeout);
        return;
    }
    if (!deadline.is_never()) {
        loop_.timers().arm(made->second.timer, deadline.time());
    }
    when_ready_([handle = anchor_.handle(), id](const core::Result<Engine*>& engine) {
        if (SenderChannel* const channel = handle.get()) {
            channel->on_ready(id, engine);
        }
    });
}

void SenderChannel::on_ready(SendId id, const core::Result<Engine*>& engine) {
    const auto found = preparing_.find(id);
    if (found == preparing_.end()) {
        return;
    }
    if (!engine.ok()) {
        reply(preparing_, found, engine.failure());
    } else if (link_ == nullptr && !attach(*engine.value())) {
        reply(preparing_, found,
              Failure{.code = Errc::resource_exhausted,
                      .detail = "'" + terms_.entity +
                                "': the broker allows no more links on this connection"});
    } else {
        queued_.insert(preparing_.extract(found));
        transmit();
    }
}

bool SenderChannel::attach(Engine& engine) {
    session_ = engine.begin_session();
    link_ = session_ ? session_->make_sender("sender-" + core::Uuid::make().to_string()) : nullptr;
    if (link_ == nullptr) {
        session_.reset();
        return false;
    }
    session_->set_listener(this);
    link_->set_listener(this);
    link_->open({.source = {.address = std::string{link_->name()}},
                 .target = {.address = terms_.entity},
                 .sender_mode = SenderSettleMode::unsettled});
    return true;
}

void SenderChannel::transmit() {
    while (!queued_.empty() && link_->is_remote_open() && link_->credit() != 0) {
        const auto first = queued_.begin();
        transmit_one(first->second);
        if (first->second.sent == first->second.encoded.size()) {
            end_if_answered(sent_.insert(queued_.extract(first)).position);
        }
    }
}

/// A message that is too large fails by itself; those beside it are sent.
void SenderChannel::transmit_one(Sending& sending) {
    std::string& bytes = sending.encoded[sending.sent];
    const std::uint64_t limit = link_->remote_max_message_size();
    if (limit != 0 && bytes.size() > limit) {
        ++sending.answered;
        sending.failure = Failure{.code = Errc::message_too_large,
                                  .detail = "'" + terms_.entity + "': a message of " +
                                            std::to_string(bytes.size()) +
                                            " bytes exceeds the limit of " + std::to_string(limit)};
    } else {
        link_->send(tag_of(sending.id, sending.sent), bytes, false, sending.format);
    }
    ++sending.sent;
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
    Sending& sending = found->second;
    ++sending.answered;
    if (kind != OutcomeKind::accepted && !sending.failure) {
        sending.failure =
            kind == OutcomeKind::rejected
                ? terms_.explain(outcome.error, "'" + terms_.entity + "' rejected the message")
                : Failure{.code = Errc::server_busy,
                          .detail = "'" + terms_.entity + "' did not accept the message"};
    }
    end_if_answered(found);
}

void SenderChannel::end_if_answered(Sends::iterator found) {
    Sending& sending = found->second;
    if (sending.answered == sending.encoded.size()) {
        reply(sent_, found, std::move(sending.failure));
    }
}

void SenderChannel::conclude(SendId id, Errc why) {
    for (Sends* const sends : {&preparing_, &queued_, &sent_}) {
        if (const auto found = sends->find(id); found != sends->end()) {
            reply(*sends, found, interrupted(found->second, {.code = why}));
            return;
        }
    }
}

void SenderChannel::on_lost(const Condition& condition) {
    link_.reset();
    session_.reset();
    const Failure why = terms_.explain(condition, "the link to '" + terms_.entity + "' was lost");
    for (Sends* const sends : {&queued_, &sent_}) {
        while (!sends->empty()) {
            reply(*sends, sends->begin(), interrupted(sends->begin()->second, why));
        }
    }
}

Failure SenderChannel::interrupted(const Sending& sending, Failure why) const {
    why.outcome_unknown = sending.sent != 0;
    if (why.detail.empty()) {
        why.detail = "the send to '" + terms_.entity + "'";
    }
    return why;
}

void SenderChannel::reply(Sends& from, Sends::iterator sending, std::optional<Failure> failure) {
    replies_.push(
        [handler = std::move(sending->second.handler), failure = std::move(failure)]() mutable {
            if (failure) {
                handler(*std::move(failure));
            } else {
                handler(core::Done{});
            }
        });
    from.erase(sending);
}

void SenderChannel::on_sender(SenderLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "a client serves no links"});
}
void SenderChannel::on_receiver(ReceiverLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "a client serves no links"});
}

} // namespace sessionq::amqp
