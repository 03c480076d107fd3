// SPDX-License-Identifier: MIT
#include <sessionq/local_broker.hpp>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include <sessionq/client.hpp>
#include <sessionq/error.hpp>

#include "broker/rule_book.hpp"
#include "client/connecting/broker_host.hpp"
#include "client/connecting/client_core.hpp"
#include "client/sending/wire_size.hpp"
#include "client/threads/thread_start.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"
#include "in_process/endpoint.hpp"

namespace sessionq::inline v1 {
namespace {

/// Converts the options of a queue or of a subscription. A subscription has fewer options.
template <typename Options>
broker::QueueOptions to_engine(const Options& options) {
    broker::QueueOptions made{
        .requires_session = options.requires_session,
        .lock_duration = options.lock_duration,
        .max_delivery_count = options.max_delivery_count,
        .default_time_to_live = options.default_time_to_live,
        .dead_letter_on_expiration = options.dead_letter_on_expiration,
        .forward_to = options.forward_to,
        .forward_dead_letters_to = options.forward_dead_letters_to,
        .order = options.order,
        .order_property = options.order_property,
    };
    if constexpr (std::is_same_v<Options, QueueOptions>) {
        made.max_size_bytes = options.max_size_bytes;
        made.max_message_bytes = options.max_message_bytes;
        made.duplicate_detection_window = options.duplicate_detection_window;
    }
    return made;
}

/// Throws unless the destinations exist. If one is deleted later, messages are dead-lettered.
void check_destinations(broker::Broker& broker, const broker::QueueOptions& options) {
    for (const auto& [member, name] :
         {std::pair{"forward_to", &options.forward_to},
          {"forward_dead_letters_to", &options.forward_dead_letters_to}}) {
        const auto found =
            name->empty() ? core::Result<broker::QueuePtr>{broker::QueuePtr{}} : broker.find(*name);
        if (!found || (found.value() && found.value()->find_send_fault())) {
            throw Error{Errc::entity_not_found,
                        std::string{member} + ": there is no queue or topic '" + *name + "'"};
        }
    }
}

broker::QueuePtr find(broker::Broker& broker, const std::string& name, broker::EntityKind kind) {
    auto found = broker.find(name).take_or_throw();
    if (found->kind() != kind) {
        throw Error{Errc::entity_not_found, "'" + name + "' is an entity of another kind"};
    }
    return found;
}

std::shared_ptr<broker::RuleBook> find_rules(broker::Broker& broker, const std::string& topic,
                                             const std::string& subscription) {
    const auto found = find(broker, broker::subscription_name(topic, subscription),
                            broker::EntityKind::subscription);
    return {found, found->rules()};
}

OnDamage checked(OnDamage on_damage) {
    if (on_damage != OnDamage::refuse && on_damage != OnDamage::set_aside) {
        throw Error{
            {.code = Errc::invalid_option, .detail = "on_damage must be refuse or set_aside"}};
    }
    return on_damage;
}

void delete_one(detail::client::BrokerHost& host, const std::string& name,
                broker::EntityKind kind) {
    static_cast<void>(find(host.broker(), name, kind));
    host.broker().delete_entity(name, host.now()).take_or_throw();
}

} // namespace

LocalBroker::LocalBroker() : LocalBroker{LocalBrokerOptions{}} {}
LocalBroker::LocalBroker(const LocalBrokerOptions& options)
    : host_{detail::client::start_threads("the broker's threads could not be started", [&] {
          return std::make_shared<detail::client::BrokerHost>(options.data_directory,
                                                              checked(options.on_damage));
      })} {}
LocalBroker::LocalBroker(LocalBroker&&) noexcept = default;
LocalBroker& LocalBroker::operator=(LocalBroker&&) noexcept = default;
LocalBroker::~LocalBroker() = default;

void LocalBroker::create_queue(const std::string& name, const QueueOptions& options) {
    const auto made = to_engine(options);
    check_destinations(detail::client::Access::host(*this)->broker(), made);
    detail::client::Access::host(*this)
        ->broker()
        .create_queue(name, made, detail::client::Access::host(*this)->now())
        .take_or_throw();
}

void LocalBroker::delete_queue(const std::string& name) {
    delete_one(*detail::client::Access::host(*this), name, broker::EntityKind::queue);
}

bool LocalBroker::queue_exists(const std::string& name) const {
    const auto found = detail::client::Access::host(*this)->broker().find(name);
    return found && (found.value()->kind() == broker::EntityKind::queue ||
                     found.value()->name().ends_with("/$DeadLetterQueue"));
}

std::vector<std::string> LocalBroker::queue_names() const {
    return detail::client::Access::host(*this)->broker().names(broker::EntityKind::queue);
}

void LocalBroker::create_topic(const std::string& name, const TopicOptions& options) {
    detail::client::Access::host(*this)
        ->broker()
        .create_topic(name,
                      {.default_time_to_live = options.default_time_to_live,
                       .max_message_bytes = options.max_message_bytes,
                       .duplicate_detection_window = options.duplicate_detection_window},
                      detail::client::Access::host(*this)->now())
        .take_or_throw();
}

void LocalBroker::delete_topic(const std::string& name) {
    delete_one(*detail::client::Access::host(*this), name, broker::EntityKind::topic);
}

std::vector<std::string> LocalBroker::topic_names() const {
    return detail::client::Access::host(*this)->broker().names(broker::EntityKind::topic);
}

void LocalBroker::create_subscription(const std::string& topic, const std::string& name,
                                      const SubscriptionOptions& options) {
    const auto made = to_engine(options);
    check_destinations(detail::client::Access::host(*this)->broker(), made);
    detail::client::Access::host(*this)
        ->broker()
        .create_subscription(topic, name, made, options.rules,
                             detail::client::Access::host(*this)->now())
        .take_or_throw();
}

void LocalBroker::delete_subscription(const std::string& topic, const std::string& name) {
    delete_one(*detail::client::Access::host(*this), broker::subscription_name(topic, name),
               broker::EntityKind::subscription);
}

std::vector<std::string> LocalBroker::subscription_names(const std::string& topic) const {
    const std::string begin = broker::subscription_name(
        find(detail::client::Access::host(*this)->broker(), topic, broker::EntityKind::topic)
            ->name(),
        "");
    std::vector<std::string> names;
    for (const std::string& name :
         detail::client::Access::host(*this)->broker().names(broker::EntityKind::subscription)) {
        if (name.starts_with(begin)) {
            names.push_back(name.substr(begin.size()));
        }
    }
    return names;
}

void LocalBroker::add_rule(const std::string& topic, const std::string& subscription, Rule rule) {
    find_rules(detail::client::Access::host(*this)->broker(), topic, subscription)
        ->add(std::move(rule))
        .take_or_throw();
}

void LocalBroker::remove_rule(const std::string& topic, const std::string& subscription,
                              const std::string& rule) {
    find_rules(detail::client::Access::host(*this)->broker(), topic, subscription)
        ->remove(rule)
        .take_or_throw();
}

std::vector<Rule> LocalBroker::rules(const std::string& topic,
                                     const std::string& subscription) const {
    return find_rules(detail::client::Access::host(*this)->broker(), topic, subscription)->list();
}

QueueCounts LocalBroker::counts(const std::string& name) const {
    const auto queue = detail::client::Access::host(*this)->broker().find(name).take_or_throw();
    const broker::QueueCounts counts = queue->counts(detail::client::Access::host(*this)->now());
    QueueCounts all{
        .active = counts.active,
        .deferred = counts.deferred,
        .scheduled = counts.scheduled,
        .sessions = counts.sessions,
        .waiting_accepts = counts.waiting_accepts,
        .bytes = counts.bytes,
    };
    if (const auto dead =
            detail::client::Access::host(*this)->broker().find(name + "/$DeadLetterQueue")) {
        all.dead_lettered = dead.value()->counts(detail::client::Access::host(*this)->now()).active;
    }
    return all;
}

Client Client::in_process(const LocalBroker& broker, ClientOptions options) {
    const std::shared_ptr<detail::client::BrokerHost>& host = detail::client::Access::host(broker);
    const std::shared_ptr<broker::Broker> engine{host, &host->broker()};
    if (engine->journal() != nullptr) {
        engine->begin(host->now()); // stored entities may forward from now on
    }
    auto core = std::make_shared<detail::client::ClientCore>(
        options,
        [engine](detail::client::ReceiveThread& loop, core::Executor&) -> ports::EndpointPtr {
            return std::make_unique<in_process::Endpoint>(engine, loop,
                                                          detail::client::sent_wire_size);
        });
    core->begin_tracing({.system = "sessionq"});
    core->tell_backlog_by(
        [host, engine](const std::string& entity) -> std::optional<detail::processor::Backlog> {
            const auto queue = engine->find(entity);
            if (!queue) {
                return std::nullopt;
            }
            const broker::Instant at = host->now();
            const broker::QueueCounts counts = queue.value()->counts(at);
            return detail::processor::Backlog{
                .active = counts.active,
                .deferred = counts.deferred,
                .scheduled = counts.scheduled,
                .waiting_sessions = counts.ready_sessions,
                .waiting_for =
                    std::max(at.now - std::min(counts.ready_since, at.now), Duration::zero())};
        });
    return Client{std::move(core)};
}

Result<Client> Client::try_in_process(const LocalBroker& broker, ClientOptions options) noexcept {
    return core::as_result([&] { return in_process(broker, std::move(options)); });
}

Result<LocalBroker> LocalBroker::try_make(const LocalBrokerOptions& options) noexcept {
    return core::as_result([&] { return LocalBroker{options}; });
}

Result<void> LocalBroker::try_create_queue(const std::string& name,
                                           const QueueOptions& options) noexcept {
    return core::as_result([&] { create_queue(name, options); });
}

Result<void> LocalBroker::try_delete_queue(const std::string& name) noexcept {
    return core::as_result([&] { delete_queue(name); });
}

Result<void> LocalBroker::try_create_topic(const std::string& name,
                                           const TopicOptions& options) noexcept {
    return core::as_result([&] { create_topic(name, options); });
}

Result<void> LocalBroker::try_delete_topic(const std::string& name) noexcept {
    return core::as_result([&] { delete_topic(name); });
}

Result<void> LocalBroker::try_create_subscription(const std::string& topic, const std::string& name,
                                                  const SubscriptionOptions& options) noexcept {
    return core::as_result([&] { create_subscription(topic, name, options); });
}

Result<void> LocalBroker::try_delete_subscription(const std::string& topic,
                                                  const std::string& name) noexcept {
    return core::as_result([&] { delete_subscription(topic, name); });
}

Result<std::vector<std::string>> LocalBroker::try_subscription_names(
    const std::string& topic) const noexcept {
    return core::as_result([&] { return subscription_names(topic); });
}

Result<void> LocalBroker::try_add_rule(const std::string& topic, const std::string& subscription,
                                       Rule rule) noexcept {
    return core::as_result([&] { add_rule(topic, subscription, std::move(rule)); });
}

Result<void> LocalBroker::try_remove_rule(const std::string& topic, const std::string& subscription,
                                          const std::string& rule) noexcept {
    return core::as_result([&] { remove_rule(topic, subscription, rule); });
}

Result<std::vector<Rule>> LocalBroker::try_rules(const std::string& topic,
                                                 const std::string& subscription) const noexcept {
    return core::as_result([&] { return rules(topic, subscription); });
}

Result<QueueCounts> LocalBroker::try_counts(const std::string& name) const noexcept {
    return core::as_result([&] { return counts(name); });
}

} // namespace sessionq::inline v1
