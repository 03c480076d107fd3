#include "servicebus/hub.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "amqp/codec/encoder.hpp"
#include "core/log.hpp"
#include "core/uuid.hpp"
#include "servicebus/conditions.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::servicebus {
namespace {

using amqp::Value;
using std::chrono::milliseconds;

constexpr std::uint16_t usual_channel_max = 4999;
/// What ends costs the engine a look at every session and link of its connection.
constexpr std::size_t most_sessions = 1000;

/// Some channels are left to senders, requests and sessions whose end is not answered yet.
std::size_t capacity_under(std::uint16_t channel_max) {
    const std::size_t channels = std::size_t{channel_max} + 1;
    return std::min((channels - std::min<std::size_t>(channels / 2, 16)) *
                        SharedSession::most_links,
                    most_sessions);
}

amqp::ConnectionOptions options_for(const std::string& host, Duration idle_timeout) {
    // Half of it is asked for: a sign of life that is late is no sign of death.
    const auto idle_time_out = static_cast<std::uint32_t>(
        std::chrono::duration_cast<milliseconds>(idle_timeout / 2).count());
    amqp::ConnectionOptions options;
    options.engine.open = {.container = "sessionq-" + core::Uuid::make().to_string(),
                           .hostname = host,
                           .properties =
                               amqp::encode(Value::map({{Value::symbol("product"), "sessionq"},
                                                        {Value::symbol("platform"), "C++"}})),
                           .idle_time_out = idle_time_out,
                           .max_frame_size = 65536};
    options.engine.sasl = amqp::make_sasl_client({.hostname = host});
    return options;
}

} // namespace

Hub::Hub(std::shared_ptr<amqp::ConnectionHost> host, HubSettings settings)
    : host_{std::move(host)},
      loop_{host_->loop()},
      settings_{std::move(settings)},
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

void Hub::manage(const std::string& entity, Request request, Deadline deadline,
                 RequestChannel::Handler handler) {
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
            channel = std::make_unique<RequestChannel>(self->loop_, engine.value()->begin_session(),
                                                       node);
        }
        channel->request(std::move(request), deadline,
                         [weak, node, handler = std::move(handler)](core::Result<Response> answer) {
                             const bool is_unauthorized =
                                 answer.ok() ? answer.value().status == 401
                                             : answer.failure().code == Errc::unauthorized;
                             if (const auto alive = weak.lock(); alive && is_unauthorized) {
                                 alive->doubt(node);
                             }
                             handler(std::move(answer));
                         });
    });
}

std::shared_ptr<SharedSession> Hub::session_for_link() {
    std::erase_if(shared_sessions_, [](const auto& session) { return session.expired(); });
    for (const auto& each : shared_sessions_) {
        if (auto session = each.lock(); session && session->has_room()) {
            return session;
        }
    }
    amqp::SessionPtr begun = connection_->engine().begin_session();
    if (begun == nullptr) {
        return nullptr;
    }
    auto made = std::make_shared<SharedSession>(std::move(begun));
    shared_sessions_.push_back(made);
    return made;
}

void Hub::close() {
    if (std::exchange(closed_, true)) {
        return;
    }
    dialing_.reset();
    const Failure why{.code = Errc::cancelled, .detail = "the connection is being closed"};
    for (Waiting& each : std::exchange(waiting_, {})) {
        each.handler(why);
    }
    for (auto& [node, right] : std::exchange(rights_, {})) {
        for (const ReadyHandler& handler : right.waiting) {
            handler(why);
        }
    }
    management_.clear();
    cbs_.reset();
    connection_.reset();
    open_ = false;
}

void Hub::connect() {
    if (dialing_ != nullptr || connection_ != nullptr || closed_) {
        return;
    }
    if (loop_.now() < next_attempt_) {
        arm();
        return;
    }
    const TimePoint until = Deadline::after(settings_.operation_timeout, loop_.now()).time();
    dialing_ = settings_.dial(
        *host_, settings_.target, until,
        [this](core::Result<amqp::StreamPtr> stream) { connected(std::move(stream)); });
}

void Hub::connected(core::Result<amqp::StreamPtr> stream) {
    dialing_.reset();
    if (!stream.ok()) {
        failed(stream.failure());
        return;
    }
    amqp::ConnectionOptions options = options_for(settings_.target.host, settings_.idle_timeout);
    options.open_time_out = std::min<Duration>(options.open_time_out, settings_.operation_timeout);
    amqp::ConnectionOwner& owner = *this;
    connection_ = std::make_unique<amqp::Connection>(*host_, std::move(stream).value(),
                                                     std::move(options), owner);
}

void Hub::on_open(const amqp::Open& peer) {
    open_ = true;
    reconnects_.opened(loop_.now());
    capacity_ = capacity_under(peer.channel_max);
    for (Waiting& each : std::exchange(waiting_, {})) {
        claim(each.node, std::move(each.handler));
    }
}

void Hub::on_closed(const amqp::Condition& condition) {
    Failure why =
        to_failure(condition, "the connection to '" + settings_.target.host + "' is over");
    if (why.code == Errc::cancelled) {
        why.code = Errc::connection_lost;
    }
    const auto self = weak_from_this().lock(); // whoever is told may let go of it
    auto late = std::exchange(open_, false)
                    ? std::exchange(waiting_, {})
                    : std::vector<Waiting>{}; // came when it was over already: for the next one
    management_.clear();
    cbs_.reset();
    connection_.reset();
    failed(why);
    if (!late.empty() && !closed_) {
        std::move(late.begin(), late.end(), std::back_inserter(waiting_));
        connect();
    } else {
        for (Waiting& each : late) {
            each.handler(
                Failure{.code = Errc::cancelled, .detail = "the connection is being closed"});
        }
    }
}

