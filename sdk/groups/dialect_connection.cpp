#include "groups/hub.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "core/uuid.hpp"
#include "groups/conditions.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::groups {
namespace {

using amqp::Value;

std::string product_of(const amqp::Open& peer) {
    const auto properties = amqp::decode(peer.properties);
    const Value* product = properties ? properties->find("product") : nullptr;
    return std::string{product != nullptr ? product->text().value_or("") : ""};
}

} // namespace

Hub::Hub(core::EventLoop& loop, asio::io_context& io, HubSettings settings)
    : loop_{loop},
      settings_{std::move(settings)},
      host_{loop, io},
      rotation_{settings_.url.hosts.size(), settings_.backoff, settings_.seed} {
    if (settings_.url.dialect != nullptr) {
        settings_.dialect->store(settings_.url.dialect, std::memory_order_release);
    }
}

Hub::~Hub() {
    close();
    loop_.timers().cancel(timer_);
}

void Hub::ready(ReadyHandler handler) {
    if (closed_) {
        handler(Failure{.code = Errc::cancelled, .detail = "the connection is being closed"});
        return;
    }
    if (open_) {
        handler(&connection_->engine());
        return;
    }
    waiting_.push_back(std::move(handler));
    connect();
}

void Hub::close() {
    if (std::exchange(closed_, true)) {
        return;
    }
    connector_.reset();
    answer_all({.code = Errc::cancelled, .detail = "the connection is being closed"});
    connection_.reset();
    open_ = false;
}

void Hub::connect() {
    if (connector_ != nullptr || connection_ != nullptr || closed_ || waiting_.empty()) {
        return;
    }
    const TimePoint now = loop_.now();
    if (now < rotation_.not_before()) {
        loop_.timers().arm(timer_, rotation_.not_before());
        return;
    }
    const HostPort& to = settings_.url.hosts[rotation_.host()];
    attempt_until_ = Deadline::after(share_of_host(), now).time();
    connector_ = std::make_unique<amqp::Connector>(
        host_, amqp::Target{.host = to.host, .port = to.port, .tls = settings_.tls}, attempt_until_,
        [this](core::Result<amqp::StreamPtr> stream) { connected(std::move(stream)); });
}

/// A round over the hosts fits into an operation's time, with some left to say who was silent.
Duration Hub::share_of_host() const noexcept {
    return (settings_.operation_timeout - settings_.operation_timeout / 10) /
           static_cast<Duration::rep>(settings_.url.hosts.size());
}

amqp::ConnectionOptions Hub::options_for(const HostPort& host) const {
    const ConnectionUrl& url = settings_.url;
    const std::string name = url.virtual_host.empty() ? host.host : url.virtual_host;
    amqp::ConnectionOptions options;
    options.engine.open = {
        .container = "sessionq-" + core::Uuid::make().to_string(),
        .hostname = name,
        .properties = amqp::encode(Value::map(
            {{Value::symbol("product"), "sessionq"}, {Value::symbol("platform"), "C++"}})),
        .idle_time_out = static_cast<std::uint32_t>(
            std::chrono::duration_cast<std::chrono::milliseconds>(settings_.idle_timeout / 2)
                .count()), // one that is late is no death
        .max_frame_size = 65536};
    options.engine.sasl =
        amqp::make_sasl_client({.mechanism = amqp::SaslCredentials::Mechanism::any,
                                .user = url.user,
                                .password = url.password,
                                .hostname = name,
                                .has_certificate = settings_.has_certificate});
    options.open_time_out =
        std::clamp<Duration>(attempt_until_ - loop_.now(), Duration::zero(), options.open_time_out);
    return options;
}

void Hub::connected(core::Result<amqp::StreamPtr> stream) {
    connector_.reset();
    if (!stream.ok()) {
        failed(stream.failure());
        return;
    }
    amqp::ConnectionOwner& owner = *this;
    connection_ = std::make_unique<amqp::Connection>(
        host_, std::move(stream).value(), options_for(settings_.url.hosts[rotation_.host()]),
        owner);
}

void Hub::on_open(const amqp::Open& peer) {
    if (dialect() == nullptr) {
        const std::string product = product_of(peer);
        const Dialect* found = dialect_by_product(product);
        if (found == nullptr) {
            answer_all({.code = Errc::not_supported,
                        .detail = "the broker calls itself '" + product +
                                  "'; if it is like one that is known, say so with "
                                  "?dialect=artemis or ?dialect=broker-j"});
            connection_->close();
            return;
        }
        settings_.dialect->store(found, std::memory_order_release);
    }
    open_ = true;
    rotation_.connected(loop_.now());
    for (const ReadyHandler& handler : std::exchange(waiting_, {})) {
        handler(&connection_->engine());
    }
}

void Hub::on_closed(const amqp::Condition& condition) {
    const HostPort& from = settings_.url.hosts[rotation_.host()];
    connection_.reset();
    if (!std::exchange(open_, false)) {
        Failure why = to_failure(condition, "'" + from.host + ":" + std::to_string(from.port) +
                                                "' did not open the connection");
        if (why.code == Errc::connection_lost) {
            why.code = Errc::
                connection_refused; // a broker on its way up or down; Broker-J says so (amqp:connection:forced) while it recovers its store
        }
        failed(why);
        return;
    }
    rotation_.lost(loop_.now());
    connect(); // links that were lost have asked for it already
}

/// The next host, or after the last one an answer.
void Hub::failed(const Failure& why) {
    if (rotation_.failed(loop_.now())) {
        answer_all(why);
    } else {
        connect();
    }
}

void Hub::answer_all(const Failure& why) {
    for (const ReadyHandler& handler : std::exchange(waiting_, {})) {
        handler(why);
    }
}

} // namespace sessionq::groups
