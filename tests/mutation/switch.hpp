// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <type_traits>

/// What mutated sources ask. tests/mutation/run.py includes this header in its copies.
namespace sessionq::mutation {

inline constexpr std::size_t most_mutants = 65536;

/// Reads the environment once: the number of the mutant that is switched on, and a file of
/// `most_mutants` bytes in which the mutants that are asked for are marked.
class Switches {
public:
    static Switches& instance() {
        static Switches switches;
        return switches;
    }

    bool ask(int mutant) noexcept {
        if (reached_ != nullptr) {
            reached_[mutant] = 1;
        }
        return mutant == chosen_;
    }

private:
    Switches() noexcept {
        if (const char* number = std::getenv("SESSIONQ_MUTANT")) {
            chosen_ = std::atoi(number);
        }
        if (const char* path = std::getenv("SESSIONQ_MUTANTS_REACHED")) {
            const int file = ::open(path, O_RDWR | O_CLOEXEC);
            void* place = file < 0 ? MAP_FAILED
                                   : ::mmap(nullptr, most_mutants, PROT_WRITE, MAP_SHARED, file, 0);
            if (place != MAP_FAILED) {
                reached_ = static_cast<volatile unsigned char*>(place);
            }
            ::close(file);
        }
    }

    int chosen_{0};
    volatile unsigned char* reached_{nullptr};
};

constexpr bool on(int mutant) noexcept {
    return !std::is_constant_evaluated() && Switches::instance().ask(mutant);
}

} // namespace sessionq::mutation
