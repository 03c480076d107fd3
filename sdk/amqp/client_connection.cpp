// SPDX-License-Identifier: MIT
#include "amqp/client_connection.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/encoded_content.hpp"
#include "amqp/codec/encoder.hpp"
#include "core/log.hpp"
#include "core/log_events.hpp"
#include "core/uuid.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::amqp {
namespace {

using Phase = ConnectionKeeper::Phase;

/// Session windows count frames, with many bytes or few. The smaller a frame may be, the more small
/// messages may be on their way within a byte budget.
constexpr std::uint32_t max_frame_size = 16384;

/// Enough for our close to arrive.
constexpr Duration linger_time_out = std::chrono::milliseconds{100};

void run(const ConnectionKeeper::Handlers& handlers, const core::Result<Engine*>& result) {
    for (const auto& handler : handlers) {
        handler(result);
    }
}

void log_failure(std::string_view event, const std::string& peer, const Failure& why) {
    core::log_event(LogLevel::warning, "amqp", event,
                    {{"peer", peer}, {"code", to_string(why.code)}}, why.to_string());
}

Failure closing() { return {.code = Errc::cancelled, .detail = "the connection is closed"}; }

} // namespace

ClientConnection::ClientConnection(ConnectionHost& host, ClientConnectionOptions options,
                                   ClientConnectionEvents& events)
    : host_{host},
      options_{std::move(options)},
      events_{events},
      keeper_{
          {.hosts = options_.hosts.size(), .backoff = options_.backoff, .seed = options_.seed}} {}

ClientConnection::~ClientConnection() { close(); }

ClientConnection::WaitId ClientConnection::when_open(Handler handler) {
    if (Engine* const open = engine()) {
        handler(open);
        return 0;
    }
    if (keeper_.phase() == Phase::closed) {
        handler(closing());
        return 0;
    }
    const WaitId id = keeper_.add(std::move(handler));
    proceed();
    return id;
}

/// A connection that broke stays until `on_closed` says why.
Engine* ClientConnection::engine() const noexcept {
    return keeper_.phase() == Phase::open && connection_->engine().is_open()
               ? &connection_->engine()
               : nullptr;
}

SessionPtr ClientConnection::begin_session() {
    Engine* const open = engine();
    return open != nullptr ? open->begin_session(options_.room) : nullptr;
}

void ClientConnection::close() {
    options_.counts->closed.add(keeper_.phase() == Phase::open ? 1 : 0);
    const auto waiting = keeper_.close();
    host_.connects().leave(*this);
    host_.loop().timers().cancel(timer_);
    dialing_.reset();
    connection_.reset();
    run(waiting, closing());
}

void ClientConnection::proceed() {
    const ConnectionKeeper::Step step = keeper_.next(host_.loop().now());
    switch (step.kind) {
    case ConnectionKeeper::Step::Kind::none: return;
    case ConnectionKeeper::Step::Kind::connect: connect(step.host); return;
    case ConnectionKeeper::Step::Kind::wait: host_.loop().timers().arm(timer_, step.when); return;
    }
}

void ClientConnection::connect(std::size_t host) {
    target_ = host;
    if (host_.connects().enter(*this)) {
        on_let_in();
    }
}

/// A round over the hosts ends before the operation's time, so that the last failure can be told.
void ClientConnection::on_let_in() {
    const Duration share = (options_.operation_timeout - options_.operation_timeout / 10) /
                           static_cast<Duration::rep>(options_.hosts.size());
    attempt_until_ = Deadline::after(share, host_.loop().now()).time();
    dialing_ =
        options_.dial(host_, options_.hosts[target_], attempt_until_,
                      [this](core::Result<StreamPtr> stream) { on_stream(std::move(stream)); });
}

void ClientConnection::on_stream(core::Result<StreamPtr> stream) {
    dialing_.reset();
    if (!stream.ok()) {
        on_failed(stream.failure());
        return;
    }
    ConnectionOwner& owner = *this;
    connection_ =
        std::make_unique<Connection>(host_, std::move(stream).value(), connection_options(), owner);
}

