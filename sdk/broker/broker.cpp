#include "broker/broker.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "broker/queue_pair.hpp"

namespace sessionq::broker {
namespace {

constexpr std::size_t longest_name = 260;

Failure not_found(std::string_view name) { return {.code = Errc::entity_not_found, .detail = "there is no entity '" + std::string{name} + "'"}; }

} // namespace

Broker::Broker() : Broker{nullptr, {}, {}} {}

Broker::Broker(std::shared_ptr<Journal> journal, std::vector<KeptQueue> kept, Instant at)
    : journal_{std::move(journal)}, kept_at_{at}, board_{std::make_shared<WakeupBoard>()} {
    for (KeptQueue& queue : kept) {
        std::string name = queue.name;
        kept_.emplace(std::move(name), std::move(queue));
    }
}

Broker::~Broker() = default;

core::Result<core::Done> Broker::create_queue(const std::string& name, const QueueOptions& options, Instant at) {
    if (name.empty() || name.size() > longest_name || name.find('$') != std::string::npos) {
        return Failure{.code = Errc::invalid_argument, .detail = "a queue's name has 1 to 260 characters and no '$': '" + name + "'"};
    }
    if (auto fault = find_fault(options)) {
        return std::move(*fault);
    }
    const std::unique_lock lock{mutex_};
    if (queues_.contains(name)) {
        return Failure{.code = Errc::duplicate_entity, .detail = "there is an entity '" + name + "' already"};
    }
    if (const auto kept = kept_.find(name); kept != kept_.end()) {
        const auto restored = restore(kept, options);
        return restored ? core::Result<core::Done>{core::Done{}} : restored.failure();
    }
    queues_.emplace(name, make_pair(name, options, at));
    return core::Done{};
}

std::shared_ptr<QueuePair> Broker::make_pair(const std::string& name, const QueueOptions& options, Instant at) {
    QueueIds ids;
    if (journal_) {
        ids = {.queue = journal_->make_entity_id(), .dead_letters = journal_->make_entity_id()};
        journal_->append({QueueCreated{.queue = ids.queue, .dead_letters = ids.dead_letters, .name = name, .options = options}});
    }
    return std::make_shared<QueuePair>(name, options, board_, at, journal_, ids);
}

core::Result<std::shared_ptr<QueuePair>> Broker::restore(KeptQueues::iterator found, const QueueOptions& options) {
    if (found->second.options.requires_session != options.requires_session) {
        return Failure{.code = Errc::invalid_option,
                       .detail = "requires_session: the queue '" + found->first + "' was kept as one " +
                                 (options.requires_session ? "without" : "with") + " sessions, and cannot become another"};
    }
    const std::string name = found->first;
    KeptQueue kept = std::move(found->second);
    kept_.erase(found);
    const QueueIds ids{.queue = kept.queue.id, .dead_letters = kept.dead_letters.id};
    if (journal_ && kept.options != options) {
        journal_->append({QueueOptionsChanged{.queue = ids.queue, .options = options}});
    }
    auto pair = std::make_shared<QueuePair>(name, options, board_, kept_at_, journal_, ids);
    pair->restore(std::move(kept), kept_at_);
    queues_.emplace(name, pair);
    return pair;
}

core::Result<core::Done> Broker::delete_queue(std::string_view name, Instant at) {
    const std::shared_ptr<QueuePair> gone = find_pair(name);
    if (gone == nullptr) {
        return not_found(name);
    }
    gone->stop_keeping(); // so that nothing of it comes after its removal
    {
        const std::unique_lock lock{mutex_};
        const auto found = queues_.find(name);
        if (found == queues_.end() || found->second != gone) {
            return not_found(name);
        }
        queues_.erase(found);
        if (journal_) { // before another of the same name can be made
            journal_->append({QueueRemoved{.queue = gone->ids().queue, .dead_letters = gone->ids().dead_letters}});
        }
    }
    gone->shut_down(at);
    return core::Done{};
}

std::shared_ptr<QueuePair> Broker::find_pair(std::string_view name) {
    {
        const std::shared_lock lock{mutex_};
        const auto found = queues_.find(name);
        if (found != queues_.end()) {
            return found->second;
        }
        if (kept_.empty()) {
            return nullptr;
        }
    }
    const std::unique_lock lock{mutex_};
    if (const auto found = queues_.find(name); found != queues_.end()) { // another thread was first
        return found->second;
    }
    const auto kept = kept_.find(name);
    return kept != kept_.end() ? restore(kept, QueueOptions{kept->second.options}).value() : nullptr;
}

core::Result<QueuePtr> Broker::find(std::string_view name) {
    const bool is_dead_letters = name.ends_with(dead_letter_suffix);
    const auto pair = find_pair(is_dead_letters ? name.substr(0, name.size() - dead_letter_suffix.size()) : name);
    if (pair == nullptr) {
        return not_found(name);
    }
    return QueuePtr{pair, is_dead_letters ? &pair->dead_letters() : &pair->queue()};
}

std::vector<std::string> Broker::queue_names() const {
    std::vector<std::string> names;
    {
        const std::shared_lock lock{mutex_};
        for (const auto& [name, pair] : queues_) {
            names.push_back(name);
        }
        for (const auto& [name, kept] : kept_) {
            names.push_back(name);
        }
    }
    std::ranges::sort(names);
    return names;
}

std::optional<TimePoint> Broker::next_wakeup() {
    board_->forget();
    TimePoint earliest = TimePoint::max();
    {
        const std::shared_lock lock{mutex_};
        for (const auto& [name, pair] : queues_) {
            earliest = std::min(earliest, pair->next_due());
        }
    }
    board_->plan(earliest);
    return earliest == TimePoint::max() ? std::nullopt : std::optional{earliest};
}

void Broker::advance(Instant at) {
    std::vector<std::shared_ptr<QueuePair>> due;
    {
        const std::shared_lock lock{mutex_};
        for (const auto& [name, pair] : queues_) {
            if (pair->next_due() <= at.now) {
                due.push_back(pair);
            }
        }
    }
    for (const auto& pair : due) {
        pair->advance(at);
    }
}

} // namespace sessionq::broker
