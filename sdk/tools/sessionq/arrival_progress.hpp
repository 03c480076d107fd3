// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sessionq/locked_message.hpp>

namespace sessionq::cli {

/// Numbers that mostly follow one another: kept as ranges.
class NumberSet {
public:
    /// Returns false if the set has it.
    bool add(std::int64_t number);

private:
    std::map<std::int64_t, std::int64_t> ranges_{}; // first and last
};

/// Demands of a loop that receives until nothing comes that something new comes. A broker that
/// delivers the same messages for ever would keep it for ever.
class ArrivalProgress {
public:
    explicit ArrivalProgress(std::string entity) : entity_{std::move(entity)} {}

    /// Throws if all these messages came before. Messages without a number count as new.
    void add(const std::vector<LockedMessage>& messages);
    /// A session was accepted, and `count` messages came. Throws if too many in a row had none.
    void end_session(std::size_t count);

private:
    /// Another consumer may empty a session before it is accepted.
    static constexpr std::size_t most_empty_sessions = 100;

    const std::string entity_;
    NumberSet numbers_{};
    std::size_t empty_sessions_{0};
};

} // namespace sessionq::cli