ConnectionOptions ClientConnection::connection_options() const {
    const std::string hostname =
        options_.hostname.empty() ? options_.hosts[target_].host : options_.hostname;
    ConnectionOptions made;
    made.engine.accepts_links = false;
    made.engine.open = {
        .container = "sessionq-" + core::Uuid::make().to_string(),
        .hostname = hostname,
        .properties = encode(Value::map(
            {{Value::symbol("product"), "sessionq"}, {Value::symbol("platform"), "C++"}})),
        .idle_time_out = static_cast<std::uint32_t>(
            std::chrono::duration_cast<std::chrono::milliseconds>(options_.idle_timeout / 2)
                .count()), // half, so that one late heartbeat ends nothing
        .max_frame_size = max_frame_size};
    made.linger_time_out = linger_time_out;
    made.write_idle = options_.write_idle_timeout;
    made.counts = options_.counts;
    SaslCredentials credentials = options_.credentials;
    credentials.hostname = hostname;
    made.engine.sasl = make_sasl_client(std::move(credentials));
    made.open_time_out = std::clamp<Duration>(attempt_until_ - host_.loop().now(), Duration::zero(),
                                              made.open_time_out);
    return made;
}

// A server that goes on would have this side answer for ever.
void ClientConnection::on_session(SessionPtr /*session*/) {
    const Condition why{.name = "amqp:not-allowed",
                        .text = "only the client may begin AMQP sessions",
                        .found = Errc::protocol_error};
    connection_->abort(why);
}

void ClientConnection::on_open(const Open& peer) {
    refusal_ = events_.on_connected(peer);
    if (refusal_) {
        connection_->close();
        return;
    }
    core::log_event(LogLevel::info, "amqp", core::events::connected, {{"peer", host_name()}},
                    "connected to '", host_name(), "'");
    host_.connects().leave(*this);
    options_.counts->opened.add();
    options_.counts->reopened.add(std::exchange(lost_, 0));
    run(keeper_.opened(host_.loop().now()), &connection_->engine());
}

void ClientConnection::on_idle(timing::IdleKind kind, Duration idle) {
    if (options_.on_idle) {
        options_.on_idle({.direction = kind == timing::IdleKind::read ? IdleDirection::read
                                                                      : IdleDirection::write,
                          .broker = host_name(),
                          .idle = idle});
    }
}

void ClientConnection::on_closed(const Condition& condition) {
    if (keeper_.phase() == Phase::open) {
        Failure why =
            events_.explain(condition, "the connection to '" + host_name() + "' was lost");
        why.code = why.code == Errc::cancelled ? Errc::connection_lost : why.code;
        last_failure_ = why.to_string();
        log_failure(core::events::connection_lost, host_name(), why);
        options_.counts->lost.add();
        lost_ = 1;
        events_.on_disconnected(why);
        connection_.reset();
        keeper_.lost(host_.loop().now());
        proceed();
        return;
    }
    const bool was_silent = connection_->received() == 0;
    connection_.reset();
    Failure why = events_.explain(condition, "cannot connect to '" + host_name() + "'");
    if (was_silent && why.code == Errc::connection_lost && !options_.hosts[target_].tls) {
        why.detail += "; it closed the connection without an answer, so it may speak TLS";
    }
    if (why.code == Errc::connection_lost || why.code == Errc::cancelled) {
        why.code = Errc::connection_refused; // the broker is starting or stopping
    }
    on_failed(refusal_ ? *std::exchange(refusal_, std::nullopt) : why);
}

void ClientConnection::on_failed(const Failure& why) {
    last_failure_ = why.to_string();
    log_failure(core::events::connect_failed, host_name(), why);
    options_.counts->failures.add();
    host_.connects().leave(*this);
    run(keeper_.failed(host_.loop().now()), why);
    proceed();
}

core::ConnectionStatus ClientConnection::status() const {
    const bool is_open = engine() != nullptr;
    return {.broker = host_name(),
            .open = is_open,
            .down_since = keeper_.down_since(),
            .received = is_open ? connection_->received() : 0,
            .last_failure = last_failure_};
}

std::string ClientConnection::host_name() const {
    const Target& target = options_.hosts[target_];
    return target.host + ":" + std::to_string(target.port);
}

} // namespace sessionq::amqp
