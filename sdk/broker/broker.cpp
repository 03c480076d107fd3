// SPDX-License-Identifier: MIT
#include "broker/broker.hpp"

#include <algorithm>
#include <utility>

#include "broker/journal_faults.hpp"
#include "broker/queue_pair.hpp"
#include "core/ascii_case.hpp"

namespace sessionq::broker {
namespace {

constexpr std::size_t longest_name = 260;
constexpr std::size_t longest_subscription_name = 50;

Failure not_found(std::string_view name) {
    return {.code = Errc::entity_not_found,
            .detail = "there is no entity '" + std::string{name} + "'"};
}

std::optional<Failure> find_name_fault(const std::string& name) {
    const auto fail = [&name](const char* rule) {
        return Failure{.code = Errc::invalid_argument,
                       .detail = std::string{rule} + ": '" + name + "'"};
    };
    if (name.empty() || name.size() > longest_name || name.find('$') != std::string::npos) {
        return fail("the name of a queue or topic must have 1 to 260 characters and no '$'");
    }
    if (std::ranges::any_of(name, [](unsigned char c) { return c < ' ' || c == 0x7f; })) {
        return Failure{.code = Errc::invalid_argument,
                       .detail = "a name must not contain control characters"};
    }
    if (core::lower_case(name).find(core::lower_case(subscriptions_segment)) != std::string::npos) {
        return fail("only the name of a subscription may contain /Subscriptions/");
    }
    return std::nullopt;
}

std::optional<Failure> find_subscription_fault(const std::string& name,
                                               const QueueOptions& options) {
    if (name.empty() || name.size() > longest_subscription_name ||
        name.find_first_of("/$") != std::string::npos) {
        return Failure{
            .code = Errc::invalid_argument,
            .detail =
                "the name of a subscription must have 1 to 50 characters and no '/' or '$': '" +
                name + "'"};
    }
    if (options.duplicate_detection_window) {
        return Failure{.code = Errc::invalid_option,
                       .detail = "duplicate_detection_window must be set on the topic"};
    }
    return std::nullopt;
}

} // namespace

std::string subscription_name(std::string_view topic, std::string_view name) {
    return std::string{topic} + std::string{subscriptions_segment} + std::string{name};
}

Broker::Broker() : Broker{nullptr, {}, {}} {}

Broker::Broker(std::shared_ptr<Journal> journal, std::vector<DurableQueue> stored, Instant at)
    : board_{std::make_shared<WakeupBoard>()},
      directory_{std::make_shared<Directory>(board_, std::move(journal), std::move(stored), at)} {}

Broker::~Broker() { static_cast<void>(directory_->clear()); }

core::Result<core::Done> Broker::create_queue(const std::string& name, const QueueOptions& options,
                                              Instant at) {
    if (auto fault = find_name_fault(name)) {
        return std::move(*fault);
    }
    return create({.name = name, .kind = EntityKind::queue, .options = options}, at);
}

core::Result<core::Done> Broker::create_topic(const std::string& name, const TopicOptions& options,
                                              Instant at) {
    if (auto fault = find_name_fault(name)) {
        return std::move(*fault);
    }
    return create({.name = name,
                   .kind = EntityKind::topic,
                   .options = {.default_time_to_live = options.default_time_to_live,
                               .max_size_bytes = options.max_size_bytes,
                               .max_message_bytes = options.max_message_bytes,
                               .duplicate_detection_window = options.duplicate_detection_window}},
                  at);
}

core::Result<core::Done> Broker::create_subscription(const std::string& topic,
                                                     const std::string& name, QueueOptions options,
                                                     std::vector<Rule> rules, Instant at) {
    if (auto fault = find_subscription_fault(name, options)) {
        return std::move(*fault);
    }
    const QueuePairPtr owner = directory_->find(topic);
    if (!owner || owner->kind() != EntityKind::topic) {
        return Failure{.code = Errc::entity_not_found,
                       .detail = "there is no topic '" + topic + "'"};
    }
    options.max_message_bytes = owner->options().max_message_bytes;
    auto book = std::make_shared<RuleBook>();
    if (rules.empty()) {
        rules.push_back({.name = std::string{default_rule_name}});
    }
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (auto added = book->add(std::move(rules[i])); !added) {
            return Failure{.code = Errc::invalid_option,
                           .detail = "rules[" + std::to_string(i) + "]: " + added.failure().detail};
        }
    }
    return create({.name = subscription_name(owner->name(), name),
                   .kind = EntityKind::subscription,
                   .options = std::move(options),
                   .topic = owner->name(),
                   .rules = std::move(book)},
                  at);
}

core::Result<core::Done> Broker::create(EntitySpec spec, Instant at) {
    if (auto fault = find_fault(spec.options)) {
        return std::move(*fault);
    }
    return directory_->make(std::move(spec), at);
}

core::Result<core::Done> Broker::delete_entity(std::string_view name, Instant at) {
    if (auto fault = find_journal_fault(journal(), name, Growth::none)) {
        return std::move(*fault);
    }
    const auto gone = directory_->remove(name);
    if (gone.empty()) {
        return not_found(name);
    }
    for (const QueuePairPtr& entity : gone) {
        entity->shut_down(at);
    }
    return core::Done{};
}

core::Result<QueuePtr> Broker::find(std::string_view name) {
    const std::size_t suffix = dead_letter_suffix.size();
    const bool is_dead_letters =
        name.size() > suffix &&
        core::equal_ignoring_case(name.substr(name.size() - suffix), dead_letter_suffix);
    const QueuePairPtr pair =
        directory_->find(is_dead_letters ? name.substr(0, name.size() - suffix) : name);
    if (!pair || (is_dead_letters && pair->kind() == EntityKind::topic)) {
        return not_found(name);
    }
    return QueuePtr{pair, is_dead_letters ? &pair->dead_letters() : &pair->queue()};
}

std::vector<std::string> Broker::names(EntityKind kind) const { return directory_->names(kind); }

std::optional<TimePoint> Broker::next_wakeup() {
    board_->forget();
    TimePoint earliest = TimePoint::max();
    for (const QueuePairPtr& entity : directory_->all()) {
        earliest = std::min(earliest, entity->next_due());
    }
    board_->plan(earliest);
    return earliest == TimePoint::max() ? std::nullopt : std::optional{earliest};
}

void Broker::advance(Instant at) {
    for (const QueuePairPtr& entity : directory_->all()) {
        if (entity->next_due() <= at.now) {
            entity->advance(at);
        }
    }
}

} // namespace sessionq::broker
