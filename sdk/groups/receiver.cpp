#include "groups/receiver.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/delivery_codec.hpp"
#include "amqp/engine.hpp"
#include "core/log.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::groups {
namespace {

using amqp::OutcomeKind;
using amqp::Value;

std::optional<std::int64_t> group_sequence_of(const amqp::EncodedContent& content) {
    amqp::Decoder section{content.sections().properties};
    const auto list = section.read_descriptor() ? section.read_list() : std::nullopt;
    if (!list || list->count <= amqp::MessageProperties::group_sequence) {
        return std::nullopt; // most senders set none, and their lists end before it
    }
    const auto value = content.properties().value(amqp::MessageProperties::group_sequence);
    return value ? value->integer() : std::nullopt;
}

} // namespace

Receiver::Receiver(std::shared_ptr<Hub> hub, std::shared_ptr<UnansweredIds> unanswered,
                   ReceiverTerms terms)
    : hub_{std::move(hub)},
      unanswered_{std::move(unanswered)},
      terms_{std::move(terms)},
      waiters_{hub_->loop(),
               {.code = Errc::no_session_available,
                .detail = "'" + terms_.entity + "' has no group to give"},
               [this] { look_unused_later(); }} {}

Receiver::~Receiver() { shut(); }

void Receiver::shut() {
    shut_ = true;
    loop().timers().cancel(idle_);
    loop().timers().cancel(drain_guard_);
    over_ = nullptr;
    waiters_.clear();
    left_.clear();
    link_.reset();
    session_.reset();
    state_ = State::detached;
}

const ports::Capabilities& Receiver::capabilities() const noexcept {
    return hub_->dialect() != nullptr ? hub_->dialect()->capabilities : common_capabilities();
}

// Accepting

void Receiver::accept(ports::RequestId id, Duration wait, std::size_t budget, Answer answer) {
    if (budget != 0) {
        window_.set_budget(budget);
    }
    const bool probes = wait <= Duration::zero() && !terms_.session_id;
    if (probes) {
        waiters_.add_probe(id, std::move(answer));
    } else {
        waiters_.add(id, terms_.session_id ? std::nullopt : std::optional{wait}, std::move(answer));
    }
    serve();
    want_link();
    if (probes && waiters_.has_probes()) {
        want_drain();
    }
}

void Receiver::cancel(ports::RequestId id) {
    if (waiters_.cancel(id)) {
        look_unused_later();
    }
}

/// Gives groups that are ready to those who wait.
void Receiver::serve() {
    if (state_ != State::attached) {
        return;
    }
    while (!waiters_.empty()) {
        auto made = std::make_shared<GroupSession>(shared_from_this());
        Group* group =
            terms_.session_id ? table_.take(*terms_.session_id, *made) : table_.take_ready(*made);
        if (group == nullptr) {
            return;
        }
        made->begin(*group);
        sessions_.push_back(made.get());
        waiters_.answer_first(std::move(made));
    }
}

// What comes

void Receiver::top_up() {
    if (state_ != State::attached || draining_ || recycles_) {
        return;
    }
    std::uint32_t more = 0;
    if (!terms_.session_id) {
        more = window_.grant(link_->credit());
    } else if (const GroupSession* const session = named_session()) {
        const auto covered =
            static_cast<std::uint32_t>(session->group()->waiting.size()) + link_->credit();
        more = session->credit() > covered ? session->credit() - covered : 0;
    }
    if (more != 0) {
        link_->add_credit(more);
    }
}

