// SPDX-License-Identifier: MIT
#include "broker/rule_book.hpp"

#include <doctest/doctest.h>

#include "support/held_journal.hpp"

using namespace sessionq;
using namespace sessionq::broker;

namespace {

MessageContentPtr red() {
    return std::make_shared<DecodedContent>(
        Message{.body = "b", .properties = {{"color", std::string{"red"}}}});
}

std::vector<MessageContentPtr> select(const RuleBook& rules, const MessageContentPtr& content) {
    filter::Candidate message{content};
    filter::Work work{0, true};
    RuleSelection selection = rules.select();
    while (!selection.run(message, work)) {
        work = filter::Work{0, true};
    }
    std::vector<MessageContentPtr> copies;
    for (const RuleSelection::Copy& copy : selection.copies()) {
        CHECK(copy.is_changed == (copy.content != content));
        copies.push_back(copy.content);
    }
    return copies;
}

/// Content whose properties cannot be decoded.
class Unreadable final : public MessageContent {
public:
    [[nodiscard]] std::string_view body() const override { return {}; }
    [[nodiscard]] std::optional<std::string_view> session_id() const override { return {}; }
    [[nodiscard]] std::string_view message_id() const override { return {}; }
    [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_live() const override {
        return {};
    }
    [[nodiscard]] std::uint8_t priority() const override { return 4; }
    [[nodiscard]] std::optional<WallTime> scheduled_enqueue_time() const override { return {}; }
    [[nodiscard]] Deadline deadline() const override { return {}; }
    [[nodiscard]] const Message& message() const override {
        throw Error{Errc::protocol_error, "no"};
    }
    [[nodiscard]] std::optional<Message> outline() const override { return {}; }
    [[nodiscard]] std::size_t bytes() const noexcept override { return 1; }
    [[nodiscard]] MessageContentPtr with_changes(const ContentChanges&) const override {
        return {};
    }
};

} // namespace

TEST_CASE("rules: all rules without an action make one copy together, and each rule with an action "
          "makes its own") {
    RuleBook rules;
    CHECK(select(rules, red()).empty());
    REQUIRE(
        rules
            .add(
                {.name = "1", .filter = SqlFilter{"color = 'red'"}, .action = "SET color = 'blue'"})
            .ok());
    REQUIRE(rules.add({.name = "2", .filter = SqlFilter{"color = 'red'"}}).ok());
    REQUIRE(rules.add({.name = "3"}).ok());
    REQUIRE(rules.add({.name = "4", .filter = FalseFilter{}, .action = "SET never = 1"}).ok());
    REQUIRE(rules.add({.name = "5", .action = "SET five = 5"}).ok());
    const MessageContentPtr original = red();
    const auto copies = select(rules, original);
    REQUIRE(copies.size() == 3);
    CHECK(copies[0]->message().properties ==
          Properties{{"RuleName", std::string{"1"}}, {"color", std::string{"blue"}}});
    CHECK(copies[1] == original);
    CHECK(copies[2]->message().properties.at("five") == PropertyValue{std::int64_t{5}});
    CHECK(copies[2]->message().properties.at("color") == PropertyValue{std::string{"red"}});
}

TEST_CASE("rules: are added and removed by name in any case, and listed by name") {
    RuleBook rules;
    REQUIRE(rules.add({.name = "two", .filter = FalseFilter{}}).ok());
    REQUIRE(rules.add({.name = "One"}).ok());
    CHECK(rules.add({.name = "ONE"}).failure().code == Errc::duplicate_entity);
    CHECK(rules.add({.name = "bad", .filter = SqlFilter{"="}}).failure().code ==
          Errc::invalid_argument);
    CHECK(rules.list() ==
          std::vector<Rule>{{.name = "One"}, {.name = "two", .filter = FalseFilter{}}});
    CHECK(rules.remove("one").ok());
    CHECK(rules.remove("one").failure().code == Errc::entity_not_found);
    CHECK(select(rules, red()).empty());
}

TEST_CASE("rules: a message whose properties cannot be decoded matches only rules that do not read "
          "them") {
    RuleBook rules;
    REQUIRE(rules.add({.name = "asks", .filter = SqlFilter{"1=1"}}).ok());
    REQUIRE(rules.add({.name = "changes", .action = "SET a = 1"}).ok());
    const MessageContentPtr unreadable = std::make_shared<Unreadable>();
    CHECK(select(rules, unreadable).empty());
    REQUIRE(rules.add({.name = "all"}).ok());
    CHECK(select(rules, unreadable) == std::vector<MessageContentPtr>{unreadable});
}

TEST_CASE("rules: changes are recorded; on a full disk none is added, and while the journal fails "
          "none changes") {
    const auto journal = std::make_shared<test::HeldJournal>();
    RuleBook rules;
    REQUIRE(rules.add({.name = "before"}).ok());
    rules.record_in(journal, 7, "news/Subscriptions/all");
    REQUIRE(rules.add({.name = "one"}).ok());
    REQUIRE(rules.add({.name = "two"}).ok());
    journal->full = true;
    const auto refused = rules.add({.name = "three"});
    CHECK(refused.failure().code == Errc::quota_exceeded);
    CHECK(refused.failure().detail.find("news/Subscriptions/all") != std::string::npos);
    CHECK(rules.remove("one").ok());
    journal->full = false;
    journal->failing = true;
    CHECK(rules.add({.name = "three"}).failure().code == Errc::server_busy);
    CHECK(rules.remove("two").failure().code == Errc::server_busy);
    CHECK(rules.remove("nothing").failure().code == Errc::entity_not_found);
    CHECK(rules.list() == std::vector<Rule>{{.name = "before"}, {.name = "two"}});
    REQUIRE(journal->count<RulesChanged>() == 3);
    const auto& last = std::get<RulesChanged>(journal->appended.back());
    CHECK(last.queue == 7);
    CHECK(last.rules == rules.list());
    journal->failing = false;
    CHECK(rules.add({.name = "three"}).ok());
}

TEST_CASE("rules: a subscription has at most 2,000 rules") {
    RuleBook rules;
    for (int i = 0; i < 2000; ++i) {
        REQUIRE(rules.add({.name = std::to_string(i)}).ok());
    }
    CHECK(rules.add({.name = "more"}).failure().code == Errc::quota_exceeded);
    REQUIRE(rules.remove("7").ok());
    CHECK(rules.add({.name = "more"}).ok());
}

TEST_CASE("rules: a page of them") {
    RuleBook rules;
    for (const char* const name : {"1", "2", "3"}) {
        REQUIRE(rules.add({.name = name}).ok());
    }
    CHECK(rules.list(0, 2) == std::vector<Rule>{{.name = "1"}, {.name = "2"}});
    CHECK(rules.list(2, 2) == std::vector<Rule>{{.name = "3"}});
    CHECK(rules.list(3, 2).empty());
    CHECK(rules.list(4, 2).empty());
}
