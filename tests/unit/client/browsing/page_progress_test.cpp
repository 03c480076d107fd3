// SPDX-License-Identifier: MIT
// What asks page after page, at a broker whose pages make no progress.
#include "client/browsing/page_progress.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <string>

#include <sessionq/browser.hpp>
#include <sessionq/error.hpp>
#include <sessionq/message_content.hpp>
#include <sessionq/purge.hpp>
#include <sessionq/rule_manager.hpp>

#include "client/browsing/session_pages.hpp"
#include "client/connecting/client_core.hpp"
#include "client/redrive/purge_progress.hpp"
#include "core/access.hpp"
#include "unit/client/silent_endpoint.hpp"

using namespace sessionq;

namespace {

constexpr std::int64_t last_number = std::numeric_limits<std::int64_t>::max();

std::vector<ReceivedMessage> page_of(const std::vector<std::int64_t>& numbers) {
    std::vector<ReceivedMessage> page;
    for (const std::int64_t number : numbers) {
        page.emplace_back(std::make_shared<const DecodedContent>(Message{.body = "b"}),
                          DeliveryFacts{.sequence_number = number});
    }
    return page;
}

struct Answers {
    std::vector<std::int64_t> numbers{};
    std::size_t requests{0};
};

/// Answers each request as it has answered those before.
class Repeating final : public test::SilentEndpoint {
public:
    Repeating(core::EventLoop& loop, std::shared_ptr<Answers> answers)
        : SilentEndpoint{loop,
                         {"repeating",
                          {ports::Capability::peek, ports::Capability::list_sessions,
                           ports::Capability::rules, ports::Capability::batch_delete}}},
          answers_{std::move(answers)} {}

    ports::RequestId peek(ports::PeekRequest, ports::PeekHandler handler) override {
        return answer(std::move(handler), page_of(answers_->numbers));
    }
    ports::RequestId list_sessions(ports::ListSessionsRequest,
                                   ports::ListSessionsHandler handler) override {
        return answer(std::move(handler),
                      std::vector<std::string>(detail::client::SessionPages::per_page, "id"));
    }
    ports::RequestId manage_rules(ports::RulesRequest, ports::RulesHandler handler) override {
        return answer(std::move(handler), std::vector<Rule>(100, Rule{.name = "r"}));
    }
    ports::RequestId delete_messages(ports::DeleteMessagesRequest,
                                     ports::DeletedHandler handler) override {
        return answer(std::move(handler), ports::DeletedMessages{.count = 1});
    }

private:
    template <typename Handler, typename Answer>
    ports::RequestId answer(Handler handler, Answer given) {
        loop().post([handler = std::move(handler), given = std::move(given)]() mutable {
            handler(std::move(given));
        });
        return ++answers_->requests;
    }

    std::shared_ptr<Answers> answers_;
};

struct RepeatingFixture {
    std::shared_ptr<Answers> answers{std::make_shared<Answers>()};
    Client client{detail::client::Access::make<Client>(std::make_shared<detail::client::ClientCore>(
        ClientOptions{}, [this](detail::client::ReceiveThread& loop, core::Executor&) {
            return std::make_unique<Repeating>(loop, answers);
        }))};
};

/// What the broker is accused of. Empty: of nothing.
template <typename Call>
std::string accusation(Call call) {
    try {
        call();
    } catch (const Error& error) {
        CHECK(error.code() == Errc::protocol_error);
        return error.failure().detail;
    }
    return {};
}

} // namespace

TEST_CASE("page progress: a peek goes on behind the highest number of a page") {
    CHECK(detail::client::position_behind(page_of({5, 6, 9}), 5) == 10);
    CHECK(detail::client::position_behind(page_of({9, 6}), 5) == 10);
    CHECK(detail::client::position_behind(page_of({3, 5}), 5) == 6);
    CHECK_FALSE(detail::client::position_behind(page_of({3, 4}), 5));
    CHECK_FALSE(detail::client::position_behind(page_of({last_number}), 5));
    CHECK_FALSE(
        detail::client::position_behind(page_of({std::numeric_limits<std::int64_t>::min()}), 0));
}

TEST_CASE("page progress: a browser ends at a broker that shows the same page again and again") {
    RepeatingFixture f;
    f.answers->numbers = {7, 8};
    std::size_t shown = 0;
    Browser browser{f.client, "orders"};
    CHECK(accusation([&] {
              for (const ReceivedMessage& message : browser) {
                  shown += message.sequence_number() != 0 ? 1 : 0;
              }
          }) == "the broker makes no progress: it was asked for messages from sequence number 9 on "
                "and answered with number 8");
    CHECK(shown == 2);
    CHECK(f.answers->requests == 2);
    CHECK(browser.position() == 9);
    CHECK_FALSE(
        accusation([&] { static_cast<void>(browser.next(std::chrono::seconds{9})); }).empty());
}

TEST_CASE("page progress: a browser ends at messages without numbers, and at the last number") {
    RepeatingFixture f;
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, last_number}) {
        f.answers->numbers = {number};
        Browser browser{f.client, "orders"};
        CHECK_FALSE(accusation([&] {
                        for (int i = 0; i < 5; ++i) {
                            static_cast<void>(browser.peek(1));
                        }
                    }).empty());
    }
}

TEST_CASE("page progress: lists of sessions and of rules end at a broker that repeats itself") {
    RepeatingFixture f;
    CHECK(accusation([&] { static_cast<void>(list_sessions(f.client, "orders")); }) ==
          "the broker makes no progress: it lists the same sessions of 'orders' again");
    CHECK(f.answers->requests == 2);
    const RuleManager rules{f.client, "orders/subscriptions/audit"};
    CHECK(accusation([&] { static_cast<void>(rules.list()); }) ==
          "the broker makes no progress: it lists the same rules of 'orders/subscriptions/audit' "
          "again");
    CHECK(f.answers->requests == 4);
}

TEST_CASE("page progress: a purge ends at a broker that says '1 deleted' for ever") {
    RepeatingFixture f;
    CHECK(accusation([&] { static_cast<void>(purge(f.client, "orders")); }) ==
          "the broker makes no progress: asked to delete up to 500 messages, it has answered 1, "
          "and as little 250 times before; 251 messages were deleted before");
    CHECK(f.answers->requests == detail::client::PurgeProgress::most_small + 1);
}
