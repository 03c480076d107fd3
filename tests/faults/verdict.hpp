// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "faults/judge.hpp"
#include "faults/promptness.hpp"

namespace sessionq::faults {

/// The result of a campaign.
struct Verdict {
    std::vector<std::string> figures{};    ///< one per line
    std::vector<std::string> complaints{}; ///< empty if all is well

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
