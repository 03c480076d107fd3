// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/doctor_secrets.hpp"

using namespace sessionq;
using namespace sessionq::cli;

TEST_CASE("doctor secrets: what a peer repeats of them is hidden, each time") {
    CHECK(without_secrets("key hush, or hush!", {"hush"}) == "key ***, or ***!");
    CHECK(without_secrets("two words", {"", "words", "two"}) == "*** ***");
    CHECK(without_secrets("nothing", {}) == "nothing");
}

TEST_CASE("doctor secrets: signatures of tokens are hidden, whoever made them") {
    CHECK(without_secrets("SharedAccessSignature sr=a&sig=abc%3d&se=1", {}) ==
          "SharedAccessSignature sr=a&sig=***&se=1");
    CHECK(without_secrets("sig=a sig=b", {}) == "sig=*** sig=***");
}

TEST_CASE("doctor secrets: short ones stay in our own words, where a gap would show them") {
    std::optional<Failure> failure = Failure{.code = Errc::unauthorized,
                                             .detail = "none of correct horse",
                                             .peer_condition = "c:one",
                                             .peer_text = "one and correct horse"};
    hide_secrets(failure, {"one", "correct horse"});
    CHECK(failure->detail == "none of ***");
    CHECK(failure->peer_condition == "c:***");
    CHECK(failure->peer_text == "*** and ***");
    std::optional<Failure> nothing;
    hide_secrets(nothing, {"one"});
    CHECK_FALSE(nothing);
}
