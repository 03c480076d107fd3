// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/client.hpp>

#include "tools/sessionq/options.hpp"

/// The commands, a family a file. Each returns the exit code. They throw `Error`, UsageError and
/// OutputError.
namespace sessionq::cli {

[[nodiscard]] int run(const CommandLine& line);

/// Connects by itself, step by step.
[[nodiscard]] int run(const Shared& shared, const DoctorOptions& options);
/// Needs no broker, but the socket of a processor.
[[nodiscard]] int run(const Shared& shared, const TopOptions& options);
/// Connects by itself, because a live screen prepares signals first.
[[nodiscard]] int run(const Shared& shared, const WatchOptions& options);

[[nodiscard]] Client connect(const Shared& shared,
                             Duration operation_timeout = ClientOptions{}.operation_timeout);

[[nodiscard]] int run(const Client& client, const Shared& shared, const SendOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared, const ScheduleOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared, const CancelOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared, const ReceiveOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared, const ConsumeOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared, const PeekOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared, const SessionsOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared, const CountsOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared, const PurgeOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared, const GetStateOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared, const SetStateOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared, const ClearStateOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared,
                      const ListDeadLettersOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared,
                      const ShowDeadLettersOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared,
                      const RedriveDeadLettersOptions& options);
[[nodiscard]] int run(const Client& client, const Shared& shared,
                      const PurgeDeadLettersOptions& options);

} // namespace sessionq::cli
