#pragma once

#include <string>
#include <vector>

#include "faults/judge.hpp"
#include "faults/promptness.hpp"

namespace sessionq::faults {

/// What a campaign says at its end.
struct Verdict {
    std::vector<std::string> figures{};    ///< a line each
    std::vector<std::string> complaints{}; ///< empty: all is as it must be

    void add(std::string figure) { figures.push_back(std::move(figure)); }
    void require(bool holds, std::string otherwise) {
        if (!holds) {
            complaints.push_back(std::move(otherwise));
        }
    }
    void add(const Judgement& judgement);
    void add(const Promptness& promptness);
};

} // namespace sessionq::faults
