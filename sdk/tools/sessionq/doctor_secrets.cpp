// SPDX-License-Identifier: MIT
#include "tools/sessionq/doctor_secrets.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace sessionq::cli {
namespace {

constexpr std::string_view hidden = "***";
/// Shorter ones may be in our own words by accident, and a gap there would show them.
constexpr std::size_t shortest_hidden_in_ours = 8;

void replace_all(std::string& text, std::string_view wanted) {
    for (std::size_t at = text.find(wanted); at != std::string::npos;
         at = text.find(wanted, at + hidden.size())) {
        text.replace(at, wanted.size(), hidden);
    }
}

/// The values of "sig=", up to the next separator.
void hide_signatures(std::string& text) {
    constexpr std::string_view name = "sig=";
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
        at += name.size();
        const std::size_t end = std::min(text.find_first_of("&;,'\" ", at), text.size());
        text.replace(at, end - at, hidden);
    }
}

} // namespace

std::string without_secrets(std::string text, const std::vector<std::string>& secrets) {
    for (const std::string& secret : secrets) {
        if (!secret.empty()) {
            replace_all(text, secret);
        }
    }
    hide_signatures(text);
    return text;
}

void hide_secrets(std::optional<Failure>& failure, const std::vector<std::string>& secrets) {
    if (!failure) {
        return;
    }
    std::vector<std::string> long_ones;
    std::ranges::copy_if(secrets, std::back_inserter(long_ones), [](const std::string& secret) {
        return secret.size() >= shortest_hidden_in_ours;
    });
    failure->detail = without_secrets(std::move(failure->detail), long_ones);
    failure->peer_text = without_secrets(std::move(failure->peer_text), secrets);
    failure->peer_condition = without_secrets(std::move(failure->peer_condition), secrets);
}

} // namespace sessionq::cli
