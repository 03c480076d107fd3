#include "servicebus/hub.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/encoder.hpp"
#include "core/log.hpp"
#include "core/uuid.hpp"
#include "servicebus/conditions.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::servicebus {
namespace {

using amqp::Value;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration token_retry = seconds{10};
constexpr std::uint16_t usual_channel_max = 4999;
/// What ends costs the engine a look at every session and link of its connection.
constexpr std::size_t most_sessions = 1000;

/// A tenth of the channels is left to senders, requests and sessions whose end is not answered yet.
std::size_t capacity_under(std::uint16_t channel_max) {
    const std::size_t channels = std::size_t{channel_max} + 1;
    return std::clamp<std::size_t>(channels - channels / 10 - std::min<std::size_t>(channels / 2, 8), 1, most_sessions);
}

amqp::ConnectionOptions options_for(const std::string& host, Duration idle_timeout) {
    // Half of it is asked for: a sign of life that is late is no sign of death.
    const auto idle_time_out = static_cast<std::uint32_t>(std::chrono::duration_cast<milliseconds>(idle_timeout / 2).count());
    amqp::ConnectionOptions options;
    options.engine.open = {.container = "sessionq-" + core::Uuid::make().to_string(),
                           .hostname = host,
                           .properties = amqp::encode(Value::map({{Value::symbol("product"), "sessionq"}, {Value::symbol("platform"), "C++"}})),
                           .idle_time_out = idle_time_out,
                           .max_frame_size = 65536};
    options.engine.sasl = amqp::make_sasl_client({.hostname = host});
    return options;
}

} // namespace

Hub::Hub(core::EventLoop& loop, asio::io_context& io, HubSettings settings)
    : loop_{loop},
      settings_{std::move(settings)},
      host_{loop, io},
      random_{settings_.seed},
      reconnects_{settings_.backoff},
      capacity_{capacity_under(usual_channel_max)} {}

Hub::~Hub() {
    close();
    loop_.timers().cancel(timer_);
}

void Hub::ready(const std::string& node, ReadyHandler handler) {
    if (closed_) {
        handler(Failure{.code = Errc::cancelled, .detail = "the connection is being closed"});
        return;
    }
    if (is_usable()) {
        claim(node, std::move(handler));
        return;
    }
    waiting_.push_back({node, std::move(handler)});
    connect();
}

void Hub::manage(const std::string& entity, Request request, Deadline deadline, RequestChannel::Handler handler) {
    const std::string node = entity + "/$management";
    ready(node, [weak = weak_from_this(), node, request = std::move(request), deadline,
                 handler = std::move(handler)](core::Result<amqp::Engine*> engine) mutable {
        const auto self = weak.lock();
        if (!self || !engine.ok()) {
            const Failure why = engine.ok() ? Failure{.code = Errc::cancelled} : engine.failure();
            if (self) {
                self->loop_.post([handler = std::move(handler), why] { handler(why); });
            } else {
                handler(why);
            }
            return;
        }
        auto& channel = self->management_[node];
        if (channel == nullptr || channel->is_lost()) {
            channel = std::make_unique<RequestChannel>(self->loop_, engine.value()->begin_session(), node);
        }
        channel->request(std::move(request), deadline, std::move(handler));
    });
}

void Hub::close() {
    if (std::exchange(closed_, true)) {
        return;
    }
    connector_.reset();
    const Failure why{.code = Errc::cancelled, .detail = "the connection is being closed"};
    for (Waiting& each : std::exchange(waiting_, {})) {
        each.handler(why);
    }
    for (auto& [node, claim] : std::exchange(claims_, {})) {
        for (const ReadyHandler& handler : claim.waiting) {
            handler(why);
        }
    }
    management_.clear();
    cbs_.reset();
    kept_.clear();
    connection_.reset();
    open_ = false;
}

void Hub::connect() {
    if (connector_ != nullptr || connection_ != nullptr || closed_) {
        return;
    }
    if (loop_.now() < next_attempt_) {
        arm();
        return;
    }
    const TimePoint until = Deadline::after(settings_.operation_timeout, loop_.now()).time();
    connector_ = std::make_unique<amqp::Connector>(host_, settings_.target, until,
                                                   [this](core::Result<amqp::StreamPtr> stream) { connected(std::move(stream)); });
}

void Hub::connected(core::Result<amqp::StreamPtr> stream) {
    connector_.reset();
    if (!stream.ok()) {
        failed(stream.failure());
        return;
    }
    amqp::ConnectionOptions options = options_for(settings_.target.host, settings_.idle_timeout);
    options.open_time_out = std::min<Duration>(options.open_time_out, settings_.operation_timeout);
    amqp::ConnectionOwner& owner = *this;
    connection_ = std::make_unique<amqp::Connection>(host_, std::move(stream).value(), std::move(options), owner);
}

