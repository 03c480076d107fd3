// SPDX-License-Identifier: MIT
#include "tools/sessionq/doctor_broker.hpp"

#include <future>
#include <utility>

#include "amqp/codec/encoded_content.hpp"
#include "client/connecting/client_core.hpp"
#include "core/peer_words.hpp"
#include "core/uuid.hpp"
#include "groups/conditions.hpp"
#include "servicebus/conditions.hpp"
#include "servicebus/session_attach.hpp"

namespace sessionq::cli {
namespace {

/// The connection and its requests end by themselves a little earlier, and say why.
constexpr Duration grace = std::chrono::milliseconds{500};

TimePoint asked_now() { return core::system_clock().now(); }

amqp::ClientConnectionOptions probe_options(const DoctorPlace& place,
                                            std::vector<amqp::Target> targets, Duration timeout) {
    return {.hosts = std::move(targets),
            .hostname = place.virtual_host,
            .credentials = place.credentials,
            .operation_timeout = timeout};
}

std::string product_in(const amqp::Open& peer) {
    const auto properties = amqp::decode(peer.properties);
    const auto text_of = [&](std::string_view name) -> std::string {
        const amqp::Value* value = properties ? properties->find(name) : nullptr;
        return value != nullptr ? core::peer_words(value->text().value_or("")) : "";
    };
    const std::string version = text_of("version");
    return text_of("product") + (version.empty() ? "" : " " + version);
}

std::string link_name() { return "doctor-" + core::Uuid::make().to_string(); }

std::string login_of(const DoctorPlace& place) {
    return place.credentials.user.empty() ? "anonymous" : "user '" + place.credentials.user + "'";
}

} // namespace

BrokerProbe::BrokerProbe(const DoctorPlace& place, std::vector<amqp::Target> targets,
                         Duration timeout)
    : place_{place}, timeout_{timeout}, targets_{std::move(targets)} {
    detail::client::run_on(thread_, [this] {
        connection_ = std::make_unique<DoctorConnection>(
            thread_, thread_.io_context(), probe_options(place_, targets_, timeout_),
            place_.is_groups ? &groups::to_failure : &detail::servicebus::to_failure);
    });
}

BrokerProbe::~BrokerProbe() {
    detail::client::run_on(thread_, [this] { connection_.reset(); });
}

template <typename T>
core::Result<T> BrokerProbe::ask(
    const std::function<void(DoctorConnection&, std::function<void(core::Result<T>)>)>& start,
    Duration within) {
    const auto answer = std::make_shared<std::promise<core::Result<T>>>();
    auto answered = answer->get_future();
    detail::client::run_on(thread_, [&] {
        start(*connection_,
              [answer](core::Result<T> result) { answer->set_value(std::move(result)); });
    });
    if (answered.wait_for(within + grace) != std::future_status::ready) {
        return Failure{.code = Errc::timeout, .detail = "the broker did not answer"};
    }
    return answered.get();
}

OpenFacts BrokerProbe::open() {
    const amqp::Target& target = targets_.front();
    OpenFacts facts{.where = core::to_string({target.host, target.port}),
                    .login = login_of(place_),
                    .has_tls = target.tls != nullptr};
    const TimePoint start = asked_now();
    const auto opened = ask<amqp::Open>(
        [](DoctorConnection& connection, auto done) { connection.open(std::move(done)); },
        timeout_);
    facts.took = asked_now() - start;
    if (!opened.ok()) {
        facts.failure = opened.failure();
        return facts;
    }
    const amqp::Open& peer = opened.value();
    facts.product = product_in(peer);
    facts.max_frame_size = peer.max_frame_size;
    facts.channels = std::uint32_t{peer.channel_max} + 1;
    facts.idle_time_out = std::chrono::milliseconds{peer.idle_time_out};
    if (place_.is_groups && place_.dialect == nullptr &&
        groups::dialect_by_product(facts.product) == nullptr) {
        facts.is_unknown = true;
        facts.failure =
            Failure{.code = Errc::not_supported, .detail = groups::unknown_broker(facts.product)};
    }
    return facts;
}

ClaimFacts BrokerProbe::claim(const std::string& entity) {
    ClaimFacts facts{.subject = entity.empty() ? "the namespace" : "'" + entity + "'",
                     .entity = entity,
                     .key_name = place_.key_name,
                     .now = core::system_clock().wall_now()};
    const std::string audience = "sb://" + targets_.front().host + "/" + entity;
    const auto token = ask<detail::servicebus::Token>(
        [&](DoctorConnection& connection, auto done) {
            connection.make_token(*place_.tokens, audience, std::move(done));
        },
        timeout_);
    if (!token.ok()) {
        facts.failure = token.failure();
        return facts;
    }
    if (place_.key_name.empty()) {
        facts.expires = token.value().expires;
    }
    const TimePoint start = asked_now();
    const auto claimed = ask<core::Done>(
        [&](DoctorConnection& connection, auto done) {
            connection.claim(audience, token.value(), timeout_, std::move(done));
        },
        timeout_);
    facts.took = asked_now() - start;
    if (!claimed.ok()) {
        facts.failure = claimed.failure();
    }
    return facts;
}

LinkFacts BrokerProbe::attach(const std::string& entity, bool sends) {
    LinkWish wish{.sends = sends,
                  .what = (sends ? "cannot send to '" : "cannot receive from '") + entity + "'"};
    const std::string name = link_name();
    if (sends) {
        wish.attach = {.source = {.address = name}, .target = {.address = entity}};
    } else if (place_.is_groups) { // as a browser, which takes part in no dealing of groups
        wish.attach = {.source = {.address = entity, .copies = true}, .target = {.address = name}};
    } else {
        ports::AcceptRequest request;
        request.entity = entity;
        request.scope = ports::Scope::entity;
        wish.attach = detail::servicebus::to_attach(request, name);
    }
    wish.attach.name = name;
    return attach(wish, timeout_);
}

LinkFacts BrokerProbe::accept(const std::string& entity, const std::optional<std::string>& session,
                              Duration wait) {
    ports::AcceptRequest request;
    request.entity = entity;
    request.session_id = session;
    request.wait = wait;
    const std::string name = link_name();
    LinkWish wish{.attach = detail::servicebus::to_attach(request, name),
                  .what = "no session of '" + entity + "' was granted"};
    wish.attach.name = name;
    LinkFacts facts = attach(wish, timeout_ + wait);
    if (facts.failure && facts.failure->peer_condition == "com.microsoft:timeout") {
        facts.failure->code = Errc::no_session_available;
    }
    return facts;
}

LinkFacts BrokerProbe::ask_small() {
    LinkWish wish{.sends = true,
                  .attach = {.source = {.address = "doctor"}, .target = {.address = "$cbs"}},
                  .what = "a small request"};
    wish.attach.name = link_name();
    return attach(wish, timeout_);
}

LinkFacts BrokerProbe::attach(const LinkWish& wish, Duration within) {
    LinkFacts facts;
    const TimePoint start = asked_now();
    const auto answer = ask<LinkAnswer>(
        [&](DoctorConnection& connection, auto done) { connection.attach(wish, std::move(done)); },
        within);
    facts.took = asked_now() - start;
    facts.answered_at = core::system_clock().wall_now();
    detail::client::run_on(thread_, [this] { connection_->drop_link(); });
    if (!answer.ok()) {
        facts.failure = answer.failure();
        return facts;
    }
    const detail::servicebus::GrantTimes times =
        detail::servicebus::grant_times(answer.value().attach);
    facts.handles = answer.value().handles;
    facts.locked_until = times.locked_until;
    facts.broker_time = times.granted_at;
    return facts;
}

} // namespace sessionq::cli
