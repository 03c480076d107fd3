#include "amqp/link.hpp"

#include <algorithm>

#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/link.h>
#include <proton/session.h>

#include "amqp/engine.hpp"
#include "amqp/frame_shim.hpp"
#include "amqp/proton.hpp"

namespace sessionq::amqp {
namespace {

OutcomeKind kind_of(std::uint64_t state) noexcept {
    switch (state) {
    case 0: return OutcomeKind::none;
    case PN_RECEIVED: return OutcomeKind::received;
    case PN_ACCEPTED: return OutcomeKind::accepted;
    case PN_REJECTED: return OutcomeKind::rejected;
    case PN_RELEASED: return OutcomeKind::released;
    case PN_MODIFIED: return OutcomeKind::modified;
    default: return OutcomeKind::other;
    }
}

} // namespace

std::string_view DeliveryHandle::tag() const noexcept {
    const pn_delivery_tag_t tag = pn_delivery_tag(delivery_);
    const std::string_view whole{tag.start, tag.size};
    auto* link = pn_delivery_link(delivery_);
    const auto* owner = static_cast<const Link*>(pn_link_get_context(link));
    const bool carries_format =
        pn_link_is_sender(link) || (owner != nullptr && owner->carries_formats());
    return carries_format ? split_tag(whole).tag : whole;
}

void DeliveryHandle::set_context(void* context) noexcept {
    pn_delivery_set_context(delivery_, context);
}
void* DeliveryHandle::context() const noexcept { return pn_delivery_get_context(delivery_); }
OutcomeKind DeliveryHandle::remote_kind() const noexcept {
    return kind_of(pn_delivery_remote_state(delivery_));
}
bool DeliveryHandle::remote_settled() const noexcept { return pn_delivery_settled(delivery_); }

Outcome DeliveryHandle::remote_outcome() const {
    Outcome outcome{.kind = remote_kind()};
    pn_disposition_t* remote = pn_delivery_remote(delivery_);
    if (outcome.kind == OutcomeKind::rejected) {
        outcome.error = proton::read(pn_disposition_condition(remote));
    } else if (outcome.kind == OutcomeKind::modified) {
        outcome.delivery_failed = pn_disposition_is_failed(remote);
        outcome.undeliverable_here = pn_disposition_is_undeliverable(remote);
        outcome.annotations = proton::encoded(pn_disposition_annotations(remote));
    }
    return outcome;
}

void DeliveryHandle::update(const Outcome& outcome) {
    pn_disposition_t* local = pn_delivery_local(delivery_);
    if (outcome.kind == OutcomeKind::rejected) {
        proton::set(pn_disposition_condition(local), outcome.error);
    } else if (outcome.kind == OutcomeKind::modified) {
        pn_disposition_set_failed(local, outcome.delivery_failed);
        pn_disposition_set_undeliverable(local, outcome.undeliverable_here);
        proton::set(pn_disposition_annotations(local), outcome.annotations);
    }
    pn_delivery_update(delivery_, static_cast<std::uint64_t>(outcome.kind));
    touch();
}

void DeliveryHandle::touch() noexcept {
    if (const auto* link =
            static_cast<const Link*>(pn_link_get_context(pn_delivery_link(delivery_)))) {
        link->engine_->touch();
    }
}

void DeliveryHandle::settle() {
    touch();
    pn_delivery_settle(delivery_);
    delivery_ = nullptr;
}

Link::Link(Session& session, pn_link_t* link)
    : link_{link}, session_{&session}, engine_{&session.engine()} {
    pn_link_set_context(link_, this);
    session_->links_.push_back(this);
}

Link::~Link() {
    if (being_lost_) {
        std::erase(engine_->lost_links_, this);
    }
    if (link_ == nullptr) {
        return;
    }
    listener_ = nullptr;
    close();
    std::erase(session_->links_, this);
    pn_link_set_context(link_, nullptr);
    if ((pn_link_state(link_) & PN_REMOTE_CLOSED) != 0 || !opened_) {
        engine_->dead_links_.push_back(link_); // otherwise with the peer's detach
    }
}

bool Link::is_sender() const noexcept { return pn_link_is_sender(link_); }
std::string_view Link::name() const noexcept { return pn_link_name(link_); }
bool Link::is_remote_open() const noexcept {
    return link_ != nullptr && (pn_link_state(link_) & PN_REMOTE_ACTIVE) != 0;
}
std::uint64_t Link::remote_max_message_size() const noexcept {
    return pn_link_remote_max_message_size(link_);
}
bool Link::carries_formats() const noexcept { return engine_->reads_message_formats_; }

Attach Link::remote() const {
    Attach attach;
    attach.name = proton::text(pn_link_name(link_));
    attach.source = proton::read(pn_link_remote_source(link_));
    attach.target = proton::read(pn_link_remote_target(link_));
    attach.sender_mode = static_cast<SenderSettleMode>(pn_link_remote_snd_settle_mode(link_));
    attach.receiver_mode = static_cast<ReceiverSettleMode>(pn_link_remote_rcv_settle_mode(link_));
    attach.properties = remote_properties();
    attach.max_message_size = pn_link_remote_max_message_size(link_);
    return attach;
}

bool Link::remote_has_source() const noexcept {
    return pn_terminus_get_type(pn_link_remote_source(link_)) != PN_UNSPECIFIED;
}
std::string Link::remote_filter() const {
    return proton::encoded(pn_terminus_filter(pn_link_remote_source(link_)));
}

std::string Link::remote_properties() const {
    pn_data_t* properties = pn_link_remote_properties(link_);
    return properties != nullptr ? proton::encoded(properties) : std::string{};
}

void Link::open(const Attach& attach) {
    if (link_ == nullptr || opened_) {
        return;
    }
    opened_ = true;
    proton::set(pn_link_source(link_), attach.source, true);
    proton::set(pn_link_target(link_), attach.target, false);
    pn_link_set_snd_settle_mode(link_, static_cast<pn_snd_settle_mode_t>(attach.sender_mode));
    pn_link_set_rcv_settle_mode(link_, static_cast<pn_rcv_settle_mode_t>(attach.receiver_mode));
    if (!attach.properties.empty()) {
        proton::set(pn_link_properties(link_), attach.properties);
    }
    max_message_size_ = attach.max_message_size;
    if (attach.max_message_size != 0) {
        pn_link_set_max_message_size(link_, attach.max_message_size);
    }
    pn_link_open(link_);
    engine_->attached();
}

void Link::open_refused() {
    Attach attach;
    attach.source.present = false;
    attach.target.present = false;
    if (link_ != nullptr) {
        attach.sender_mode = static_cast<SenderSettleMode>(pn_link_remote_snd_settle_mode(link_));
        attach.receiver_mode =
            static_cast<ReceiverSettleMode>(pn_link_remote_rcv_settle_mode(link_));
    }
    open(attach);
}

void Link::refuse(const Condition& condition) {
    open_refused();
    close(condition);
}

void Link::close(const Condition& condition) {
    if (link_ == nullptr || closed_ || !opened_) {
        return;
    }
    closed_ = true;
    proton::set(pn_link_condition(link_), condition);
    pn_link_close(link_);
    engine_->touch();
}

std::uint32_t SenderLink::credit() const noexcept {
    return link_ != nullptr ? static_cast<std::uint32_t>(std::max(0, pn_link_credit(link_))) : 0;
}
bool SenderLink::is_draining() const noexcept {
    return link_ != nullptr && pn_link_get_drain(link_);
}
void SenderLink::drained() {
    if (link_ != nullptr) {
        pn_link_drained(link_);
        engine_->touch();
    }
}

DeliveryHandle SenderLink::send(std::string_view tag, std::string_view encoded, bool settled,
                                std::uint32_t message_format) {
    return send(tag, {encoded, {}}, settled, message_format);
}

DeliveryHandle SenderLink::send(std::string_view tag, const Pieces& encoded, bool settled,
                                std::uint32_t message_format) {
    if (link_ == nullptr) {
        return {};
    }
    const TagBuffer whole = tag_with_format(tag, message_format);
    pn_delivery_t* delivery = pn_delivery(link_, pn_dtag(whole.bytes.data(), whole.size));
    pn_link_send(link_, encoded.head.data(), encoded.head.size());
    pn_link_send(link_, encoded.rest.data(), encoded.rest.size());
    engine_->unsent_ += encoded.head.size() + encoded.rest.size();
    engine_->touch();
    if (settled) {
        pn_delivery_settle(delivery); // advances too
        return {};
    }
    pn_link_advance(link_);
    return DeliveryHandle{delivery};
}

std::size_t SenderLink::buffered() const noexcept {
    return link_ != nullptr ? pn_session_outgoing_bytes(pn_link_session(link_)) : 0;
}

void ReceiverLink::add_credit(std::uint32_t count) {
    if (link_ != nullptr && count != 0) {
        pn_link_set_drain(link_, false);
        pn_link_flow(link_, static_cast<int>(count));
        engine_->touch();
    }
}

std::uint32_t ReceiverLink::credit() const noexcept {
    if (link_ == nullptr) {
        return 0;
    }
    return static_cast<std::uint32_t>(std::max(0, pn_link_credit(link_) - pn_link_queued(link_)));
}

bool ReceiverLink::drain() {
    if (link_ == nullptr || credit() == 0) {
        return false;
    }
    draining_ = true;
    pn_link_drain(link_, 0);
    engine_->touch();
    return true;
}

std::size_t ReceiverLink::size(DeliveryHandle delivery) const noexcept {
    return pn_delivery_pending(delivery.raw());
}

void ReceiverLink::read(DeliveryHandle delivery, char* to) {
    if (link_ != nullptr) {
        pn_link_recv(link_, to, pn_delivery_pending(delivery.raw()));
    }
}

bool ReceiverLink::is_settled_by_sender(DeliveryHandle delivery) const noexcept {
    return delivery.remote_settled();
}

std::uint32_t ReceiverLink::message_format(DeliveryHandle delivery) const noexcept {
    const pn_delivery_tag_t tag = pn_delivery_tag(delivery.raw());
    return carries_formats() ? split_tag({tag.start, tag.size}).message_format : 0;
}

} // namespace sessionq::amqp
