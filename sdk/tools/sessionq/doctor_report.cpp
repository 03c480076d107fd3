// SPDX-License-Identifier: MIT
#include "tools/sessionq/doctor_report.hpp"

#include <algorithm>
#include <utility>

#include "core/peer_words.hpp"

namespace sessionq::cli {
namespace {

constexpr std::string_view hidden = "***";

void replace_all(std::string& text, std::string_view wanted) {
    for (std::size_t at = text.find(wanted); at != std::string::npos;
         at = text.find(wanted, at + hidden.size())) {
        text.replace(at, wanted.size(), hidden);
    }
}

/// The values of "sig=" up to the next separator.
void hide_signatures(std::string& text) {
    constexpr std::string_view name = "sig=";
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
        at += name.size();
        const std::size_t end = std::min(text.find_first_of("&;,'\" ", at), text.size());
        text.replace(at, end - at, hidden);
    }
}

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
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

DoctorReport::DoctorReport(bool json, std::vector<std::string> secrets)
    : json_{json}, secrets_{std::move(secrets)} {}

std::string DoctorReport::add(const Finding& finding) {
    constexpr std::size_t verdict_width = 9;
    constexpr std::size_t check_width = 17;
    has_failed_ = has_failed_ || finding.verdict == Verdict::failed;
    const std::string found = clean(finding.found);
    const std::string change = clean(finding.change);
    if (!json_) {
        return padded(word_of(finding.verdict), verdict_width) +
               padded(finding.check, check_width) + found + (change.empty() ? "" : "; " + change) +
               "\n";
    }
    Json line{{"check", finding.check}, {"result", word_of(finding.verdict)}, {"found", found}};
    if (!change.empty()) {
        line["change"] = change;
    }
    for (const auto& [name, value] : finding.figures.items()) {
        line["figures"][name] = value.is_string() ? Json(clean(value.get<std::string>())) : value;
    }
    return line_of(line);
}

std::string DoctorReport::clean(const std::string& text) const {
    return core::peer_words(without_secrets(text, secrets_));
}

} // namespace sessionq::cli
