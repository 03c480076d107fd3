#include <sessionq/local_broker.hpp>

#include <system_error>
#include <utility>

#include <sessionq/error.hpp>

#include "client/broker_host.hpp"

namespace sessionq {
namespace {

std::shared_ptr<client::BrokerHost> start_host() {
    try {
        return std::make_shared<client::BrokerHost>();
    } catch (const std::system_error& error) {
        throw Error{Errc::resource_exhausted, std::string{"the broker's thread could not be started: "} + error.what()};
    }
}

broker::QueueOptions to_engine(const QueueOptions& options) {
    return {
        .requires_session = options.requires_session,
        .lock_duration = options.lock_duration,
        .max_delivery_count = options.max_delivery_count,
        .default_time_to_live = options.default_time_to_live,
        .dead_letter_on_expiration = options.dead_letter_on_expiration,
        .max_size_bytes = options.max_size_bytes,
        .max_message_bytes = options.max_message_bytes,
        .duplicate_detection_window = options.duplicate_detection_window,
    };
}

} // namespace

LocalBroker::LocalBroker() : host_{start_host()} {}
LocalBroker::LocalBroker(LocalBroker&&) noexcept = default;
LocalBroker& LocalBroker::operator=(LocalBroker&&) noexcept = default;
LocalBroker::~LocalBroker() = default;

void LocalBroker::create_queue(const std::string& name, const QueueOptions& options) {
    host_->broker().create_queue(name, to_engine(options), host_->now()).take_or_throw();
}

void LocalBroker::delete_queue(const std::string& name) { host_->broker().delete_queue(name, host_->now()).take_or_throw(); }

bool LocalBroker::queue_exists(const std::string& name) const { return host_->broker().find(name).ok(); }

std::vector<std::string> LocalBroker::queue_names() const { return host_->broker().queue_names(); }

QueueCounts LocalBroker::counts(const std::string& name) const {
    const auto queue = host_->broker().find(name).take_or_throw();
    const broker::QueueCounts counts = queue->counts(host_->now());
    QueueCounts all{
        .active = counts.active,
        .deferred = counts.deferred,
        .scheduled = counts.scheduled,
        .sessions = counts.sessions,
        .waiting_accepts = counts.waiting_accepts,
        .bytes = counts.bytes,
    };
    if (const auto dead = host_->broker().find(name + "/$DeadLetterQueue")) {
        all.dead_lettered = dead.value()->counts(host_->now()).active;
    }
    return all;
}

} // namespace sessionq
