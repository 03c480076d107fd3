#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/instant.hpp"
#include "broker/journal.hpp"
#include "broker/transit.hpp"
#include "broker/wakeup_board.hpp"
#include "core/ascii_case.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

class QueuePair;
struct EntitySpec;
using QueuePairPtr = std::shared_ptr<QueuePair>;

/// What stands between a topic's name and its subscription's in the subscription's full name.
inline constexpr std::string_view subscriptions_segment = "/Subscriptions/";

/// The entities of a broker by name, without regard to case, and the ways of messages between them.
/// Thread-safe.
class Directory : public std::enable_shared_from_this<Directory> {
public:
    /// What was `kept` is there at once, and takes up its work with the options it is made with
    /// anew; or else, as soon as something kept is asked for that was not, with those kept.
    Directory(std::shared_ptr<WakeupBoard> board, std::shared_ptr<Journal> journal,
              std::vector<KeptQueue> kept, Instant at);

    /// Fails with duplicate_entity, with entity_not_found where a subscription's topic is not
    /// there, and with invalid_option where messages would come back to where they were passed on
    /// from, or what was kept had sessions and now is to have none, or the reverse. What was not
    /// kept fails with quota_exceeded on a full disk, and with server_busy while nothing can be
    /// kept.
    core::Result<core::Done> make(EntitySpec spec, Instant at);

    /// Takes out an entity, with its subscriptions if it is a topic. Nothing of it is kept any
    /// more.
    [[nodiscard]] std::vector<QueuePairPtr> remove(std::string_view name);

    /// Takes out all; what is kept stays kept.
    [[nodiscard]] std::vector<QueuePairPtr> forget_all();

    /// Null: there is none.
    [[nodiscard]] QueuePairPtr find(std::string_view name);
    /// All but what was kept and not asked for yet.
    [[nodiscard]] std::vector<QueuePairPtr> all() const;
    /// Sorted.
    [[nodiscard]] std::vector<std::string> names(EntityKind kind) const;

    /// All is made that is to be there from the start: what was held back until then is passed on.
    void begin(Instant at);
    [[nodiscard]] bool has_begun() const noexcept {
        return has_begun_.load(std::memory_order_seq_cst);
    }

    /// Brings messages that leave `source` to where they go, and answers in each. Called under no
    /// lock of a queue.
    void deliver(const QueuePair& source, std::span<Transit> messages, Instant at);

    [[nodiscard]] Journal* journal() const noexcept { return journal_.get(); }

private:
    template <typename Held>
    using ByName =
        std::unordered_map<std::string, Held, core::HashIgnoringCase, core::EqualIgnoringCase>;

    struct Entry {
        QueuePairPtr entity{};
        std::string topic{}; // empty: no subscription
        std::vector<QueuePairPtr> subscriptions{};
    };

    [[nodiscard]] std::optional<Failure> find_fault(const EntitySpec& spec) const;
    [[nodiscard]] bool leads_back(const EntitySpec& spec) const;
    void put(EntitySpec spec, Instant at);
    QueuePairPtr restore(ByName<KeptQueue>::iterator found, EntitySpec spec);
    [[nodiscard]] std::vector<QueuePairPtr> restore_all();
    void enter(const QueuePairPtr& made, const std::string& topic);
    [[nodiscard]] std::vector<QueuePairPtr> subscriptions_of(const QueuePair& topic) const;
    void pass_on(const QueuePair& source, std::span<Transit> messages, Instant at);

    const std::shared_ptr<WakeupBoard> board_;
    const std::shared_ptr<Journal> journal_;
    const Instant kept_at_;
    std::atomic<bool> has_begun_;
    mutable std::shared_mutex mutex_; // guards kept_ and entries_
    ByName<KeptQueue> kept_;          // not asked for yet
    ByName<Entry> entries_;
};

} // namespace sessionq::broker
