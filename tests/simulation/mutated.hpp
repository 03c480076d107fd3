// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace sessionq::simulation {

/// Names a mutant: a deliberate defect that the lists in `mutants/` describe. Compared by hash,
/// because mutated code asks for it often.
class MutantName {
public:
    /// No mutant.
    constexpr MutantName() noexcept = default;
    explicit constexpr MutantName(std::string_view name) noexcept : hash_{hash(name)} {}
    /// Implicit, for `mutated("name")`. The compiler computes the hash.
    // NOLINTNEXTLINE(google-explicit-constructor)
    consteval MutantName(const char* name) noexcept : hash_{hash(name)} {}

    friend constexpr bool operator==(MutantName, MutantName) noexcept = default;

private:
    /// FNV-1a.
    static constexpr std::uint64_t hash(std::string_view name) noexcept {
        std::uint64_t value = 0xcbf29ce484222325;
        for (const char each : name) {
            value = (value ^ static_cast<unsigned char>(each)) * 0x100000001b3;
        }
        return value;
    }

    std::uint64_t hash_{0};
};

/// The mutant in force on this thread.
inline thread_local MutantName current_mutant{};

[[nodiscard]] inline bool mutated(MutantName mutant) noexcept { return current_mutant == mutant; }

} // namespace sessionq::simulation