void Hub::failed(const Failure& why) {
    next_attempt_ = reconnects_.failed(loop_.now(), random_);
    auto waiting = std::exchange(waiting_, {});
    auto rights = std::exchange(rights_, {});
    for (Waiting& each : waiting) {
        each.handler(why);
    }
    for (auto& [node, right] : rights) {
        for (const ReadyHandler& handler : right.waiting) {
            handler(why);
        }
    }
}

// Rights

void Hub::claim(const std::string& node, ReadyHandler handler) {
    if (!settings_.tokens || node.empty()) {
        handler(&connection_->engine());
        return;
    }
    Right& right = rights_[node];
    if (right.claim.is_valid(loop_.now())) {
        handler(&connection_->engine());
        return;
    }
    right.waiting.push_back(std::move(handler));
    if (!right.claim.is_asked()) {
        ask_token(node);
    }
}

void Hub::ask_token(const std::string& node) {
    Right& right = rights_[node];
    const Deadline deadline = default_deadline();
    right.claim.asked();
    right.attempt = ++last_attempt_;
    right.token_due = deadline;
    arm();
    settings_.tokens->ask("sb://" + settings_.target.host + "/" + node, loop_.wall_now(), deadline,
                          [weak = weak_from_this(), node, attempt = right.attempt,
                           deadline](core::Result<Token> token) {
                              if (const auto self = weak.lock()) {
                                  self->token_given(node, attempt, std::move(token), deadline);
                              }
                          });
}

void Hub::token_given(const std::string& node, std::uint64_t attempt, core::Result<Token> token,
                      Deadline deadline) {
    const auto found = rights_.find(node);
    if (closed_ || found == rights_.end() || found->second.attempt != attempt) {
        return; // too late
    }
    found->second.token_due = Deadline::never();
    if (!token.ok()) {
        token_answered(node, attempt, token.failure(), {});
        return;
    }
    Token given = std::move(token).value();
    const auto life =
        std::min<WallTime::duration>(given.expires - loop_.wall_now(), std::chrono::hours{24});
    Request request{.operation = "put-token",
                    .properties = {{"name", "sb://" + settings_.target.host + "/" + node},
                                   {"type", given.type},
                                   {"expiration", amqp::Timestamp::of(given.expires)}},
                    .body = std::move(given.text)};
    cbs().request(
        std::move(request), deadline,
        [this, node, attempt,
         life = std::chrono::duration_cast<Duration>(life)](const core::Result<Response>& answer) {
            if (closed_) {
                return;
            }
            std::optional<Failure> refusal;
            if (!answer.ok()) {
                refusal = answer.failure();
            } else if (!answer.value().is_success()) {
                refusal = answer.value().to_failure("the right to use '" + node + "' was refused");
            }
            token_answered(node, attempt, refusal, life);
        });
}

void Hub::token_answered(const std::string& node, std::uint64_t attempt,
                         const std::optional<Failure>& refusal, Duration life) {
    const auto found = rights_.find(node);
    if (found == rights_.end() || found->second.attempt != attempt) {
        return;
    }
    Right& right = found->second;
    right.token_due = Deadline::never();
    if (!refusal) {
        right.claim.granted(loop_.now(), life);
    } else {
        if (right.claim.is_valid(loop_.now())) { // nobody else tells of it
            core::log(LogLevel::warning, "servicebus",
                      "a token was not renewed: " + refusal->to_string());
        }
        right.claim.failed(loop_.now(), random_);
    }
    arm();
    for (const ReadyHandler& handler : std::exchange(right.waiting, {})) {
        if (refusal) {
            handler(*refusal);
        } else if (is_usable()) {
            handler(&connection_->engine());
        } else {
            handler(Failure{.code = Errc::connection_lost});
        }
    }
}

void Hub::doubt(const std::string& node) {
    const auto found = rights_.find(node);
    if (found != rights_.end() && !found->second.claim.is_asked()) {
        found->second.claim.doubt();
    }
}

RequestChannel& Hub::cbs() {
    if (cbs_ == nullptr || cbs_->is_lost()) {
        cbs_ =
            std::make_unique<RequestChannel>(loop_, connection_->engine().begin_session(), "$cbs");
    }
    return *cbs_;
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
    std::vector<std::pair<std::string, std::uint64_t>> overdue;
    for (const auto& [node, right] : rights_) {
        if (right.claim.is_due(now)) {
            due.push_back(node);
        } else if (right.token_due.passed(now)) {
            overdue.emplace_back(node, right.attempt);
        }
    }
    for (const std::string& node : due) {
        ask_token(node);
    }
    for (const auto& [node, attempt] : overdue) {
        token_answered(node, attempt,
                       Failure{.code = Errc::timeout,
                               .detail = "no token for '" + node + "' was given in time"},
                       {});
        if (const auto found = rights_.find(node);
            found != rights_.end() && found->second.attempt == attempt) {
            found->second.attempt = ++last_attempt_; // what comes after all does not count
        }
    }
    arm();
}

void Hub::arm() {
    TimePoint next = open_ ? TimePoint::max() : next_attempt_;
    for (const auto& [node, right] : rights_) {
        next = std::min({next, right.claim.due(), right.token_due.time()});
    }
    if (next != TimePoint::max()) {
        loop_.timers().arm(timer_, next);
    }
}

} // namespace sessionq::servicebus
