// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/time.hpp>

#include "tools/sessionq/live/processor_snapshot.hpp"
#include "tools/sessionq/options.hpp"

/// The facts that the checks of `sessionq doctor` measure. They are values without words.
/// `doctor_findings.hpp` explains them.
namespace sessionq::cli {

struct NameFacts {
    std::string host{};
    bool is_proxy{false};
    std::vector<std::string> addresses{}; ///< Empty: it failed.
    std::string error{};                  ///< The system's words.
    bool timed_out{false};
    Duration took{};
};

struct ConnectFacts {
    enum class Outcome : std::uint8_t { connected, refused, timed_out, failed };
    std::string where{}; ///< HOST:PORT
    bool is_proxy{false};
    Outcome outcome{Outcome::connected};
    std::string address{}; ///< ADDRESS:PORT, if connected.
    std::string error{};
    Duration took{};
};

struct TunnelFacts {
    std::string proxy{};
    std::string where{}; ///< Where the tunnel leads.
    std::optional<Failure> failure{};
    Duration took{};
};

struct TlsFacts {
    enum class Outcome : std::uint8_t {
        trusted,
        unknown_authority,
        wrong_name,
        expired,
        not_yet_valid,
        untrusted, ///< For another reason: `error`.
        no_tls,    ///< The peer speaks something else.
        closed,    ///< The peer closed the connection.
        timed_out,
        failed
    };
    std::string host{};
    std::string where{}; ///< HOST:PORT
    Outcome outcome{Outcome::trusted};
    std::string error{};
    std::string version{};
    std::string subject{};
    std::string issuer{};
    std::vector<std::string> names{}; ///< Whom the certificate is for.
    WallTime valid_from{};
    WallTime valid_until{};
    WallTime now{};
    Duration took{};
};

struct WebSocketFacts {
    std::string where{};
    std::optional<Failure> failure{};
    Duration took{};
};

/// SASL and the opening of the AMQP connection.
struct OpenFacts {
    std::string where{};
    std::string login{};    ///< "anonymous" or "user 'NAME'"
    bool has_tls{false};    ///< This side spoke TLS.
    bool wants_tls{false};  ///< This side spoke no TLS, and the peer does.
    bool is_unknown{false}; ///< A broker of message groups of a kind that is not known.
    std::optional<Failure> failure{};
    Duration took{};
    std::string product{};
    std::uint32_t max_frame_size{0}; ///< Bytes. Zero: not limited.
    std::uint32_t channels{0};
    Duration idle_time_out{}; ///< Of the peer. Zero: none.
};

struct ClaimFacts {
    std::string subject{};             ///< "'ENTITY'" or "the namespace"
    std::string entity{};              ///< Empty: the namespace.
    std::string key_name{};            ///< Empty: a ready-made signature.
    std::optional<WallTime> expires{}; ///< Of the signature.
    WallTime now{};
    std::optional<Failure> failure{};
    Duration took{};
};

/// The answer to the attach of a link.
struct LinkFacts {
    std::optional<Failure> failure{};
    Duration took{};
    std::size_t handles{0}; ///< Links of an AMQP session.
    std::optional<WallTime> locked_until{};
    std::optional<WallTime> broker_time{};
    WallTime answered_at{};
};

/// The broker's answers to a link that wants to send to the entity, and to one that wants to
/// receive from it.
struct EntityFacts {
    std::string entity{};
    DoctorPurpose purpose{DoctorPurpose::receiving};
    bool is_groups{false}; ///< A broker of message groups.
    LinkFacts sending{};
    LinkFacts receiving{}; ///< Without a session.
};

/// The state that a running processor tells of itself.
struct ProcessorFacts {
    std::string socket{};
    std::optional<ProcessorSnapshot> told{};
    std::string error{}; ///< Why it told nothing.
};

struct LimitFacts {
    std::uint32_t max_frame_size{0}; ///< Bytes. Zero: not limited.
    std::uint32_t channels{0};
    std::size_t handles{0}; ///< Links of an AMQP session. Zero: not known.
    Duration idle_time_out{};
};

} // namespace sessionq::cli
