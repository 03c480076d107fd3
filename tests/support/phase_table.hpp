// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace sessionq::test {

/// Counts how often a test gave a machine each input in each phase. `check` prints the table and
/// fails for every cell that was never reached.
class PhaseTable {
public:
    PhaseTable(std::string machine, std::vector<std::string> phases,
               std::vector<std::string> inputs)
        : machine_{std::move(machine)},
          phases_{std::move(phases)},
          inputs_{std::move(inputs)},
          counts_(phases_.size() * inputs_.size()) {}

    void reached(std::size_t phase, std::size_t input) {
        ++counts_.at(phase * inputs_.size() + input);
    }

    /// "PHASE x INPUT" for every cell that was never reached.
    [[nodiscard]] std::vector<std::string> missing() const {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            if (counts_[i] == 0) {
                cells.push_back(phases_[i / inputs_.size()] + " x " + inputs_[i % inputs_.size()]);
            }
        }
        return cells;
    }

    void check() const {
        print();
        for (const std::string& cell : missing()) {
            FAIL_CHECK(machine_, ": ", cell, " was never reached");
        }
    }

    void print() const {
        std::printf("%s\n%-16s", machine_.c_str(), "");
        for (const std::string& input : inputs_) {
            std::printf(" %13.13s", input.c_str());
        }
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            if (i % inputs_.size() == 0) {
                std::printf("\n%-16s", phases_[i / inputs_.size()].c_str());
            }
            std::printf(" %13zu", counts_[i]);
        }
        std::printf("\n");
    }

private:
    std::string machine_;
    std::vector<std::string> phases_;
    std::vector<std::string> inputs_;
    std::vector<std::size_t> counts_;
};

} // namespace sessionq::test
