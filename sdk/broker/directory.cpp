// SPDX-License-Identifier: MIT
// The entities of a broker by name. Forwarding is in directory_forwarding.cpp.
#include "broker/directory.hpp"

#include <algorithm>
#include <mutex>

#include "broker/journal_faults.hpp"
#include "broker/queue_pair.hpp"

namespace sessionq::broker {
namespace {

std::string_view name_of(EntityKind kind) noexcept {
    return kind == EntityKind::queue   ? "queue"
           : kind == EntityKind::topic ? "topic"
                                       : "subscription";
}

std::vector<Rule> rules_of(const EntitySpec& spec) {
    return spec.rules ? spec.rules->list() : std::vector<Rule>{};
}

std::shared_ptr<RuleBook> make_book(std::vector<Rule> rules) {
    auto book = std::make_shared<RuleBook>();
    for (Rule& rule : rules) {
        book->add(std::move(rule)).take_or_throw();
    }
    return book;
}

EntitySpec spec_of(const DurableQueue& stored) {
    EntitySpec spec{.name = stored.name, .kind = stored.kind, .options = stored.options};
    if (stored.kind == EntityKind::subscription) {
        spec.topic = core::lower_case(stored.name);
        spec.topic =
            stored.name.substr(0, spec.topic.find(core::lower_case(subscriptions_segment)));
        spec.rules = make_book(stored.declared_rules);
    }
    return spec;
}

} // namespace

Directory::Directory(std::shared_ptr<WakeupBoard> board, std::shared_ptr<Journal> journal,
                     std::vector<DurableQueue> stored, Instant at)
    : board_{std::move(board)},
      journal_{std::move(journal)},
      restored_at_{at},
      has_begun_{stored.empty()} {
    for (DurableQueue& queue : stored) {
        std::string name = queue.name;
        unopened_.emplace(std::move(name), std::move(queue));
    }
}

core::Result<core::Done> Directory::make(EntitySpec spec, Instant at) {
    QueuePairPtr restored;
    {
        const std::unique_lock lock{mutex_};
        if (auto fault = find_fault(spec)) {
            return std::move(*fault);
        }
        if (const auto stored = unopened_.find(spec.name); stored != unopened_.end()) {
            restored = restore(stored, std::move(spec));
        } else {
            put(std::move(spec), at);
        }
    }
    if (restored) {
        restored->advance(restored_at_);
    }
    return core::Done{};
}

std::optional<Failure> Directory::find_fault(const EntitySpec& spec) const {
    if (entries_.contains(spec.name)) {
        return Failure{.code = Errc::duplicate_entity,
                       .detail = "entity '" + spec.name + "' already exists"};
    }
    if (spec.kind == EntityKind::subscription && !entries_.contains(spec.topic)) {
        return Failure{.code = Errc::entity_not_found,
                       .detail = "there is no topic '" + spec.topic + "'"};
    }
    if (const char* const member = member_that_closes_cycle(spec)) {
        return Failure{.code = Errc::invalid_option,
                       .detail = std::string{member} + ": messages forwarded by '" + spec.name +
                                 "' would return to it"};
    }
    // A stored entity is opened even on a full disk. Otherwise nothing could be removed from it.
    const auto stored = unopened_.find(spec.name);
    if (stored == unopened_.end()) {
        return find_journal_fault(journal_.get(), spec.name, Growth::adds);
    }
    if (stored->second.kind != spec.kind) {
        return Failure{.code = Errc::invalid_option,
                       .detail = "'" + stored->first + "' is stored as a " +
                                 std::string{name_of(stored->second.kind)} +
                                 " and cannot become a " + std::string{name_of(spec.kind)}};
    }
    if (stored->second.options.requires_session != spec.options.requires_session) {
        return Failure{.code = Errc::invalid_option,
                       .detail = "requires_session: the stored queue '" + stored->first +
                                 "' was created " +
                                 (spec.options.requires_session ? "without" : "with") +
                                 " sessions, which cannot be changed"};
    }
    return std::nullopt;
}

std::shared_ptr<SizeAccount> Directory::size_of(const EntitySpec& spec) const {
    switch (spec.kind) {
    case EntityKind::queue: break;
    case EntityKind::topic: return std::make_shared<SizeAccount>(spec.options.max_size_bytes);
    case EntityKind::subscription: {
        const auto topic = entries_.find(spec.topic);
        return topic != entries_.end() ? topic->second.entity->size() : nullptr;
    }
    }
    return nullptr;
}

void Directory::put(EntitySpec spec, Instant at) {
    QueueIds ids;
    if (journal_) {
        ids = {.queue = journal_->make_entity_id(), .dead_letters = journal_->make_entity_id()};
        journal_->append({QueueCreated{.queue = ids.queue,
                                       .dead_letters = ids.dead_letters,
                                       .name = spec.name,
                                       .kind = spec.kind,
                                       .options = spec.options,
                                       .rules = rules_of(spec)}});
    }
    spec.size = size_of(spec);
    const std::string topic = spec.topic;
    enter(
        std::make_shared<QueuePair>(std::move(spec), shared_from_this(), board_, at, journal_, ids),
        topic);
}

QueuePairPtr Directory::restore(ByName<DurableQueue>::iterator found, EntitySpec spec) {
    DurableQueue stored = std::move(found->second);
    unopened_.erase(found);
    const QueueIds ids{.queue = stored.queue.id, .dead_letters = stored.dead_letters.id};
    if (journal_ && stored.options != spec.options) {
        journal_->append({QueueOptionsChanged{.queue = ids.queue, .options = spec.options}});
    }
    // The owner states the same rules as before, so keep the changes made since.
    if (spec.rules && spec.rules->list() == stored.declared_rules) {
        spec.rules = make_book(stored.rules);
    } else if (spec.rules && journal_) {
        journal_->append({RulesDeclared{.queue = ids.queue, .rules = spec.rules->list()}});
    }
    spec.size = size_of(spec);
    const std::string topic = spec.topic;
    auto made = std::make_shared<QueuePair>(std::move(spec), shared_from_this(), board_,
                                            restored_at_, journal_, ids);
    made->restore(std::move(stored));
    enter(made, topic);
    return made;
}

void Directory::enter(const QueuePairPtr& made, const std::string& topic) {
    entries_.emplace(made->name(), Entry{.entity = made, .topic = topic});
    if (const auto owner = entries_.find(topic); owner != entries_.end()) {
        owner->second.subscriptions.push_back(made);
    }
}

std::vector<QueuePairPtr> Directory::remove(std::string_view name) {
    static_cast<void>(find(name)); // restores stored entities first
    std::vector<QueuePairPtr> gone;
    const std::unique_lock lock{mutex_};
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
        return gone;
    }
    const Entry entry = std::move(found->second);
    entries_.erase(found);
    for (const QueuePairPtr& subscription : entry.subscriptions) {
        entries_.erase(entries_.find(subscription->name()));
        gone.push_back(subscription);
    }
    if (const auto owner = entries_.find(entry.topic); owner != entries_.end()) {
        std::erase(owner->second.subscriptions, entry.entity);
    }
    gone.push_back(entry.entity);
    for (const QueuePairPtr& entity : gone) {
        entity->detach_journal(); // so that its removal is the last record of it
        if (journal_) {           // recorded before the name can be used again
            journal_->append({QueueRemoved{.queue = entity->ids().queue,
                                           .dead_letters = entity->ids().dead_letters}});
        }
    }
    return gone;
}

