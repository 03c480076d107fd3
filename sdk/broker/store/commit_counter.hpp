// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace sessionq::broker {

/// How many commits of which store were confirmed.
struct CommitCount {
    std::int64_t store{0};
    std::int64_t commits{0};
    bool operator==(const CommitCount&) const noexcept = default;
};

/// A file beside the database that counts its commits. SQLite ends a write-ahead log at the first
/// damaged frame and says nothing. A database that is behind its counter has lost commits.
///
/// The counter is written after the commit is on the disk, and is not flushed itself: after a power
/// failure it may be behind the database, never ahead of it. It has two entries, written in turn,
/// so one is complete whenever the process ends. For one thread at a time.
class CommitCounter {
public:
    /// What the file holds.
    struct Contents {
        bool exists{false};
        std::optional<CommitCount> count{}; ///< the higher of the sound entries
        bool is_damaged{false};             ///< an entry is not sound
    };

    explicit CommitCounter(std::filesystem::path file) : file_{std::move(file)} {}
    ~CommitCounter();
    CommitCounter(const CommitCounter&) = delete;
    CommitCounter& operator=(const CommitCounter&) = delete;

    /// A file that cannot be read counts as damaged.
    [[nodiscard]] Contents read() const;

    /// Creates the file if necessary, for its owner alone, and begins with this count. Flushes it.
    /// Returns false if that fails.
    [[nodiscard]] bool begin(CommitCount count) noexcept;

    /// Writes a count. Never takes more room on the disk. Returns false if that fails, or if
    /// `begin` failed.
    [[nodiscard]] bool write(CommitCount count) noexcept;

private:
    const std::filesystem::path file_;
    int descriptor_{-1};
};

/// An entry of the file: the two numbers and their checksum, each little-endian.
using CounterEntry = std::array<char, 24>;
[[nodiscard]] CounterEntry encode(CommitCount count) noexcept;
/// Returns nothing if the checksum does not match.
[[nodiscard]] std::optional<CommitCount> decode(std::string_view entry) noexcept;

} // namespace sessionq::broker
