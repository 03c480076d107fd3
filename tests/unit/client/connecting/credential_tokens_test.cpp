// SPDX-License-Identifier: MIT
#include "client/connecting/credential_tokens.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

/// Gives what it is told to.
class FakeCredential final : public TokenCredential {
public:
    AccessToken get_token(const TokenRequest& request) override {
        ++asked;
        scope = request.scope;
        on_thread = std::this_thread::get_id();
        if (hold.valid()) {
            hold.wait();
        }
        if (fails) {
            throw std::runtime_error{"nobody is signed in"};
        }
        return {.token = text, .expires = expires};
    }

    std::atomic<int> asked{0};
    std::string scope{};
    std::thread::id on_thread{};
    std::shared_future<void> hold{};
    bool fails{false};
    std::string text{"secret-token"};
    WallTime expires{};
};

struct Case {
    Case() { credential->expires = loop.wall_now() + 1h; }

    std::optional<core::Result<detail::servicebus::Token>> ask() {
        std::optional<core::Result<detail::servicebus::Token>> got;
        source->ask("sb://h/orders", loop.wall_now(), Deadline::never(),
                    [&got](core::Result<detail::servicebus::Token> token) {
                        got.emplace(std::move(token));
                    });
        while (!got) { // the credential's thread posts
            if (!loop.turn()) {
                std::this_thread::yield();
            }
        }
        return got;
    }

    test::ManualLoop loop{};
    std::shared_ptr<FakeCredential> credential{std::make_shared<FakeCredential>()};
    std::unique_ptr<detail::client::CredentialTokens> source{
        std::make_unique<detail::client::CredentialTokens>(credential, loop)};
};

} // namespace

TEST_CASE("credential tokens: are asked for on another thread and put as jwt") {
    Case t;
    const auto got = t.ask();
    REQUIRE(got->ok());
    CHECK(got->value().type == "jwt");
    CHECK(got->value().text == "secret-token");
    CHECK(got->value().expires == t.credential->expires);
    CHECK(t.credential->scope == "https://servicebus.azure.net/.default");
    CHECK(t.credential->on_thread != std::this_thread::get_id());
}

TEST_CASE("credential tokens: one serves all audiences until half of its life is over") {
    Case t;
    static_cast<void>(t.ask());
    t.loop.advance(29min);
    CHECK(t.ask()->ok());
    CHECK(t.credential->asked == 1);
    t.loop.advance(2min);
    CHECK(t.ask()->ok());
    CHECK(t.credential->asked == 2);
}

TEST_CASE("credential tokens: whoever asks at the same time shares one call") {
    Case t;
    std::promise<void> go;
    t.credential->hold = go.get_future().share();
    int answered = 0;
    for (int i = 0; i < 3; ++i) {
        t.source->ask("sb://h/orders", t.loop.wall_now(), Deadline::never(),
                      [&answered](const core::Result<detail::servicebus::Token>& token) {
                          CHECK(token.ok());
                          ++answered;
                      });
    }
    go.set_value();
    while (answered < 3) {
        if (!t.loop.turn()) {
            std::this_thread::yield();
        }
    }
    CHECK(t.credential->asked == 1);
}

TEST_CASE("credential tokens: an exception and an empty token are unauthorized, and asked again") {
    Case t;
    t.credential->fails = true;
    auto got = t.ask();
    REQUIRE_FALSE(got->ok());
    CHECK(got->failure().code == Errc::unauthorized);
    CHECK(got->failure().detail.find("nobody is signed in") != std::string::npos);
    t.credential->fails = false;
    t.credential->text.clear();
    got = t.ask();
    REQUIRE_FALSE(got->ok());
    CHECK(got->failure().code == Errc::unauthorized);
    t.credential->text = "token";
    CHECK(t.ask()->ok());
    CHECK(t.credential->asked == 3);
}

TEST_CASE("R18: credential tokens: a credential that does not return keeps nobody from ending") {
    std::promise<void> go;
    auto t = std::make_unique<Case>();
    const auto credential = t->credential;
    credential->hold = go.get_future().share();
    t->source->ask(
        "sb://h/orders", t->loop.wall_now(), Deadline::never(),
        [](const core::Result<detail::servicebus::Token>&) { FAIL("answered after the end"); });
    t.reset();
    go.set_value();
    while (credential.use_count() > 1) { // its thread lets go of it
        std::this_thread::yield();
    }
    CHECK(credential->asked == 1);
}
