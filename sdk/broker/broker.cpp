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

Broker::Broker() : board_{std::make_shared<WakeupBoard>()} {}

Broker::~Broker() = default;

core::Result<core::Done> Broker::create_queue(const std::string& name, const QueueOptions& options, Instant at) {
    if (name.empty() || name.size() > longest_name || name.find('$') != std::string::npos) {
        return Failure{.code = Errc::invalid_argument, .detail = "a queue's name has 1 to 260 characters and no '$': '" + name + "'"};
    }
    if (auto fault = find_fault(options)) {
        return std::move(*fault);
    }
    auto made = std::make_shared<QueuePair>(name, options, board_, at);
    const std::unique_lock lock{mutex_};
    if (!queues_.try_emplace(name, std::move(made)).second) {
        return Failure{.code = Errc::duplicate_entity, .detail = "there is an entity '" + name + "' already"};
    }
    return core::Done{};
}

core::Result<core::Done> Broker::delete_queue(std::string_view name, Instant at) {
    std::shared_ptr<QueuePair> gone;
    {
        const std::unique_lock lock{mutex_};
        const auto found = queues_.find(name);
        if (found == queues_.end()) {
            return not_found(name);
        }
        gone = std::move(found->second);
        queues_.erase(found);
    }
    gone->shut_down(at);
    return core::Done{};
}

core::Result<QueuePtr> Broker::find(std::string_view name) const {
    const bool is_dead_letters = name.ends_with(dead_letter_suffix);
    const std::shared_lock lock{mutex_};
    const auto found = queues_.find(is_dead_letters ? name.substr(0, name.size() - dead_letter_suffix.size()) : name);
    if (found == queues_.end()) {
        return not_found(name);
    }
    const auto& pair = found->second;
    return QueuePtr{pair, is_dead_letters ? &pair->dead_letters() : &pair->queue()};
}

std::vector<std::string> Broker::queue_names() const {
    std::vector<std::string> names;
    {
        const std::shared_lock lock{mutex_};
        for (const auto& [name, pair] : queues_) {
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
