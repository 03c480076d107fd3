#include "servicebus/request_channel.hpp"

#include <algorithm>
#include <charconv>
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

const std::string server_timeout = "com.microsoft:server-timeout";

std::uint32_t milliseconds_left(Deadline deadline, TimePoint now) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.remaining(now));
    return static_cast<std::uint32_t>(std::min<std::int64_t>(left.count(), 0xffffffff));
}

ports::RequestId id_of(std::string_view text) {
    ports::RequestId id = 0;
    std::from_chars(text.data(), text.data() + text.size(), id);
    return id;
}

/// The value of `key` or `other`, because brokers spell keys in two ways.
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

Response to_response(const amqp::MessageSections& sections) {
    Response response;
    if (const auto held = inside(sections.application_properties);
        held && held->as<Map>() != nullptr) {
        const Map& map = *held->as<Map>();
        const Value* status = find(map, "statusCode", "status-code");
        response.status = status != nullptr ? status->integer().value_or(0) : 0;
        response.description = text_of(find(map, "statusDescription", "status-description"));
        response.condition = text_of(find(map, "errorCondition", "error-condition"));
    }
    response.body = inside(sections.body).value_or(Value{});
    return response;
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

RequestChannel::RequestChannel(core::EventLoop& loop, std::string node, WhenReady when_ready)
    : loop_{loop},
      node_{std::move(node)},
      reply_to_{"reply-" + core::Uuid::make().to_string()},
      when_ready_{std::move(when_ready)},
      replies_{loop} {}

RequestChannel::~RequestChannel() {
    sender_.reset();
    receiver_.reset();
    session_.reset();
    for (Requests* const requests : {&preparing_, &queued_, &sent_}) {
        while (!requests->empty()) {
            conclude(requests->begin()->first, Errc::cancelled);
        }
    }
    replies_.flush();
}

void RequestChannel::request(ports::RequestId id, Request request, Deadline deadline,
                             Handler handler) {
    const auto [made, is_new] =
        preparing_.try_emplace(id, *this, id, std::move(request), deadline, std::move(handler));
    if (deadline.passed(loop_.now())) {
        conclude(id, Errc::timeout);
        return;
    }
    if (!deadline.is_never()) {
        loop_.timers().arm(made->second.timer, deadline.time());
    }
    when_ready_([handle = anchor_.handle(), id](const core::Result<amqp::Engine*>& engine) {
        if (RequestChannel* const channel = handle.get()) {
            channel->on_ready(id, engine);
        }
    });
}

void RequestChannel::on_ready(ports::RequestId id, const core::Result<amqp::Engine*>& engine) {
    const auto found = preparing_.find(id);
    if (found == preparing_.end()) {
        return;
    }
    if (!engine.ok()) {
        reply(preparing_, found, engine.failure());
    } else if (sender_ == nullptr && !attach(*engine.value())) {
        reply(preparing_, found,
              Failure{.code = Errc::resource_exhausted,
                      .detail = node_ + ": the broker allows no more links on this connection"});
    } else {
        queued_.insert(preparing_.extract(found));
        transmit();
    }
}

bool RequestChannel::attach(amqp::Engine& engine) {
    session_ = engine.begin_session();
    if (session_ != nullptr) {
        sender_ = session_->make_sender("request-" + core::Uuid::make().to_string());
        receiver_ = session_->make_receiver("response-" + core::Uuid::make().to_string());
    }
    if (sender_ == nullptr || receiver_ == nullptr) {
        sender_.reset();
        receiver_.reset();
        session_.reset();
        return false;
    }
    session_->set_listener(this);
    sender_->set_listener(this);
    receiver_->set_listener(this);
    sender_->open({.source = {.address = reply_to_},
                   .target = {.address = node_},
                   .sender_mode = amqp::SenderSettleMode::settled});
    receiver_->open({.source = {.address = node_},
                     .target = {.address = reply_to_},
                     .sender_mode = amqp::SenderSettleMode::settled});
    receiver_->add_credit(reply_credit);
    return true;
}

void RequestChannel::transmit() {
    while (!queued_.empty() && sender_->credit() != 0 && receiver_->is_remote_open()) {
        const auto next = queued_.begin();
        Pending& pending = next->second;
        if (pending.deadline.passed(loop_.now())) { // its timer runs soon
            conclude(pending.id, Errc::timeout);
            continue;
        }
        sender_->send(std::to_string(pending.id), encode(pending), true);
        pending.request = {};
        sent_.insert(queued_.extract(next));
    }
}

std::string RequestChannel::encode(const Pending& pending) const {
    std::string encoded;
    amqp::Encoder encoder{encoded};
    Map properties = pending.request.properties;
    properties.emplace_back("operation", pending.request.operation);
    if (!pending.deadline.is_never() && node_ != "$cbs") { // a put-token takes no timeout
        properties.emplace_back(server_timeout, milliseconds_left(pending.deadline, loop_.now()));
    }
    encoder.write(
        Value::described(amqp::section::properties, amqp::List{std::to_string(pending.id), Value{},
                                                               node_, Value{}, reply_to_}));
    encoder.write(Value::described(amqp::section::application_properties, std::move(properties)));
    encoder.write(Value::described(amqp::section::value, pending.request.body));
    return encoded;
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
    const auto found =
        properties ? sent_.find(id_of(properties->id(amqp::MessageProperties::correlation_id)))
                   : sent_.end();
    if (found != sent_.end()) { // else it was given up
        reply(sent_, found, to_response(*sections));
    }
}

void RequestChannel::conclude(ports::RequestId id, Errc why) {
    for (Requests* const requests : {&preparing_, &queued_, &sent_}) {
        if (const auto found = requests->find(id); found != requests->end()) {
            reply(*requests, found,
                  Failure{.code = why,
                          .detail = "the request to " + node_,
                          .outcome_unknown = requests == &sent_});
            return;
        }
    }
}

void RequestChannel::on_lost(const amqp::Condition& condition) {
    sender_.reset();
    receiver_.reset();
    session_.reset();
    for (Requests* const requests : {&queued_, &sent_}) {
        while (!requests->empty()) {
            Failure why = to_failure(condition, "the link to " + node_ + " was lost");
            why.outcome_unknown = requests == &sent_;
            reply(*requests, requests->begin(), std::move(why));
        }
    }
}

void RequestChannel::reply(Requests& from, Requests::iterator pending,
                           core::Result<Response> result) {
    replies_.push([handler = std::move(pending->second.handler),
                   result = std::move(result)]() mutable { handler(std::move(result)); });
    from.erase(pending);
}

void RequestChannel::on_sender(amqp::SenderLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "a client serves no links"});
}
void RequestChannel::on_receiver(amqp::ReceiverLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "a client serves no links"});
}

} // namespace sessionq::servicebus
