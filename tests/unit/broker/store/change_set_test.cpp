// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "broker/store/change_set.hpp"

using namespace sessionq;
using namespace sessionq::broker;

namespace {

using Action = ChangeSet::Action;

MessageContentPtr content(const char* body) {
    return std::make_shared<DecodedContent>(Message::of(body).in_session("s"));
}
DurableMessage message(std::int64_t sequence, MessageContentPtr what = nullptr,
                       std::uint32_t count = 0, EntityId entity = 1) {
    return {.entity = entity,
            .sequence = sequence,
            .content = std::move(what),
            .delivery_count = count};
}

} // namespace

TEST_CASE("ChangeSet: new messages are inserted and others updated or erased, in the order of "
          "first change") {
    ChangeSet set;
    CHECK(set.empty());
    set.add(MessageAdded{message(7, content("seven"))});
    set.add(MessageChanged{message(3, nullptr, 2)});
    set.add(MessageRemoved{.entity = 1, .sequence = 5});
    CHECK_FALSE(set.empty());
    REQUIRE(set.messages().size() == 3);
    CHECK(set.messages()[0].action == Action::insert);
    CHECK(set.messages()[0].message.content->body() == "seven");
    CHECK(set.messages()[1].action == Action::update);
    CHECK(set.messages()[1].message.delivery_count == 2);
    CHECK(set.messages()[2].action == Action::erase);
    CHECK(set.messages()[2].message.sequence == 5);
    set.clear();
    CHECK(set.empty());
}

TEST_CASE("ChangeSet: a message that was added and removed leaves only its number") {
    ChangeSet set;
    set.add(MessageAdded{message(7, content("seven"))});
    set.add(MessageChanged{message(7, nullptr, 1)});
    set.add(MessageRemoved{.entity = 1, .sequence = 7});
    REQUIRE(set.messages().size() == 1);
    CHECK(set.messages()[0].action == Action::nothing);
    CHECK(set.messages()[0].message.content == nullptr); // and its memory is free
    CHECK(set.last_sequences() == std::map<EntityId, std::int64_t>{{1, 7}});
    CHECK_FALSE(set.empty());
}

TEST_CASE(
    "ChangeSet: the last change wins, and changed content survives a change without content") {
    ChangeSet set;
    set.add(MessageAdded{message(1, content("old"))});
    set.add(MessageChanged{message(1, content("new"), 1)});
    set.add(MessageChanged{message(1, nullptr, 2)});
    set.add(MessageChanged{message(2, content("other"))});
    set.add(MessageChanged{message(2, nullptr, 4)});
    set.add(MessageChanged{message(3, content("gone"))});
    set.add(MessageRemoved{.entity = 1, .sequence = 3});
    REQUIRE(set.messages().size() == 3);
    CHECK(set.messages()[0].action == Action::insert);
    CHECK(set.messages()[0].message.content->body() == "new");
    CHECK(set.messages()[0].message.delivery_count == 2);
    CHECK(set.messages()[1].action == Action::update_with_content);
    CHECK(set.messages()[1].message.content->body() == "other");
    CHECK(set.messages()[1].message.delivery_count == 4);
    CHECK(set.messages()[2].action == Action::erase);
}

TEST_CASE("ChangeSet: the same number in two entities is two messages, and each entity has its own "
          "highest number") {
    ChangeSet set;
    set.add(MessageAdded{message(2, content("a"), 0, 1)});
    set.add(MessageAdded{message(1, content("b"), 0, 1)});
    set.add(MessageAdded{message(2, content("c"), 0, 2)});
    set.add(MessageRemoved{.entity = 2, .sequence = 2});
    CHECK(set.messages()[0].action == Action::insert);
    CHECK(set.messages()[2].action == Action::nothing);
    CHECK(set.last_sequences() == std::map<EntityId, std::int64_t>{{1, 2}, {2, 2}});
}

TEST_CASE("ChangeSet: the last state of a session counts, queues keep their order, and a removed "
          "entity writes nothing") {
    ChangeSet set;
    set.add(SessionStateSet{.entity = 1, .session_id = "s", .state = "one"});
    set.add(SessionStateSet{.entity = 1, .session_id = "s", .state = std::nullopt});
    set.add(SessionStateSet{.entity = 3, .session_id = "s", .state = "three"});
    set.add(QueueCreated{.queue = 1, .dead_letters = 2, .name = "q"});
    set.add(QueueRemoved{.queue = 1, .dead_letters = 2});
    set.add(QueueCreated{.queue = 3, .dead_letters = 4, .name = "q"});
    CHECK(set.states().size() == 2);
    CHECK(set.states().at({1, "s"}) == std::nullopt);
    CHECK(set.states().at({3, "s"}) == "three");
    REQUIRE(set.queues().size() == 3);
    CHECK(std::holds_alternative<QueueRemoved>(set.queues()[1]));
    CHECK(set.is_removed(1));
    CHECK(set.is_removed(2));
    CHECK_FALSE(set.is_removed(3));
}

TEST_CASE("ChangeSet: a cleared set holds no change of any kind") {
    const std::vector<Change> changes{
        MessageAdded{message(7, content("seven"))},
        SessionStateSet{.entity = 1, .session_id = "a", .state = "x"},
        MessageIdTaken{.entity = 1, .message_id = "m", .sequence = 7},
        QueueRemoved{.queue = 1, .dead_letters = 2},
    };
    for (const Change& change : changes) {
        CAPTURE(change.index());
        ChangeSet set;
        set.add(change);
        CHECK_FALSE(set.empty());
        set.clear();
        CHECK(set.empty());
    }
}