void Hub::on_open(const amqp::Open& peer) {
    open_ = true;
    reconnects_.opened(loop_.now());
    capacity_ = capacity_under(peer.channel_max);
    if (settings_.tokens) {
        cbs_ = std::make_unique<RequestChannel>(loop_, connection_->engine().begin_session(), "$cbs");
    }
    for (Waiting& each : std::exchange(waiting_, {})) {
        claim(each.node, std::move(each.handler));
    }
}

void Hub::on_closed(const amqp::Condition& condition) {
    Failure why = to_failure(condition, "the connection to '" + settings_.target.host + "' is over");
    if (why.code == Errc::cancelled || why.code == Errc::no_session_available) {
        why.code = Errc::connection_lost;
    }
    open_ = false;
    management_.clear();
    cbs_.reset();
    connection_.reset();
    failed(why);
}

void Hub::failed(const Failure& why) {
    next_attempt_ = reconnects_.failed(loop_.now(), random_);
    auto waiting = std::exchange(waiting_, {});
    auto claims = std::exchange(claims_, {});
    for (Waiting& each : waiting) {
        each.handler(why);
    }
    for (auto& [node, claim] : claims) {
        for (const ReadyHandler& handler : claim.waiting) {
            handler(why);
        }
    }
}

// Rights

void Hub::claim(const std::string& node, ReadyHandler handler) {
    Claim& claim = claims_[node];
    if (!settings_.tokens || node.empty() || claim.valid) {
        handler(&connection_->engine());
        return;
    }
    claim.waiting.push_back(std::move(handler));
    if (!claim.asked) {
        put_token(node);
    }
}

void Hub::put_token(const std::string& node) {
    const std::string audience = "sb://" + settings_.target.host + "/" + node;
    const WallTime now = loop_.wall_now();
    Token token = settings_.tokens->token(audience, now);
    claims_[node].asked = true;
    if (cbs_->is_lost()) { // the broker closed it and kept the connection
        cbs_ = std::make_unique<RequestChannel>(loop_, connection_->engine().begin_session(), "$cbs");
    }
    Request request{.operation = "put-token",
                    .properties = {{"name", audience}, {"type", token.type}, {"expiration", amqp::Timestamp::of(token.expires)}},
                    .body = std::move(token.text)};
    const Duration life = std::chrono::duration_cast<Duration>(std::min<WallTime::duration>(token.expires - now, std::chrono::hours{24}));
    cbs_->request(std::move(request), default_deadline(), [this, node, life](const core::Result<Response>& answer) {
        if (!closed_) {
            token_answered(node, answer, life);
        }
    });
}

void Hub::token_answered(const std::string& node, const core::Result<Response>& answer, Duration life) {
    const auto found = claims_.find(node);
    if (found == claims_.end()) {
        return;
    }
    Claim& claim = found->second;
    claim.asked = false;
    std::optional<Failure> why;
    if (!answer.ok()) {
        why = answer.failure();
    } else if (!answer.value().is_success()) {
        why = answer.value().to_failure("the right to use '" + node + "' was refused");
    }
    if (why && claim.valid) { // a renewal: the token in force lasts a while
        core::log(LogLevel::warning, "servicebus", "a token was not renewed: " + why->to_string());
        claim.renew_at = loop_.now() + token_retry;
    } else {
        claim.valid = !why;
        claim.renew_at = why ? TimePoint::max() : loop_.now() + life * 3 / 4;
    }
    arm();
    for (const ReadyHandler& handler : std::exchange(claim.waiting, {})) {
        if (why) {
            handler(*why);
        } else if (is_usable()) {
            handler(&connection_->engine());
        } else {
            handler(Failure{.code = Errc::connection_lost});
        }
    }
}

void Hub::on_time() {
    const TimePoint now = loop_.now();
    if (!open_) {
        if (!waiting_.empty()) {
            connect();
        }
        return;
    }
    std::vector<std::string> due;
    for (const auto& [node, claim] : claims_) {
        if (claim.renew_at <= now && !claim.asked) {
            due.push_back(node);
        }
    }
    for (const std::string& node : due) {
        put_token(node);
        claims_[node].renew_at = TimePoint::max(); // until it is answered
    }
    arm();
}

void Hub::arm() {
    TimePoint next = open_ ? TimePoint::max() : next_attempt_;
    for (const auto& [node, claim] : claims_) {
        next = std::min(next, claim.renew_at);
    }
    if (next != TimePoint::max()) {
        loop_.timers().arm(timer_, next);
    }
}

} // namespace sessionq::servicebus
