// SPDX-License-Identifier: MIT
#include "ports/delivery.hpp"

#include <doctest/doctest.h>

#include <string>

#include <sessionq/error.hpp>

using namespace sessionq::ports;

TEST_CASE("delivery: every outcome has its word") {
    CHECK(to_string(Outcome::complete) == "complete");
    CHECK(to_string(Outcome::abandon) == "abandon");
    CHECK(to_string(Outcome::release) == "release");
    CHECK(to_string(Outcome::defer) == "defer");
    CHECK(to_string(Outcome::dead_letter) == "dead-letter");
}

TEST_CASE("delivery: goes back to whoever allocated it, whatever it is there") {
    struct Own final : Delivery {
        explicit Own(bool& flag) : freed{flag} {}
        ~Own() override { freed = true; }
        bool& freed;
    };
    bool freed = false;
    DeliveryPtr delivery = std::make_unique<Own>(freed);
    CHECK(delivery->message.empty());
    CHECK(delivery->bytes == 0);
    CHECK_FALSE(delivery->settled_by_sender);
    delivery.reset();
    CHECK(freed);
}

TEST_CASE("delivery: an unspecified settlement completes") {
    CHECK(Settlement{}.outcome == Outcome::complete);
}

TEST_CASE("delivery: dead-letter texts are cut between characters, and other bytes are replaced") {
    const auto same = to_dead_letter("Broken", "it is");
    CHECK(same.reason == "Broken");
    CHECK(same.description == "it is");
    std::string euros;
    for (std::size_t i = 0; i < 5'000; ++i) {
        euros += "\xe2\x82\xac";
    }
    const auto cut = to_dead_letter(euros, std::string(60'000, 'x'));
    CHECK(cut.reason == euros.substr(0, 3 * longest_dead_letter_text));
    CHECK(cut.description == std::string(longest_dead_letter_text, 'x'));
    CHECK(to_dead_letter("", "caf\xe9").description == "caf\xef\xbf\xbd");
    CHECK(to_dead_letter("", std::string(60'000, '\xe9')).description.size() ==
          3 * longest_dead_letter_text);
}

TEST_CASE("delivery: properties that a settlement cannot change are refused by name") {
    const auto refusal_of = [](const sessionq::Properties& properties) {
        try {
            check_properties_to_modify(properties);
        } catch (const sessionq::Error& error) {
            return error.failure();
        }
        return sessionq::Failure{};
    };
    using sessionq::Errc;
    CHECK(refusal_of({{"k", std::string(60'000, 'x')}}).detail.empty());
    const auto large = refusal_of({{"k", std::string(70'000, 'x')}});
    CHECK(large.code == Errc::message_too_large);
    CHECK(large.detail.find("properties_to_modify") == 0);
    const auto text = refusal_of({{"k", std::string{"\xff"}}});
    CHECK(text.code == Errc::invalid_argument);
    CHECK(text.detail.find("properties_to_modify: the text of 'k'") == 0);
    const auto name = refusal_of({{"k\xff", true}});
    CHECK(name.code == Errc::invalid_argument);
    CHECK(name.detail.find("properties_to_modify: the name 'k\xef\xbf\xbd'") == 0);
}
