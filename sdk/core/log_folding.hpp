// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sessionq/logging.hpp>

namespace sessionq::core {

/// A record that owns its text.
class KeptRecord {
public:
    explicit KeptRecord(const LogRecord& record);
    KeptRecord(const KeptRecord&) = delete;
    KeptRecord& operator=(const KeptRecord&) = delete;

    /// `repeated` times.
    [[nodiscard]] LogRecord record(std::uint64_t repeated) const;

private:
    LogRecord record_;
    std::string component_;
    std::string event_;
    std::string text_;
    std::vector<std::pair<std::string, std::string>> values_{};
    std::vector<LogField> fields_{};
};

/// Decides which failures are held back because they repeat one that was written a short time ago.
/// A failure has a code. No I/O, no clock; not thread-safe.
class LogFolding {
public:
    static constexpr Duration window = std::chrono::seconds{10};
    /// Kinds of events that are watched at once. Beyond that the oldest is let go.
    static constexpr std::size_t most_kinds = 64;

    /// The records of one kind of event that were held back.
    struct Held {
        std::string kind{};
        TimePoint until{};
        std::uint64_t count{0};
        std::unique_ptr<KeptRecord> last{}; ///< null while the count is zero
    };
    using HeldKinds = std::list<Held>;

    /// Whether to write it now.
    [[nodiscard]] bool offer(const LogRecord& record, TimePoint now);
    /// The kinds that are to be told now, in the order in which they began. Ask before `offer`.
    [[nodiscard]] HeldKinds due(TimePoint now);
    /// The same for all kinds, also before their time.
    [[nodiscard]] HeldKinds all() { return due(TimePoint::max()); }

private:
    HeldKinds kinds_{}; ///< oldest first
    HeldKinds over_{};  ///< beyond `most_kinds`
};

} // namespace sessionq::core
