// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <sessionq/http_proxy.hpp>
#include <sessionq/message.hpp>
#include <sessionq/redrive.hpp>
#include <sessionq/time.hpp>

#include "tools/command_line.hpp"

namespace sessionq::cli {

using tools::UsageError;

/// The options of every command.
struct Shared {
    std::string connection{};
    std::string ca_file{};
    std::optional<HttpProxy> proxy{};
    bool json{false}; ///< results as JSON too, not only messages
};

/// How standard input or a file becomes messages.
enum class InputFormat : std::uint8_t { lines, json, whole };

/// Where the messages of `send` and `schedule` come from.
struct MessageInput {
    Message pattern{};                 ///< the fields that the options set for all messages
    std::vector<std::string> bodies{}; ///< empty: `file`
    std::string file{"-"};             ///< "-": standard input
    InputFormat format{InputFormat::lines};
    std::optional<Duration> delay{};
};

struct SendOptions {
    std::string entity{};
    MessageInput input{};
};

struct ScheduleOptions {
    std::string entity{};
    MessageInput input{};
};

struct CancelOptions {
    std::string entity{};
    std::vector<std::int64_t> numbers{};
};

enum class Settling : std::uint8_t { complete, abandon, release, defer, dead_letter };

/// `receive` and `defer`.
struct ReceiveOptions {
    std::string entity{};
    std::optional<std::string> session{};
    std::uint32_t count{0}; ///< most messages; zero: all
    Duration wait{std::chrono::seconds{5}};
    std::vector<std::int64_t> deferred{}; ///< receive these deferred messages instead
    Settling settling{Settling::complete};
    std::string reason{};
    std::string description{};
};

struct ConsumeOptions {
    std::string entity{};
    std::uint32_t concurrent_sessions{8};
    Duration idle_timeout{std::chrono::seconds{1}};
    std::string describe_socket{}; ///< empty: none
};

struct PeekOptions {
    std::string entity{};
    std::optional<std::string> session{};
    std::uint32_t count{0}; ///< most messages; zero: all
    std::int64_t from{0};
    bool follows{false}; ///< then show new messages as they come
};

struct SessionsOptions {
    std::string entity{};
    std::optional<WallTime> state_set_after{};
};

struct CountsOptions {
    std::string entity{};
};

/// An instant, or how long ago it was.
using TimeOrAge = std::variant<WallTime, Duration>;

struct PurgeOptions {
    std::string entity{};
    std::optional<std::string> session{};
    std::optional<TimeOrAge> before{};
    Duration wait{std::chrono::seconds{1}};
};

struct GetStateOptions {
    std::string entity{};
    std::string session{};
};

struct SetStateOptions {
    std::string entity{};
    std::string session{};
    std::optional<std::string> text{}; ///< unset: `file`
    std::string file{"-"};             ///< "-": standard input
};

struct ClearStateOptions {
    std::string entity{};
    std::string session{};
};

/// The dead letters of an entity.
struct DeadLetters {
    std::string entity{};
    bool transfer{false}; ///< those that could not be forwarded
};

struct ListDeadLettersOptions {
    DeadLetters letters{};
    DeadLetterFilter filter{};
    std::uint32_t count{0}; ///< most messages; zero: all
};

struct ShowDeadLettersOptions {
    DeadLetters letters{};
    std::vector<std::int64_t> numbers{};
};

struct RedriveDeadLettersOptions {
    std::string entity{};
    RedriveOptions redrive{};
    bool count_only{false};
};

struct PurgeDeadLettersOptions {
    DeadLetters letters{};
    DeadLetterFilter filter{};
};

/// The application's use of the entity, which `doctor` checks.
enum class DoctorPurpose : std::uint8_t { receiving, sending, both };

struct DoctorOptions {
    std::string entity{}; ///< empty: that of the connection string, if it has one
    DoctorPurpose purpose{DoctorPurpose::receiving};
    Duration timeout{std::chrono::seconds{10}}; ///< of each check
    std::string processor{}; ///< the socket of a running processor; empty: none is asked
};

/// The options that live screens have in common.
struct LiveOptions {
    Duration interval{std::chrono::seconds{1}}; ///< From one look to the next.
    bool once{false};                           ///< One look, as text.
};

struct TopOptions {
    std::string socket{};
    LiveOptions live{};
};

struct WatchOptions {
    std::string entity{};
    LiveOptions live{};
};

/// A text to print, without asking a broker: help, man page, completion.
struct Text {
    std::string text{};
};

using Command =
    std::variant<Text, SendOptions, ScheduleOptions, CancelOptions, ReceiveOptions, ConsumeOptions,
                 PeekOptions, SessionsOptions, CountsOptions, PurgeOptions, GetStateOptions,
                 SetStateOptions, ClearStateOptions, ListDeadLettersOptions, ShowDeadLettersOptions,
                 RedriveDeadLettersOptions, PurgeDeadLettersOptions, DoctorOptions, TopOptions,
                 WatchOptions>;

/// The command line, checked without any I/O.
struct CommandLine {
    Shared shared{};
    Command command{};
};

/// Throws UsageError. `environment`: the connection string of the environment, or empty.
[[nodiscard]] CommandLine parse_command_line(int count, const char* const* arguments,
                                             const std::string& environment);

} // namespace sessionq::cli
