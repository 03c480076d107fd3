// SPDX-License-Identifier: MIT
#include "processor/message/message_lists.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::MessageLists;
using detail::processor::MessageMachine;

namespace {

using ListedPhase = MessageMachine::Phase;

/// Brings a new message into a phase. Its session takes none of the steps that it names.
void bring_into(MessageMachine& message, ListedPhase phase) {
    using Action = FailurePolicy::Action;
    using detail::processor::Ending;
    if (phase == ListedPhase::received) {
        return;
    }
    const auto arrival = phase == ListedPhase::gathering ? MessageMachine::Arrival::gather
                                                         : MessageMachine::Arrival::enqueue;
    static_cast<void>(message.arrived(arrival, 100, false));
    const auto end = [&message](const detail::processor::MessageEnd& how,
                                const detail::processor::Circumstances& session) {
        static_cast<void>(message.ended(how, session, TimePoint{1h}));
    };
    switch (phase) {
    case ListedPhase::received:
    case ListedPhase::gathering:
    case ListedPhase::in_lane: break;
    case ListedPhase::settling_early:
    case ListedPhase::settled_early:
        static_cast<void>(message.decided(ports::Outcome::complete, true, true));
        if (phase == ListedPhase::settled_early) {
            static_cast<void>(message.answered(true));
        }
        break;
    case ListedPhase::retrying:
        end({.ending = Ending::failed}, {.failure = {.action = std::nullopt, .delay = 5s}});
        break;
    case ListedPhase::examining: end({.ending = Ending::unexamined, .holds_lane = true}, {}); break;
    case ListedPhase::failed:
        end({.ending = Ending::failed, .holds_lane = true},
            {.failure = {.action = Action::abandon}});
        break;
    case ListedPhase::settling:
    case ListedPhase::gone:
        end({}, {});
        if (phase == ListedPhase::gone) {
            static_cast<void>(message.answered(true));
        }
        break;
    }
    REQUIRE(message.phase() == phase);
}

/// Lists of messages that were brought into phases, as a session has them.
struct ListsBench {
    MessageMachine& add(ListedPhase phase) {
        MessageMachine& message = messages.emplace_back();
        bring_into(message, phase);
        lists.place(message);
        if (phase == ListedPhase::retrying) {
            lists.retrying().add(message);
        }
        return message;
    }

    /// The lists that have messages.
    [[nodiscard]] std::string filled() {
        std::string text;
        for (const auto& [has, name] :
             {std::pair{lists.is_gathering(), "gathering"},
              std::pair{lists.awaits_worker(), "in_lane"},
              std::pair{!lists.settling_early().empty(), "settling_early"},
              std::pair{lists.is_retrying(), "retrying"},
              std::pair{!lists.examining().empty(), "examining"},
              std::pair{!lists.failed().empty(), "failed"},
              std::pair{!lists.settling().empty(), "settling"}}) {
            if (has) {
                text.append(text.empty() ? "" : " ").append(name);
            }
        }
        return text;
    }

    std::deque<MessageMachine> messages{};
    MessageLists lists{};
};

} // namespace

TEST_CASE("message lists: each message is in the list of its phase") {
    struct Row {
        ListedPhase phase;
        const char* list;
        bool handlers_run;
        bool is_settling;
        bool only_settles;
        std::uint32_t in_lane;
    };
    for (const Row& row : {Row{ListedPhase::received, "", false, false, false, 0},
                           Row{ListedPhase::gathering, "gathering", false, false, false, 0},
                           Row{ListedPhase::in_lane, "in_lane", true, false, false, 1},
                           Row{ListedPhase::settling_early, "settling_early", true, true, false, 1},
                           Row{ListedPhase::settled_early, "in_lane", true, false, false, 1},
                           Row{ListedPhase::retrying, "retrying", false, false, false, 0},
                           Row{ListedPhase::examining, "examining", false, false, false, 0},
                           Row{ListedPhase::failed, "failed", false, false, false, 0},
                           Row{ListedPhase::settling, "settling", false, true, true, 0},
                           Row{ListedPhase::gone, "", false, false, false, 0}}) {
        CAPTURE(static_cast<int>(row.phase));
        ListsBench bench;
        bench.add(row.phase);
        CHECK(bench.filled() == row.list);
        CHECK(bench.lists.is_gathering() == (row.phase == ListedPhase::gathering));
        CHECK(bench.lists.handlers_run() == row.handlers_run);
        CHECK(bench.lists.is_settling() == row.is_settling);
        CHECK(bench.lists.only_settles() == row.only_settles);
        CHECK(bench.lists.in_lane() == row.in_lane);
    }
}

TEST_CASE("message lists: a message whose phase has changed leaves the list that it was in") {
    ListsBench bench;
    MessageMachine& message = bench.add(ListedPhase::gathering);
    static_cast<void>(message.gathered());
    bench.lists.place(message);
    CHECK(bench.filled() == "in_lane");
    static_cast<void>(message.decided(ports::Outcome::complete, true, true));
    bench.lists.place(message);
    CHECK(bench.filled() == "settling_early");
    static_cast<void>(message.ended({}, {}, TimePoint{1h}));
    bench.lists.place(message);
    CHECK(bench.filled() == "settling");
    static_cast<void>(message.answered(true));
    bench.lists.place(message);
    CHECK(bench.filled().empty());
}

