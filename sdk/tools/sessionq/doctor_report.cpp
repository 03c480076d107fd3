// SPDX-License-Identifier: MIT
#include "tools/sessionq/doctor_report.hpp"

#include <algorithm>
#include <utility>

#include "core/peer_words.hpp"

namespace sessionq::cli {
namespace {

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
}

std::string text_line(const Finding& finding) {
    constexpr std::size_t verdict_width = 9;
    constexpr std::size_t check_width = 17;
    const std::string line = padded(word_of(finding.verdict), verdict_width) +
                             padded(finding.check, check_width) + finding.found +
                             (finding.change.empty() ? "" : "; " + finding.change);
    return core::peer_words(line, line.max_size()) + "\n";
}

std::string json_line(const Finding& finding) {
    Json line{
        {"check", finding.check}, {"result", word_of(finding.verdict)}, {"found", finding.found}};
    if (!finding.change.empty()) {
        line["change"] = finding.change;
    }
    if (!finding.figures.empty()) {
        line["figures"] = finding.figures;
    }
    return line_of(line);
}

} // namespace

std::string DoctorReport::add(const Finding& finding) {
    has_failed_ = has_failed_ || finding.verdict == Verdict::failed;
    return json_ ? json_line(finding) : text_line(finding);
}

} // namespace sessionq::cli
