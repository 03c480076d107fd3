// SPDX-License-Identifier: MIT
#include "servicebus/token_source.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

detail::servicebus::Token token_of(detail::servicebus::TokenSource& source, WallTime now) {
    detail::servicebus::Token got;
    source.ask(
        "sb://h/orders", now, Deadline::never(),
        [&got](core::Result<detail::servicebus::Token> token) { got = std::move(token).value(); });
    return got;
}

} // namespace

TEST_CASE("key tokens: are signed for the audience and last an hour") {
    const auto source = detail::servicebus::make_key_tokens("name", "key");
    const WallTime now{1'700'000'000s};
    const detail::servicebus::Token token = token_of(*source, now);
    CHECK(token.type == "servicebus.windows.net:sastoken");
    CHECK(token.expires == now + 1h);
    CHECK(token.text.find("sr=sb%3A%2F%2Fh%2Forders&") != std::string::npos);
    CHECK(token.text.find("se=1700003600") != std::string::npos);
    CHECK(token.text.find("key") == std::string::npos);
}

TEST_CASE("key tokens: each token is signed with the key that its entity has now") {
    const auto keys = std::make_shared<detail::servicebus::KeyRing>(
        detail::servicebus::NamedKey{.name = "all", .key = "1"});
    const auto source = detail::servicebus::make_key_tokens(keys);
    const auto named = [&](const char* audience) {
        std::string text;
        source->ask(
            audience, WallTime{1'700'000'000s}, Deadline::never(),
            [&](core::Result<detail::servicebus::Token> token) { text = token.value().text; });
        return text.substr(text.find("skn=") + 4);
    };
    CHECK(named("sb://h/orders") == "all");
    const std::string before = token_of(*source, WallTime{1'700'000'000s}).text;
    keys->set({}, {.name = "all", .key = "2"});
    CHECK(token_of(*source, WallTime{1'700'000'000s}).text != before);
    keys->set("News", {.name = "of-news", .key = "3"});
    keys->set("news/subscriptions/red", {.name = "of-red", .key = "4"});
    CHECK(named("sb://h/orders") == "all");
    CHECK(named("sb://h/news") == "of-news");
    CHECK(named("sb://h/NEWS/Subscriptions/blue/$management") == "of-news");
    CHECK(named("sb://h/news/Subscriptions/Red/$DeadLetterQueue") == "of-red");
    CHECK(named("sb://h/newspaper") == "all");
    CHECK(named("sb://h") == "all");
}

TEST_CASE("ready tokens: are handed on as they are, until they say they expire") {
    const auto source = detail::servicebus::make_ready_tokens(
        "SharedAccessSignature sr=x&sig=y&se=1700000100&skn=z");
    const detail::servicebus::Token token = token_of(*source, WallTime{1'700'000'000s});
    CHECK(token.text == "SharedAccessSignature sr=x&sig=y&se=1700000100&skn=z");
    CHECK(token.expires == WallTime{1'700'000'100s});
}
