// SPDX-License-Identifier: MIT
#include "tools/sessionq/option_words.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace sessionq::cli {
namespace {

using namespace std::string_view_literals;

constexpr std::array words{
    std::pair{"TlsOptions::ca_file"sv, "--ca-file"sv},
    std::pair{"ca_file '"sv, "--ca-file '"sv},
    std::pair{"RedriveOptions::through_topic is false"sv, "--through-topic is not given"sv},
    std::pair{"RedriveOptions::max_wait"sv, "--wait"sv},
    std::pair{"PurgeOptions::session_id"sv, "--session"sv},
    std::pair{"ClientOptions::proxy"sv, "--proxy"sv},
    std::pair{"has no sessions; use a Receiver"sv, "has no sessions; --session does not apply"sv},
    std::pair{"requires sessions; use a SessionReceiver"sv, "requires sessions; give --session"sv},
};

} // namespace

std::string in_words_of_options(std::string text) {
    for (const auto& [member, option] : words) {
        if (const std::size_t at = text.find(member); at != std::string::npos) {
            text.replace(at, member.size(), option);
        }
    }
    return text;
}

} // namespace sessionq::cli
