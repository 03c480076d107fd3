#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "broker/journal.hpp"
#include "simulation/environment.hpp"
#include "simulation/sim_store.hpp"

namespace sessionq::simulation {

/// The product's broker as the oracles know it: what it has, from what it tells its journal, in the
/// very step in which it happens; who holds what, from what it answered the consumer. Never says
/// that a session is free before it may be.
class BrokerLedger final : public broker::Journal,
                           public std::enable_shared_from_this<BrokerLedger> {
public:
    /// `removes`: messages are gone once they are handed out.
    BrokerLedger(Environment& environment, bool removes)
        : environment_{&environment}, removes_{removes} {}

    /// Keeps what happens in a store.
    void keep_in(std::unique_ptr<SimStore> store) { store_ = std::move(store); }

    /// The broker is killed: what is not kept never was, and nothing more happens until it is there
    /// again.
    void kill();
    /// What a new one begins with, after it was checked.
    [[nodiscard]] std::vector<broker::DurableQueue> revive();

    bool confirms_at_once{false}; ///< a deliberate defect
    Duration commit_high{};       ///< how long it takes to keep a change, at most
    bool failing{false};
    bool locks_end_unheard{
        false}; ///< the broker may take a session back from a client that is not at fault, and give
                ///< it to another before the first hears of it

    // as a journal
    [[nodiscard]] broker::EntityId make_entity_id() override { return ++last_id_; }
    void append(std::vector<broker::Change> changes) override;
    [[nodiscard]] Mark last() const noexcept override { return mark_; }
    void when_durable(Durable done) override;
    [[nodiscard]] bool is_failing() const noexcept override { return failing; }
    [[nodiscard]] bool is_full() const noexcept override { return false; }

    /// Null: no such message is in the entity's queue, or ever was.
    [[nodiscard]] MessageRecord* find(const std::string& entity, std::int64_t sequence);
    /// The same, where it may be one that vanished, and its number was given to another.
    [[nodiscard]] MessageRecord* find(const std::string& entity, std::int64_t sequence,
                                      std::string_view id);

    // who holds what
    /// The consumer was given a session, by that link.
    void granted(LinkRecord& link, BrokerSession& session);
    /// The consumer was told, or said itself, that a link has ended.
    void ended(const LinkRecord& link);
    /// The broker let go of all that was held over a wire.
    void wire_over(std::uint32_t wire);

private:
    /// What one call of `append` changed.
    struct Uncommitted {
        Mark mark{0};
        std::vector<broker::Change> changes{}; ///< for the store, if there is one
        std::vector<std::function<void()>> undo{};
        std::vector<std::pair<SentRecord*, std::int64_t>> copies{}; ///< that came with it
        std::vector<std::pair<ScheduledRecord*, std::int64_t>> schedules{};
        std::vector<std::pair<std::vector<StateValue>*, std::size_t>> states{};
    };

    void note(const broker::Change& change, const std::vector<broker::Change>& all);
    void added(const broker::DurableMessage& message, const std::vector<broker::Change>& all);
    void scheduled(const std::string& entity, const broker::DurableMessage& message);
    void due(const std::string& entity, ScheduledRecord& record,
             const std::vector<broker::Change>& all, std::int64_t sequence);
    void unscheduled(const std::string& entity, std::int64_t sequence);
    void changed(const broker::DurableMessage& message);
    void finish(MessageRecord& message, MessageState state);
    void commit(Mark mark);
    void check(const broker::DurableQueue& kept);
    void state_set(const broker::SessionStateSet& change);
    void removed(const broker::MessageRemoved& change, const std::vector<broker::Change>& all);
    void let_go(const LinkRecord& link, BrokerSession& session);

    Environment* environment_;
    bool removes_;
    broker::EntityId last_id_{0};
    Mark mark_{0};
    std::map<std::pair<std::string, std::int64_t>, ScheduledRecord*>
        scheduled_{}; ///< by entity and number
    std::deque<Uncommitted> uncommitted_{};
    std::unique_ptr<SimStore> store_{};
    bool is_dead_{false};
    std::uint64_t life_{0};
    std::map<broker::EntityId, std::string> queues_{};
    std::map<std::pair<std::string, std::int64_t>, MessageRecord*> messages_{};
    std::map<std::pair<std::string, std::int64_t>, std::string> ids_{};
    std::map<std::tuple<std::string, std::int64_t, std::string>, MessageRecord*>
        replaced_{}; ///< with their ids
};

} // namespace sessionq::simulation
