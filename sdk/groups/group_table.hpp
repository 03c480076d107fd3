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

#include "amqp/link.hpp"
#include "ports/delivery.hpp"

namespace sessionq::groups {

class GroupSession;
struct Group;

/// A message the broker gave us and that is not settled.
struct Held {
    amqp::DeliveryHandle handle{};
    ReceivedMessage message{};
    std::size_t bytes{0};
    std::uint64_t order{0}; ///< in which it came
    Group* group{nullptr};
    ports::Delivery* given{nullptr}; ///< what the session's owner has of it
    GroupSession* settler{nullptr};  ///< who is told when the broker has answered its settlement
    bool failed{false};              ///< goes back counted
};

/// The messages of one group that came over a link, and who has the right to them.
struct Group {
    std::string id{};
    GroupSession* session{nullptr};
    std::deque<Held*> waiting{};   ///< not given to a session; by order
    std::deque<Held*> given{};     ///< given to the session and not settled; by order
    std::vector<Held*> settling{}; ///< settled, and the broker has not answered
    bool returning{
        false};        ///< what waits goes back to the broker first: nothing is given until then
    bool begun{false}; ///< its session was given something
    bool ready{false}; ///< stands in the queue of those that may be accepted
    std::list<Group*>::iterator place{};
};

/// Decides which groups of a receiver link may be accepted, and in which order their messages are
/// given: those of one group as they came, groups by the time they became ready. No I/O, no clock.
class GroupTable {
public:
    GroupTable() = default;
    GroupTable(const GroupTable&) = delete;
    GroupTable& operator=(const GroupTable&) = delete;

    /// A message came. The group may be ready now.
    Held& arrived(std::string_view group, amqp::DeliveryHandle handle, ReceivedMessage message,
                  std::size_t bytes);

    /// The group that has been ready longest is taken by a session. Null: none is ready.
    [[nodiscard]] Group* take_ready(GroupSession& session);
    /// This group is taken, whether anything of it came or not. Null: it is held already.
    [[nodiscard]] Group* take(std::string_view group, GroupSession& session);
    /// The session ends: what it was given and did not settle waits again, uncounted.
    void give_back(Group& group);

    /// The next message for the group's session; null: none waits, or what waits is to go back.
    [[nodiscard]] Held* next_for(Group& group);
    /// A message that was given waits again, at its place.
    void undo(Held& held);
    /// A message that was given has failed: it and all that waits of its group go back to the
    /// broker, so that they come again in order.
    void fail(Held& held);
    /// A message that was given is settled; the broker will answer.
    void settle(Held& held, GroupSession& settler);
    /// Settled for good, or back at the broker.
    void remove(Held& held);
    /// The groups of which messages go back now, once nothing more can come: what waits of them, in
    /// order; the caller hands each back and removes it.
    [[nodiscard]] std::vector<Held*> take_returning();
    /// The same of all groups that have no session.
    [[nodiscard]] std::vector<Held*> take_waiting();

    /// Whether a session holds the group, has had messages of it, and none is in hand: if the
    /// broker now deals the group anew, that session's time is over.
    [[nodiscard]] bool rests(std::string_view group) const;
    [[nodiscard]] bool has_ready() const noexcept { return !ready_.empty(); }
    [[nodiscard]] bool is_returning() const noexcept { return returning_ != 0; }
    /// Nothing is held and no session is open.
    [[nodiscard]] bool is_empty() const noexcept { return groups_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return groups_.size(); }

    /// What sessions were given and no broker has said to be settled.
    template <typename Visit>
    void visit_given(Visit visit) {
        for (auto& [id, group] : groups_) {
            for (Held* held : group->given) {
                visit(*held);
            }
            for (Held* held : group->settling) {
                visit(*held);
            }
        }
    }
    [[nodiscard]] bool has(std::string_view group) const { return groups_.contains(group); }
    /// The link is gone, and with it what was held; sessions have let go of their groups.
    void lose_all();

private:
    using Groups = std::unordered_map<std::string_view,
                                      std::unique_ptr<Group>>; // keys are the groups' own ids

    Group& find_or_make(std::string_view id);
    void look(Group& group); // is it ready, or of no more use
    void forget(Held& held);
    static void insert(std::deque<Held*>& into, Held& held);

    Groups groups_{};
    std::list<Group*> ready_{};
    std::deque<Held> store_{}; // of all that was ever held at once
    std::vector<Held*> free_{};
    std::size_t returning_{0};
    std::uint64_t last_order_{0};
};

} // namespace sessionq::groups
