// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "broker/journal.hpp"
#include "simulation/environment.hpp"
#include "simulation/sim_store.hpp"

namespace sessionq::simulation {

/// The product's broker as the oracles know it. What it stores comes from its journal, in the step
/// in which it happens. Who holds what comes from its answers to the consumer. The ledger never
/// calls a session free too early.
class BrokerLedger final : public broker::Journal,
                           public std::enable_shared_from_this<BrokerLedger> {
public:
    /// `removes`: the broker removes messages when it delivers them.
    BrokerLedger(Environment& environment, bool removes)
        : environment_{&environment}, removes_{removes} {}

    /// Keeps every change in a store.
    void keep_in(std::unique_ptr<SimStore> store) { store_ = std::move(store); }

    /// The broker is killed. Changes that the store does not have are lost, and nothing happens
    /// until the broker restarts.
    void kill();
    /// Checks the store and returns what a new broker starts with.
    [[nodiscard]] std::vector<broker::DurableQueue> revive();

    bool confirms_at_once{false}; ///< a deliberate defect
    Duration commit_high{};       ///< the longest time that the store needs for a change
    bool failing{false};
    bool clients_learn_late{false}; ///< a client may not know that its connection is over
    bool locks_end_unheard{false};  ///< the broker may take a session from a healthy client and
                                    ///< grant it to another before the first one hears of it

    // The journal.
    [[nodiscard]] broker::EntityId make_entity_id() override { return ++last_id_; }
    void append(std::vector<broker::Change> changes) override;
    [[nodiscard]] Mark last() const noexcept override { return mark_; }
    void when_durable(Durable done) override;
    [[nodiscard]] bool is_failing() const noexcept override { return failing; }
    [[nodiscard]] bool is_behind() const noexcept override { return false; }
    [[nodiscard]] bool is_full() const noexcept override { return false; }

    /// Returns null if the entity never had such a message.
    [[nodiscard]] MessageRecord* find(const std::string& entity, std::int64_t sequence);
    /// Also finds a message that vanished and whose number another message has now.
    [[nodiscard]] MessageRecord* find(const std::string& entity, std::int64_t sequence,
                                      std::string_view id);

    // Who holds what.
    /// The consumer was granted a session over this link.
    void granted(LinkRecord& link, BrokerSession& session);
    /// A link has ended, and the consumer knows.
    void ended(const LinkRecord& link);
    /// The broker released everything that was held over a wire.
    void wire_over(std::uint32_t wire);

private:
    /// What one call of `append` changed.
    struct Uncommitted {
        Mark mark{0};
        std::vector<broker::Change> changes{}; ///< for the store, if the setup has one
        std::vector<std::function<void()>> undo{};
        std::vector<std::pair<SentRecord*, std::int64_t>> copies{}; ///< that this change enqueued
        std::vector<std::pair<ScheduledRecord*, std::int64_t>> schedules{};
        std::vector<std::pair<std::vector<StateValue>*, std::size_t>> states{};
    };

    void note(const broker::Change& change, const std::vector<broker::Change>& all);
    void added(const broker::DurableMessage& message, const std::vector<broker::Change>& all);
    void copy_added(const std::string& entity, const MessageContent& content,
                    const MessageRecord& record);
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
    std::set<std::uint32_t> wires_over_{};
    std::map<broker::EntityId, std::string> queues_{};
    std::map<broker::EntityId, std::string> dead_letters_{}; ///< whose they are
    std::map<std::pair<std::string, std::int64_t>, MessageRecord*> messages_{};
    std::map<std::pair<std::string, std::int64_t>, std::string> ids_{};
    std::map<std::tuple<std::string, std::int64_t, std::string>, MessageRecord*>
        replaced_{}; ///< with their ids
};

} // namespace sessionq::simulation
