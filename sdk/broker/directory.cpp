// The entities by name; directory_ways.cpp has the ways between them.
#include "broker/directory.hpp"

#include <algorithm>
#include <mutex>

#include "broker/queue_pair.hpp"

namespace sessionq::broker {
namespace {

// Kept under a name that says so: the journal knows queues only.
EntityKind kind_by_name(std::string_view name) {
    return core::lower_case(name).find(core::lower_case(subscriptions_segment)) == std::string::npos ? EntityKind::queue : EntityKind::subscription;
}

} // namespace

Directory::Directory(std::shared_ptr<WakeupBoard> board, std::shared_ptr<Journal> journal, std::vector<KeptQueue> kept, Instant at)
    : board_{std::move(board)}, journal_{std::move(journal)}, kept_at_{at}, has_begun_{kept.empty()} {
    for (KeptQueue& queue : kept) {
        std::string name = queue.name;
        kept_.emplace(std::move(name), std::move(queue));
    }
}

core::Result<core::Done> Directory::make(EntitySpec spec, Instant at) {
    QueuePairPtr restored;
    {
        const std::unique_lock lock{mutex_};
        if (auto fault = find_fault(spec)) {
            return std::move(*fault);
        }
        if (const auto kept = kept_.find(spec.name); kept != kept_.end()) {
            restored = restore(kept, std::move(spec));
        } else {
            put(std::move(spec), at);
        }
    }
    if (restored) {
        restored->advance(kept_at_);
    }
    return core::Done{};
}

std::optional<Failure> Directory::find_fault(const EntitySpec& spec) const {
    if (entries_.contains(spec.name)) {
        return Failure{.code = Errc::duplicate_entity, .detail = "there is an entity '" + spec.name + "' already"};
    }
    if (spec.kind == EntityKind::subscription && !entries_.contains(spec.topic)) {
        return Failure{.code = Errc::entity_not_found, .detail = "there is no topic '" + spec.topic + "'"};
    }
    if (leads_back(spec)) {
        return Failure{.code = Errc::invalid_option, .detail = "forward_to: what '" + spec.name + "' passes on would come back to it"};
    }
    const auto kept = kept_.find(spec.name);
    if (kept != kept_.end() && kept->second.options.requires_session != spec.options.requires_session) {
        return Failure{.code = Errc::invalid_option,
                       .detail = "requires_session: the queue '" + kept->first + "' was kept as one " +
                                 (spec.options.requires_session ? "without" : "with") + " sessions, and cannot become another"};
    }
    return std::nullopt;
}

void Directory::put(EntitySpec spec, Instant at) {
    QueueIds ids;
    if (journal_) {
        ids = {.queue = journal_->make_entity_id(), .dead_letters = journal_->make_entity_id()};
        journal_->append({QueueCreated{.queue = ids.queue, .dead_letters = ids.dead_letters, .name = spec.name, .options = spec.options}});
    }
    const std::string topic = spec.topic;
    enter(std::make_shared<QueuePair>(std::move(spec), shared_from_this(), board_, at, journal_, ids), topic);
}

QueuePairPtr Directory::restore(ByName<KeptQueue>::iterator found, EntitySpec spec) {
    KeptQueue kept = std::move(found->second);
    kept_.erase(found);
    const QueueIds ids{.queue = kept.queue.id, .dead_letters = kept.dead_letters.id};
    if (journal_ && kept.options != spec.options) {
        journal_->append({QueueOptionsChanged{.queue = ids.queue, .options = spec.options}});
    }
    const std::string topic = spec.topic;
    auto made = std::make_shared<QueuePair>(std::move(spec), shared_from_this(), board_, kept_at_, journal_, ids);
    made->restore(std::move(kept));
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
    static_cast<void>(find(name)); // what was kept comes back first
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
        entity->stop_keeping(); // so that nothing of it comes after its removal
        if (journal_) {         // before another of the same name can be made
            journal_->append({QueueRemoved{.queue = entity->ids().queue, .dead_letters = entity->ids().dead_letters}});
        }
    }
    return gone;
}

std::vector<QueuePairPtr> Directory::forget_all() {
    auto gone = all();
    const std::unique_lock lock{mutex_};
    entries_.clear();
    kept_.clear();
    return gone;
}

void Directory::begin(Instant at) {
    has_begun_.store(true, std::memory_order_seq_cst);
    for (const QueuePairPtr& entity : all()) {
        entity->release_held(at);
    }
}

QueuePairPtr Directory::find(std::string_view name) {
    {
        const std::shared_lock lock{mutex_};
        if (const auto found = entries_.find(name); found != entries_.end()) {
            return found->second.entity;
        }
        if (kept_.empty()) {
            return nullptr;
        }
    }
    QueuePairPtr restored;
    {
        const std::unique_lock lock{mutex_};
        if (const auto found = entries_.find(name); found != entries_.end()) { // another thread was first
            return found->second.entity;
        }
        const auto kept = kept_.find(name);
        if (kept == kept_.end()) {
            return nullptr;
        }
        EntitySpec spec{.name = kept->first, .kind = kind_by_name(kept->first), .options = kept->second.options};
        if (spec.kind == EntityKind::subscription) {
            spec.rules = std::make_shared<RuleBook>();
        }
        restored = restore(kept, std::move(spec));
    }
    restored->advance(kept_at_);
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
        for (const auto& [name, kept] : kept_) {
            if (kind_by_name(name) == kind) {
                found.push_back(name);
            }
        }
    }
    std::ranges::sort(found);
    return found;
}

} // namespace sessionq::broker