void Receiver::on_delivery(amqp::DeliveryHandle delivery) {
    const auto self = shared_from_this();
    amqp::EncodedContent::Blank bytes{link_->size(delivery)};
    link_->read(delivery, bytes.data());
    if (state_ != State::attached) {
        return; // the broker has it back with the link
    }
    ++came_;
    recycles_ = false;
    loop().timers().cancel(idle_);
    const std::size_t size = bytes.size();
    auto received = amqp::decode_delivery(std::move(bytes), hub_->reading());
    if (!received.ok()) {
        core::log(LogLevel::error, "groups", received.failure().to_string());
        delivery.update(
            {.kind = OutcomeKind::rejected,
             .error = {.name = "amqp:decode-error", .text = "the message cannot be decoded"}});
        delivery.settle();
        top_up();
        return;
    }
    amqp::ReceivedDelivery& made = received.value();
    const std::string group{
        made.content->session_id().value_or("")}; // those without one are a group of their own
    made.facts.sequence_number = group_sequence_of(*made.content).value_or(++last_number_);
    if (unanswered_->comes_again(
            made.content->message_id())) { // not every broker counts what a lost connection had
        made.facts.redelivered = true;
        made.facts.delivery_count = std::max(made.facts.delivery_count, 1U);
    }
    if (is_first(made)) {
        marks_first_ = true;
        if (table_.rests(group)) {
            end_session_of(group);
        }
    }
    Held& held = table_.arrived(
        group, delivery, ReceivedMessage{std::move(made.content), std::move(made.facts)}, size);
    delivery.set_context(&held);
    window_.arrived(size);
    if (GroupSession* session = held.group->session) {
        session->give();
    } else {
        serve();
    }
    top_up();
}

/// Whether the broker marks the message as the first of its group since it dealt the group to this
/// link.
bool Receiver::is_first(const amqp::ReceivedDelivery& received) const {
    const std::string_view properties = received.content->sections().application_properties;
    return !dialect().first_for_consumer.empty() && !properties.empty() &&
           !amqp::find_entry(properties, dialect().first_for_consumer).empty();
}

/// Another consumer may have had the group since the session was last given something: its lease is
/// over, and what comes opens the next one.
void Receiver::end_session_of(std::string_view group) {
    const auto found = std::ranges::find_if(sessions_, [&](const GroupSession* each) {
        return each->group() != nullptr && each->id() == group;
    });
    const auto session = (*found)->shared_from_this();
    sessions_.erase(found);
    table_.give_back(*session->group());
    session->lose({.code = Errc::lock_lost,
                   .detail = "the broker dealt group '" + session->id() +
                             "' anew; another consumer may have had it meanwhile"});
}

// What sessions ask for

void Receiver::touched(GroupSession&) { top_up(); }

bool Receiver::drain_for(GroupSession&) {
    if (!terms_.session_id || state_ != State::attached) {
        return false; // what comes later opens the session anew: nothing is lost, and nobody need be asked
    }
    want_drain();
    return true;
}

bool Receiver::settle(Held& held, GroupSession& session, const amqp::Outcome& outcome) {
    window_.gone(held.bytes);
    held.handle.update(outcome);
    const bool is_answered = dialect().returns.settles_in_turn;
    if (is_answered && !removes()) {
        table_.settle(held, session);
    } else {
        unanswered_->settled(held.message.message_id());
        held.handle.settle();
        table_.remove(held);
    }
    top_up();
    return !is_answered || removes();
}

void Receiver::tell_later(GroupSession& session) {
    telling_.push_back(session.weak_from_this());
    if (telling_.size() > 1) {
        return; // one turn for many
    }
    loop().post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            for (const auto& each : std::exchange(self->telling_, {})) {
                if (const auto told = each.lock()) {
                    told->tell_answers();
                }
            }
        }
    });
}

void Receiver::on_disposition(amqp::DeliveryHandle delivery) {
    if (!delivery.remote_settled()) {
        return;
    }
    const auto self = shared_from_this();
    auto* held = static_cast<Held*>(delivery.context());
    if (held == nullptr || held->group == nullptr ||
        std::ranges::find(held->group->settling, held) == held->group->settling.end()) {
        return; // not asked for; what it means shows with the outcome that follows
    }
    delivery.settle();
    GroupSession* const settler = held->settler;
    ports::Delivery* const given = held->given;
    table_.remove(*held);
    if (settler != nullptr) {
        settler->answered(*held, *given);
    }
}

void Receiver::left(GroupSession& session, std::function<void()> done) {
    std::erase(sessions_, &session);
    if (shut_) {
        return;
    }
    if (done) {
        left_.push_back(std::move(done));
    }
    loop().post([weak = weak_from_this()] { // an accept may follow at once
        if (const auto self = weak.lock(); self && !self->shut_) {
            self->serve();
            self->top_up();
            self->look_unused();
            self->look_idle();
        }
    });
}

} // namespace sessionq::groups
