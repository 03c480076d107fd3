// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/store/ledger.hpp"

namespace sessionq::broker {

/// How many commits of which store were confirmed.
struct CommitCount {
    std::int64_t store{0};
    std::int64_t commits{0};
    std::int64_t run{0};  ///< `Ledger::run`. Zero in counters of version 3
    std::int64_t boot{0}; ///< names the start of the machine; zero: unknown
    bool operator==(const CommitCount&) const noexcept = default;
};

/// The count of a ledger's commits, with the present start of the machine.
[[nodiscard]] CommitCount count_of(const Ledger& ledger) noexcept;

/// A file beside the database that counts its commits. SQLite ends a write-ahead log at the first
/// damaged frame and says nothing. A database that is behind its counter has lost commits.
///
/// The counter is written after the commit is on the disk, and is not flushed itself: after a power
/// failure it may be behind the database, never ahead of it. It has two entries, written in turn,
/// so one is complete whenever the process ends. For one thread at a time.
///
/// Each start of a store draws a random number, its run. The number goes into the database file
/// itself and into the counter. So a counter of an earlier run is noticed. An older counter of the
/// same run is noticed until the machine restarts: without a power failure a counter is at most one
/// commit behind.
///
/// Not noticed: a counter and a log that were replaced together by older ones which match each
/// other, an older counter of the same run after a restart of the machine, and the whole directory
/// replaced by an older copy.
class CommitCounter {
public:
    /// The contents of the file.
    struct Contents {
        bool exists{false};
        std::vector<CommitCount> counts{}; ///< the sound entries
        bool is_damaged{false};            ///< an entry is not sound
    };

    explicit CommitCounter(std::filesystem::path file) : file_{std::move(file)} {}
    ~CommitCounter();
    CommitCounter(const CommitCounter&) = delete;
    CommitCounter& operator=(const CommitCounter&) = delete;

    /// A file that cannot be read counts as damaged.
    [[nodiscard]] Contents read() const;

    /// Creates the file if necessary, for its owner alone, and begins with these two entries.
    /// Flushes it. Returns false if that fails.
    [[nodiscard]] bool begin(CommitCount one, CommitCount other) noexcept;

    /// Writes a count. Never takes more room on the disk. Returns false if that fails, or if
    /// `begin` failed.
    [[nodiscard]] bool write(CommitCount count) noexcept;

private:
    const std::filesystem::path file_;
    int descriptor_{-1};
};

/// Compares a store with the sound entries of its counter. Returns the fault that it finds. `boot`:
/// of the count that a ledger has now.
[[nodiscard]] std::optional<std::string> find_lost_commits(const Ledger& ledger,
                                                           const CommitCounter::Contents& counted,
                                                           std::int64_t boot);

/// An entry of the file: the four numbers and their checksum, each little-endian. Version 3 had
/// store, commits and their checksum.
using CounterEntry = std::array<char, 40>;
[[nodiscard]] CounterEntry encode(CommitCount count) noexcept;
/// Returns nothing if the checksum does not match.
[[nodiscard]] std::optional<CommitCount> decode(std::string_view entry) noexcept;

} // namespace sessionq::broker
