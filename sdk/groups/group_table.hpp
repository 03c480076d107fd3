// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sessionq/received_message.hpp>

#include "amqp/engine/link.hpp"
#include "core/weak_handle.hpp"
#include "groups/link_window.hpp"
#include "ports/delivery.hpp"

namespace sessionq::groups {

class GroupLink;
struct Group;

/// An unsettled message of a shared receiver link, in the table of its `GroupReceiver`.
struct Held {
    enum class Place : std::uint8_t {
        waiting,  ///< Not given to a session.
        given,    ///< Given to the session and not settled.
        settling, ///< Settled; the broker has not answered.
    };

    amqp::DeliveryHandle handle{};
    ReceivedMessage message{};
    std::size_t bytes{0};
    std::uint64_t order{0}; ///< The order of arrival.
    Group* group{nullptr};
    Place place{Place::waiting};
    ports::Delivery* given{nullptr};       ///< The delivery that the session's owner has.
    core::WeakHandle<GroupLink> settler{}; ///< Answers the owner when the broker has answered.
    bool failed{false};                    ///< Goes back, and the broker counts the delivery.
};

/// The messages of one group that came over a link, and the session that holds the group.
struct Group {
    std::string id{};
    GroupLink* session{nullptr};
    std::deque<Held*> waiting{}; ///< By order.
    std::vector<Held*> given{};  ///< Also holds messages that are settling.
    bool returning{false};       ///< Nothing is given until the waiting messages are back.
    bool begun{false};           ///< The session was given a message.
    bool ready{false};           ///< In the queue of groups that may be accepted.
    std::list<Group*>::iterator place{};
};

/// Decides which groups of a receiver link may be accepted, and which message of a group comes
/// next. Each `GroupReceiver` has a table. The messages of a group are given in order of arrival.
/// Groups are accepted in the order in which they became ready. No I/O, no clock.
class GroupTable {
public:
    GroupTable() = default;
    GroupTable(const GroupTable&) = delete;
    GroupTable& operator=(const GroupTable&) = delete;

    /// A message arrived. The group may be ready now.
    Held& arrived(std::string_view group, amqp::DeliveryHandle handle, ReceivedMessage message,
                  std::size_t bytes);

    /// A session takes the group that has been ready longest. Only if `has_ready`.
    [[nodiscard]] Group& take_ready(GroupLink& session);
    /// A session takes this group, which need not have messages. Only if no session holds it.
    [[nodiscard]] Group& take(std::string_view group, GroupLink& session);
    /// The session ends. Messages that it did not settle wait again, uncounted.
    void give_back(Group& group);

    /// The next message for the group's session. Null if none waits, or if the group is returning.
    [[nodiscard]] Held* next_for(Group& group);
    /// A given message waits again, at its place.
    void undo(Held& held);
    /// A message that was given to a session has failed. The message goes back to the broker with
    /// the waiting messages of its group, so that they come again in order.
    void fail(Held& held, core::WeakHandle<GroupLink> settler);
    /// A given message is settled; the broker will answer.
    void settle(Held& held, core::WeakHandle<GroupLink> settler);
    /// The message is settled, or back at the broker.
    void remove(Held& held);
    /// Returns the waiting messages of groups that go back to the broker, in order. Call it when no
    /// more messages can arrive. The caller sends each message back and removes it.
    [[nodiscard]] std::vector<Held*> take_returning();
    /// The waiting messages of groups that no session holds, in order.
    [[nodiscard]] std::vector<Held*> take_waiting();

    /// The session that holds the group. Null: none.
    [[nodiscard]] GroupLink* holder(std::string_view group) const;
    /// Returns the session that holds the group, if the session has had messages and has none in
    /// hand. Null otherwise. If the broker deals the group anew now, another consumer may have had
    /// the group.
    [[nodiscard]] GroupLink* resting(std::string_view group) const;
    /// Returns a number for a message whose sender set no sequence number.
    [[nodiscard]] std::int64_t next_sequence_number() noexcept { return ++last_number_; }
    [[nodiscard]] bool has_ready() const noexcept { return !ready_.empty(); }
    /// No message is here and no session is open.
    [[nodiscard]] bool is_empty() const noexcept { return groups_.empty(); }
    [[nodiscard]] bool has(std::string_view group) const { return groups_.contains(group); }
    [[nodiscard]] LinkWindow& window() noexcept { return window_; }

    /// Visits the messages that sessions have. The broker has not confirmed their settlement.
    template <typename Visit>
    void visit_given(Visit visit) const {
        for (const auto& [id, group] : groups_) {
            for (const Held* held : group->given) {
                visit(*held);
            }
        }
    }
    /// The link is gone, and its messages with it. The sessions have been told.
    void lose_all();

private:
    using Groups = std::unordered_map<std::string_view,
                                      std::unique_ptr<Group>>; // keys refer to the groups' ids

    [[nodiscard]] Group& find_or_make(std::string_view id);
    void update_ready(Group& group); // also forgets a group without session and messages
    static void wait_again(Held& held);
    template <typename Wanted>
    [[nodiscard]] std::vector<Held*> take_from(Wanted wanted);

    Groups groups_{};
    std::list<Group*> ready_{};
    LinkWindow window_{};
    std::deque<Held> store_{}; // never shrinks while the link lasts
    std::vector<Held*> free_{};
    std::uint64_t last_order_{0};
    std::int64_t last_number_{0};
};

} // namespace sessionq::groups
