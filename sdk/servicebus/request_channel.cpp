#include "servicebus/request_channel.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_sections.hpp"
#include "core/uuid.hpp"
#include "servicebus/conditions.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::servicebus {
namespace {

using amqp::Map;
using amqp::Value;

constexpr std::uint32_t reply_credit = 1000;

/// The first of the keys that is there: brokers spell them in two ways.
const Value* find(const Map& map, std::string_view key, std::string_view other) {
    for (const std::string_view each : {key, other}) {
        const auto found = std::find_if(
            map.begin(), map.end(), [&](const auto& entry) { return entry.first.text() == each; });
        if (found != map.end()) {
            return &found->second;
        }
    }
    return nullptr;
}

std::string text_of(const Value* value) {
    return value != nullptr ? std::string{value->text().value_or("")} : std::string{};
}

std::optional<Value> inside(std::string_view section) {
    const auto whole = section.empty() ? std::nullopt : amqp::decode(section);
    return whole && whole->described() != nullptr ? std::optional{whole->described()->value}
                                                  : std::nullopt;
}

} // namespace

Failure Response::to_failure(std::string what) const {
    amqp::Condition said{.name = condition, .text = description};
    if (said.empty()) {
        said.name = status == 401 || status == 403 ? "amqp:unauthorized-access"
                    : status == 404                ? "amqp:not-found"
                    : status == 410                ? "com.microsoft:message-lock-lost"
                                                   : "amqp:internal-error";
    }
    return servicebus::to_failure(said, std::move(what));
}

RequestChannel::RequestChannel(core::EventLoop& loop, amqp::SessionPtr session, std::string node)
    : loop_{loop},
      node_{std::move(node)},
      reply_to_{"reply-" + core::Uuid::make().to_string()},
      session_{std::move(session)} {
    if (session_ == nullptr) {
        lost_ = true;
        return;
    }
    session_->set_listener(this);
    sender_ = session_->make_sender("request-" + core::Uuid::make().to_string());
    receiver_ = session_->make_receiver("response-" + core::Uuid::make().to_string());
    if (sender_ == nullptr || receiver_ == nullptr) {
        lost_ = true;
        return;
    }
    sender_->set_listener(this);
    receiver_->set_listener(this);
    sender_->open({.source = {.address = reply_to_},
                   .target = {.address = node_},
                   .sender_mode = amqp::SenderSettleMode::settled});
    receiver_->open({.source = {.address = node_},
                     .target = {.address = reply_to_},
                     .sender_mode = amqp::SenderSettleMode::settled});
    receiver_->add_credit(reply_credit);
}

RequestChannel::~RequestChannel() {
    loop_.timers().cancel(timer_);
    sender_.reset();
    receiver_.reset();
    session_.reset();
    for (auto& [id, pending] : std::exchange(pending_, {})) {
        pending.handler(
            Failure{.code = Errc::cancelled, .detail = "the connection is being closed"});
    }
}

void RequestChannel::request(Request request, Deadline deadline, Handler handler) {
    if (lost_) {
        loop_.post([handler = std::move(handler), node = node_] {
            handler(Failure{.code = Errc::connection_lost, .detail = "no way to " + node});
        });
        return;
    }
    const std::string id = std::to_string(++last_id_);
    pending_.emplace(id, Pending{encode(request, id), deadline, std::move(handler)});
    waiting_.push_back(id);
    arm(deadline);
    send_waiting();
}

std::string RequestChannel::encode(const Request& request, const std::string& id) const {
    std::string encoded;
    amqp::Encoder encoder{encoded};
    Map properties = request.properties;
    properties.emplace_back("operation", request.operation);
    encoder.write(Value::described(amqp::section::properties,
                                   amqp::List{id, Value{}, node_, Value{}, reply_to_}));
    encoder.write(Value::described(amqp::section::application_properties, std::move(properties)));
    encoder.write(Value::described(amqp::section::value, request.body));
    return encoded;
}

void RequestChannel::send_waiting() {
    while (!lost_ && !waiting_.empty() && sender_->credit() != 0 && receiver_->is_remote_open()) {
        const auto found = pending_.find(waiting_.front());
        if (found != pending_.end()) {
            sender_->send(waiting_.front(), std::exchange(found->second.encoded, {}), true);
        }
        waiting_.pop_front();
    }
}

void RequestChannel::on_delivery(amqp::DeliveryHandle delivery) {
    std::string bytes(receiver_->size(delivery), '\0');
    receiver_->read(delivery, bytes.data());
    if (!receiver_->is_settled_by_sender(delivery)) {
        delivery.update({.kind = amqp::OutcomeKind::accepted});
    }
    delivery.settle();
    receiver_->add_credit(1);
    const auto sections = amqp::MessageSections::find(bytes);
    const auto properties =
        sections ? amqp::MessageProperties::read(sections->properties) : std::nullopt;
    const auto found = properties
                           ? pending_.find(properties->id(amqp::MessageProperties::correlation_id))
                           : pending_.end();
    if (found == pending_.end()) {
        return; // answered too late
    }
    Response response;
    if (const auto held = inside(sections->application_properties);
        held && held->as<Map>() != nullptr) {
        const Map& map = *held->as<Map>();
        const Value* status = find(map, "statusCode", "status-code");
        response.status = status != nullptr ? status->integer().value_or(0) : 0;
        response.description = text_of(find(map, "statusDescription", "status-description"));
        response.condition = text_of(find(map, "errorCondition", "error-condition"));
    }
    response.body = inside(sections->body).value_or(Value{});
    const Handler handler = std::move(found->second.handler);
    pending_.erase(found);
    handler(std::move(response));
}

void RequestChannel::on_disposition(amqp::DeliveryHandle delivery) { delivery.settle(); }
void RequestChannel::on_sender(amqp::SenderLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "no links are served here"});
}
void RequestChannel::on_receiver(amqp::ReceiverLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "no links are served here"});
}
void RequestChannel::on_session_ended(const amqp::Condition& condition) {
    fail(to_failure(condition, "the way to " + node_ + " is closed"));
}
void RequestChannel::on_link_gone(const amqp::Condition&) {} // the session tells
void RequestChannel::on_link_closed(const amqp::Condition& condition, bool) {
    fail(to_failure(condition, "the way to " + node_ + " is closed"));
}

void RequestChannel::arm(Deadline next) {
    if (!next.is_never() && (!timer_.is_armed() || next.time() < timer_.due())) {
        loop_.timers().arm(timer_, next.time());
    }
}

void RequestChannel::on_time() {
    std::vector<Handler> late;
    Deadline next;
    const TimePoint now = loop_.now();
    for (auto at = pending_.begin(); at != pending_.end();) {
        if (at->second.deadline.passed(now)) {
            late.push_back(std::move(at->second.handler));
            at = pending_.erase(at);
        } else {
            next = next.sooner(at->second.deadline);
            ++at;
        }
    }
    arm(next);
    for (const Handler& handler : late) {
        handler(Failure{.code = Errc::timeout, .detail = node_ + " did not answer in time"});
    }
}

void RequestChannel::fail(const Failure& why) {
    lost_ = true;
    waiting_.clear();
    loop_.timers().cancel(timer_);
    for (auto& [id, pending] : std::exchange(pending_, {})) { // no member is touched from here on
        pending.handler(why);
    }
}

} // namespace sessionq::servicebus