std::vector<QueuePairPtr> Directory::clear() {
    auto gone = all();
    const std::unique_lock lock{mutex_};
    entries_.clear();
    unopened_.clear();
    return gone;
}

void Directory::begin(Instant at) {
    std::vector<QueuePairPtr> restored;
    {
        const std::unique_lock lock{mutex_};
        restored = restore_all();
    }
    has_begun_.store(true, std::memory_order_seq_cst);
    for (const QueuePairPtr& entity : all()) {
        entity->forward_held(at);
    }
    for (const QueuePairPtr& entity : restored) {
        entity->advance(at);
    }
}

QueuePairPtr Directory::find(std::string_view name) {
    {
        const std::shared_lock lock{mutex_};
        if (const auto found = entries_.find(name); found != entries_.end()) {
            return found->second.entity;
        }
        if (unopened_.empty()) {
            return nullptr;
        }
    }
    std::vector<QueuePairPtr> restored;
    QueuePairPtr wanted;
    {
        const std::unique_lock lock{mutex_};
        if (unopened_.contains(name)) { // otherwise another thread was first, or there is none
            restored = restore_all();
        }
        const auto found = entries_.find(name);
        wanted = found != entries_.end() ? found->second.entity : nullptr;
    }
    for (const QueuePairPtr& entity : restored) {
        entity->advance(restored_at_);
    }
    return wanted;
}

std::vector<QueuePairPtr> Directory::restore_all() {
    std::vector<QueuePairPtr> restored;
    for (const EntityKind kind : {EntityKind::topic, EntityKind::queue,
                                  EntityKind::subscription}) { // topics before their subscriptions
        for (auto stored = unopened_.begin(); stored != unopened_.end();) {
            const auto one = stored++;
            if (one->second.kind == kind) {
                restored.push_back(restore(one, spec_of(one->second)));
            }
        }
    }
    return restored;
}

std::vector<QueuePairPtr> Directory::all() const {
    std::vector<QueuePairPtr> found;
    const std::shared_lock lock{mutex_};
    found.reserve(entries_.size());
    for (const auto& [name, entry] : entries_) {
        found.push_back(entry.entity);
    }
    return found;
}

std::vector<std::string> Directory::names(EntityKind kind) const {
    std::vector<std::string> found;
    {
        const std::shared_lock lock{mutex_};
        for (const auto& [name, entry] : entries_) {
            if (entry.entity->kind() == kind) {
                found.push_back(name);
            }
        }
        for (const auto& [name, stored] : unopened_) {
            if (stored.kind == kind) {
                found.push_back(name);
            }
        }
    }
    std::ranges::sort(found);
    return found;
}

} // namespace sessionq::broker
