// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/on_damage.hpp>
#include <sessionq/time.hpp>

#include "server/configuration.hpp"
#include "server/limits.hpp"
#include "server/shared_access.hpp"
#include "tools/command_line.hpp"

namespace sessionq::sessionqd {

struct Endpoint {
    std::string address{};
    std::uint16_t port{0};
};

/// The options of the command line, checked without any I/O.
struct Options {
    std::optional<Endpoint> listen{Endpoint{.address = "127.0.0.1", .port = 5672}};
    std::optional<Endpoint> tls_listen{};
    std::optional<Endpoint> web_socket_listen{};
    std::optional<Endpoint> tls_web_socket_listen{};
    std::vector<std::string> web_socket_origins{};
    std::string tls_certificate_file{};
    std::string tls_key_file{};
    bool allow_plain_remote{false};
    std::filesystem::path data_directory{}; ///< empty: memory only
    OnDamage on_damage{OnDamage::refuse};
    bool lists_entities{false};                  ///< instead of serving
    std::vector<std::string> deleted_entities{}; ///< not empty: instead of serving
    server::Configuration configuration{};
    std::vector<server::QueueEntry> queues{}; ///< besides those of the configuration
    server::AccessKeys keys{};
    std::size_t receive_threads{1};
    server::Limits limits{}; ///< of each receive thread
    Duration drain_time{std::chrono::seconds{5}};
};

using tools::UsageError;

struct ParsedCommandLine {
    Options options{};
    /// Not empty: the help, the version, the manual page or a completion was requested.
    std::string help{};
};
/// Throws UsageError.
[[nodiscard]] ParsedCommandLine parse_command_line(int count, const char* const* arguments);

} // namespace sessionq::sessionqd