TEST_CASE("message lists: a message that waits for its next try is in the queue of those alone") {
    ListsBench bench;
    MessageMachine& message = bench.add(ListedPhase::in_lane);
    CHECK(bench.lists.retry_at() == TimePoint::max());
    static_cast<void>(message.ended({.ending = detail::processor::Ending::failed},
                                    {.failure = {.action = std::nullopt, .delay = 5s}},
                                    TimePoint{1h}));
    bench.lists.place(message);
    bench.lists.retrying().add(message);
    CHECK(bench.filled() == "retrying");
    CHECK(bench.lists.retries() == 1);
    CHECK(bench.lists.retry_at() == TimePoint{1h} + 5s);
}

TEST_CASE("message lists: messages keep the order in which they came to a list") {
    ListsBench bench;
    std::vector<MessageMachine*> expected;
    for (int i = 0; i < 3; ++i) {
        expected.push_back(&bench.add(ListedPhase::failed));
    }
    bench.lists.place(*expected[0]); // it comes anew
    std::vector<MessageMachine*> found;
    MessageLists::each_of(bench.lists.failed(),
                          [&found](MessageMachine& each) { found.push_back(&each); });
    CHECK(found == std::vector<MessageMachine*>{expected[1], expected[2], expected[0]});
}

TEST_CASE("message lists: each_of reaches all, although they move to another list") {
    ListsBench bench;
    for (int i = 0; i < 3; ++i) {
        bench.add(ListedPhase::failed);
    }
    int reached = 0;
    MessageLists::each_of(bench.lists.failed(), [&](MessageMachine& each) {
        ++reached;
        static_cast<void>(each.let_back(true));
        bench.lists.place(each);
    });
    CHECK(reached == 3);
    CHECK(bench.filled() == "settling");
    CHECK(bench.lists.settling().front() == &bench.messages.front());
    CHECK(bench.lists.settling().back() == &bench.messages.back());
}

TEST_CASE("message lists: each_of reaches a message once, also when it stays in the list") {
    ListsBench bench;
    bench.add(ListedPhase::gathering);
    bench.add(ListedPhase::gathering);
    int reached = 0;
    MessageLists::each_of(bench.lists.gathering(), [&](MessageMachine& each) {
        bench.lists.place(each);
        REQUIRE(++reached <= 2);
    });
    CHECK(reached == 2);
    CHECK(bench.lists.gathering().front() == &bench.messages.front());
}

TEST_CASE("message lists: each_of does not reach a message that came into the list meanwhile") {
    ListsBench bench;
    bench.add(ListedPhase::gathering);
    int reached = 0;
    MessageLists::each_of(bench.lists.gathering(), [&](MessageMachine&) {
        REQUIRE(++reached == 1);
        bench.add(ListedPhase::gathering);
    });
    CHECK(reached == 1);
    CHECK(bench.lists.gathering().front() == &bench.messages.back());
}

TEST_CASE("message lists: each_of does not reach a message that was ended meanwhile") {
    std::vector<std::unique_ptr<MessageMachine>> owned;
    MessageLists lists;
    for (int i = 0; i < 4; ++i) {
        owned.push_back(std::make_unique<MessageMachine>());
        bring_into(*owned.back(), ListedPhase::examining);
        lists.place(*owned.back());
    }
    std::string reached;
    MessageLists::each_of(lists.examining(), [&](MessageMachine& each) {
        for (std::size_t i = 0; i < owned.size(); ++i) {
            if (owned[i].get() == &each) {
                reached += std::to_string(i);
                owned[i].reset(); // itself
                if (i == 0) {
                    owned[2].reset();
                    return;
                }
            }
        }
    });
    CHECK(reached == "013");
    CHECK(lists.examining().empty());
}

TEST_CASE("message lists: all that is in the lane or with a handler counts as in the lane") {
    ListsBench bench;
    bench.add(ListedPhase::in_lane);
    bench.add(ListedPhase::in_lane);
    bench.add(ListedPhase::settled_early);
    bench.add(ListedPhase::settling_early);
    bench.add(ListedPhase::settling);
    CHECK(bench.lists.in_lane() == 4);
}

TEST_CASE("message lists: only answers to settlements are awaited while all others are gone") {
    CHECK_FALSE(ListsBench{}.lists.only_settles());
    for (const auto phase : {ListedPhase::gathering, ListedPhase::in_lane,
                             ListedPhase::settling_early, ListedPhase::settled_early,
                             ListedPhase::retrying, ListedPhase::examining, ListedPhase::failed}) {
        CAPTURE(static_cast<int>(phase));
        ListsBench bench;
        bench.add(ListedPhase::settling);
        bench.add(ListedPhase::gone);
        CHECK(bench.lists.only_settles());
        bench.add(phase);
        CHECK_FALSE(bench.lists.only_settles());
    }
}
