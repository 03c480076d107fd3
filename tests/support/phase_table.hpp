#pragma once

#include <doctest/doctest.h>

#include <iomanip>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace sessionq::test {

/// Counts how often each input of a machine was tried in each of its phases. `check` prints the
/// table and fails for every cell that was never reached.
class PhaseTable {
public:
    PhaseTable(std::string machine, std::vector<std::string> phases,
               std::vector<std::string> inputs)
        : machine_{std::move(machine)},
          phases_{std::move(phases)},
          inputs_{std::move(inputs)},
          counts_(phases_.size() * inputs_.size()) {}

    void count(std::size_t phase, std::size_t input) {
        ++counts_.at(phase * inputs_.size() + input);
    }

    void check() const {
        std::cout << machine_ << '\n' << std::setw(width) << "";
        for (const std::string& phase : phases_) {
            std::cout << std::setw(width) << phase;
        }
        for (std::size_t input = 0; input < inputs_.size(); ++input) {
            std::cout << '\n' << std::setw(width) << inputs_[input];
            for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
                const int times = counts_[phase * inputs_.size() + input];
                std::cout << std::setw(width) << times;
                CHECK_MESSAGE(times > 0, machine_, ": ", inputs_[input], " was not tried in phase ",
                              phases_[phase]);
            }
        }
        std::cout << std::endl;
    }

private:
    static constexpr int width = 16;

    const std::string machine_;
    const std::vector<std::string> phases_;
    const std::vector<std::string> inputs_;
    std::vector<int> counts_;
};

} // namespace sessionq::test
