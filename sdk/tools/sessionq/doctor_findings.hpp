// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "tools/sessionq/doctor_facts.hpp"
#include "tools/sessionq/json_text.hpp"

/// The meaning of the facts of `sessionq doctor`, in words. Pure.
namespace sessionq::cli {

enum class Verdict : std::uint8_t { ok, warning, failed, skipped };

struct Finding {
    std::string check{};
    Verdict verdict{Verdict::ok};
    std::string found{};
    std::string change{}; ///< The change to make. Empty: none.
    Json figures = Json::object();
    bool stops{false}; ///< The later checks would show nothing.
};

[[nodiscard]] const char* word_of(Verdict verdict) noexcept;

// Of the network.
[[nodiscard]] Finding judge(const NameFacts& facts);
[[nodiscard]] Finding judge(const ConnectFacts& facts);
[[nodiscard]] Finding judge(const TunnelFacts& facts);
[[nodiscard]] Finding judge(const TlsFacts& facts);
[[nodiscard]] Finding judge(const WebSocketFacts& facts);

// Of the access that the broker allows.
[[nodiscard]] Finding judge(const OpenFacts& facts);
[[nodiscard]] Finding judge(const ClaimFacts& facts);
[[nodiscard]] Finding judge_rights(const EntityFacts& facts);
[[nodiscard]] Finding judge_entity(const EntityFacts& facts);
/// Why the entity cannot be asked for a session. Empty: it can.
[[nodiscard]] std::string why_no_sessions(const EntityFacts& facts);

// Of times and limits. `named` is the accept of a session that nobody else wants.
[[nodiscard]] Finding judge_lock(const LinkFacts& named);
[[nodiscard]] Finding judge_clock(const LinkFacts& named);
[[nodiscard]] Finding judge_round_trip(std::vector<LinkFacts> answers);
[[nodiscard]] Finding judge(const LimitFacts& facts);
/// The accept of the next session, which waited for at most `wait`.
[[nodiscard]] Finding judge_accept(const LinkFacts& next, Duration wait);

// Of a running processor: its health, a line for each reason, then the work of its handlers.
[[nodiscard]] std::vector<Finding> judge(const ProcessorFacts& facts);

/// A check that was not made, and why.
[[nodiscard]] Finding skipped(std::string check, std::string why);
/// A check that failed so that the later ones would show nothing.
[[nodiscard]] Finding stopping_failure(std::string check, std::string found, std::string change);
[[nodiscard]] Finding no_such_entity(const std::string& entity);
[[nodiscard]] Finding no_answer(std::string check, Duration took);

// For texts and figures.
/// The peer's words, else ours.
[[nodiscard]] std::string words_of(const Failure& failure);
[[nodiscard]] double milliseconds_of(Duration time) noexcept;
[[nodiscard]] double seconds_of(Duration time) noexcept;
/// The length of the time, as "0.05 ms", "12 ms", "1.5 s", "10 min", "2 h" or "5 days".
[[nodiscard]] std::string time_words(Duration time);
[[nodiscard]] bool is_failure(const std::optional<Failure>& failure, Errc code) noexcept;

} // namespace sessionq::cli
