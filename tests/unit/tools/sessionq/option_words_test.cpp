// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/option_words.hpp"

using sessionq::cli::in_words_of_options;

TEST_CASE("option words: an error names the option, not the library's member") {
    CHECK(in_words_of_options("invalid option: TlsOptions::ca_file '/no/such': No such file") ==
          "invalid option: --ca-file '/no/such': No such file");
    CHECK(
        in_words_of_options("RedriveOptions::through_topic is false, and 'a' is a subscription") ==
        "--through-topic is not given, and 'a' is a subscription");
    CHECK(in_words_of_options("'plain' has no sessions; use a Receiver") ==
          "'plain' has no sessions; --session does not apply");
    CHECK(in_words_of_options("'orders' requires sessions; use a SessionReceiver") ==
          "'orders' requires sessions; give --session");
    CHECK(in_words_of_options("the connection was lost") == "the connection was lost");
}
