// SPDX-License-Identifier: MIT
#include "faults/verdict.hpp"

namespace sessionq::faults {

void Verdict::add(const Judgement& judgement) {
    const auto text = [](std::size_t number) { return std::to_string(number); };
    add("messages handled: " + text(judgement.handled) + ", lost " + text(judgement.lost) +
        ", out of order " + text(judgement.out_of_order) + ", unexplained duplicates " +
        text(judgement.unexplained) + ", overlaps " + text(judgement.overlaps) +
        ", settled after a lost lock " + text(judgement.intruders));
    add("handled again after a lost lock: " + text(judgement.repeats) + ", after a failure " +
        text(judgement.retries) + ", copies of sends " + text(judgement.copies) + "; locks " +
        text(judgement.leases) + ", of them lost " + text(judgement.locks_lost) +
        "; handlers started late " + text(judgement.late));
    for (const std::string& words : judgement.words) {
        complaints.push_back(words);
    }
    require(judgement.is_clean() || !judgement.words.empty(), "the judgement is not clean");
}

void Verdict::add(const Promptness& promptness) {
    std::string line = std::to_string(promptness.calls()) + " blocking calls; longest";
    for (const auto& [name, longest] : promptness.longest()) {
        line +=
            " " + name + " " +
            std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(longest).count()) +
            " ms";
    }
    add(line);
    line = "errors reported:";
    for (const auto& [error, count] : promptness.errors()) {
        line += " " + error + " " + std::to_string(count) + ";";
    }
    add(line);
    for (const std::string& complaint : promptness.complaints()) {
        complaints.push_back(complaint);
    }
}

} // namespace sessionq::faults
