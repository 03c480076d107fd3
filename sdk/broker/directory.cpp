// The entities of a broker by name. Forwarding is in directory_ways.cpp.
#include "broker/directory.hpp"

#include <algorithm>
#include <mutex>

#include "broker/keeping.hpp"
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

EntitySpec spec_of(const KeptQueue& kept) {
    EntitySpec spec{.name = kept.name, .kind = kept.kind, .options = kept.options};
    if (kept.kind == EntityKind::subscription) {
        spec.topic = core::lower_case(kept.name);
        spec.topic = kept.name.substr(0, spec.topic.find(core::lower_case(subscriptions_segment)));
        spec.rules = make_book(kept.declared_rules);
    }
    return spec;
}

} // namespace

Directory::Directory(std::shared_ptr<WakeupBoard> board, std::shared_ptr<Journal> journal,
                     std::vector<KeptQueue> kept, Instant at)
    : board_{std::move(board)},
      journal_{std::move(journal)},
      kept_at_{at},
      has_begun_{kept.empty()} {
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
        return Failure{.code = Errc::duplicate_entity,
                       .detail = "entity '" + spec.name + "' already exists"};
    }
    if (spec.kind == EntityKind::subscription && !entries_.contains(spec.topic)) {
        return Failure{.code = Errc::entity_not_found,
                       .detail = "there is no topic '" + spec.topic + "'"};
    }
    if (leads_back(spec)) {
        return Failure{.code = Errc::invalid_option,
                       .detail = "forward_to: messages forwarded by '" + spec.name +
                                 "' would return to it"};
    }
    // A stored entity is taken over even on a full disk: otherwise nothing could be removed from it.
    const auto kept = kept_.find(spec.name);
    if (kept == kept_.end()) {
        return find_keeping_fault(journal_.get(), spec.name, Growth::adds);
    }
    if (kept->second.kind != spec.kind) {
        return Failure{.code = Errc::invalid_option,
                       .detail = "'" + kept->first + "' is stored as a " +
                                 std::string{name_of(kept->second.kind)} + " and cannot become a " +
                                 std::string{name_of(spec.kind)}};
    }
    if (kept->second.options.requires_session != spec.options.requires_session) {
        return Failure{.code = Errc::invalid_option,
                       .detail = "requires_session: the stored queue '" + kept->first +
                                 "' was created " +
                                 (spec.options.requires_session ? "without" : "with") +
                                 " sessions, which cannot be changed"};
    }
    return std::nullopt;
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
    const std::string topic = spec.topic;
    enter(
        std::make_shared<QueuePair>(std::move(spec), shared_from_this(), board_, at, journal_, ids),
        topic);
}

QueuePairPtr Directory::restore(ByName<KeptQueue>::iterator found, EntitySpec spec) {
    KeptQueue kept = std::move(found->second);
    kept_.erase(found);
    const QueueIds ids{.queue = kept.queue.id, .dead_letters = kept.dead_letters.id};
    if (journal_ && kept.options != spec.options) {
        journal_->append({QueueOptionsChanged{.queue = ids.queue, .options = spec.options}});
    }
    // The owner states the same rules as before, so keep the changes made since.
    if (spec.rules && spec.rules->list() == kept.declared_rules) {
        spec.rules = make_book(kept.rules);
    } else if (spec.rules && journal_) {
        journal_->append({RulesDeclared{.queue = ids.queue, .rules = spec.rules->list()}});
    }
    const std::string topic = spec.topic;
    auto made = std::make_shared<QueuePair>(std::move(spec), shared_from_this(), board_, kept_at_,
                                            journal_, ids);
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
        entity->stop_keeping(); // so that its removal is the last record of it
        if (journal_) {         // recorded before the name can be used again
            journal_->append({QueueRemoved{.queue = entity->ids().queue,
                                           .dead_letters = entity->ids().dead_letters}});
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
    std::vector<QueuePairPtr> restored;
    {
        const std::unique_lock lock{mutex_};
        restored = restore_all();
    }
    has_begun_.store(true, std::memory_order_seq_cst);
    for (const QueuePairPtr& entity : all()) {
        entity->release_held(at);
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
        if (kept_.empty()) {
            return nullptr;
        }
    }
    std::vector<QueuePairPtr> restored;
    QueuePairPtr wanted;
    {
        const std::unique_lock lock{mutex_};
        if (kept_.contains(name)) { // otherwise another thread was first, or there is none
            restored = restore_all();
        }
        const auto found = entries_.find(name);
        wanted = found != entries_.end() ? found->second.entity : nullptr;
    }
    for (const QueuePairPtr& entity : restored) {
        entity->advance(kept_at_);
    }
    return wanted;
}

std::vector<QueuePairPtr> Directory::restore_all() {
    std::vector<QueuePairPtr> restored;
    for (const EntityKind kind : {EntityKind::topic, EntityKind::queue,
                                  EntityKind::subscription}) { // topics before their subscriptions
        for (auto kept = kept_.begin(); kept != kept_.end();) {
            const auto one = kept++;
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
        for (const auto& [name, kept] : kept_) {
            if (kept.kind == kind) {
                found.push_back(name);
            }
        }
    }
    std::ranges::sort(found);
    return found;
}

} // namespace sessionq::broker
