// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

/// The names of all events in the log. `sdk/TROUBLESHOOTING.md` has an entry for each.
namespace sessionq::core::events {

inline constexpr std::string_view connected{"connected"};
inline constexpr std::string_view connection_lost{"connection_lost"};
inline constexpr std::string_view connect_failed{"connect_failed"};
inline constexpr std::string_view peer_refused{"peer_refused"};
inline constexpr std::string_view listener_waits{"listener_waits"};

inline constexpr std::string_view processor_started{"processor_started"};
inline constexpr std::string_view processor_paused{"processor_paused"};
inline constexpr std::string_view processor_resumed{"processor_resumed"};
inline constexpr std::string_view limits_changed{"limits_changed"};
inline constexpr std::string_view processor_stopped{"processor_stopped"};
inline constexpr std::string_view doubtful_setting{"doubtful_setting"};
inline constexpr std::string_view health_changed{"health_changed"};

inline constexpr std::string_view session_opened{"session_opened"};
inline constexpr std::string_view session_closed{"session_closed"};
inline constexpr std::string_view message_received{"message_received"};
inline constexpr std::string_view message_settling{"message_settling"};

inline constexpr std::string_view accept_failed{"accept_failed"};
inline constexpr std::string_view session_open_failed{"session_open_failed"};
inline constexpr std::string_view handler_failed{"handler_failed"};
inline constexpr std::string_view handler_misused{"handler_misused"};
inline constexpr std::string_view session_close_failed{"session_close_failed"};
inline constexpr std::string_view settlement_failed{"settlement_failed"};
inline constexpr std::string_view lock_not_kept{"lock_not_kept"};
inline constexpr std::string_view session_lost{"session_lost"};
inline constexpr std::string_view failure_policy_failed{"failure_policy_failed"};
inline constexpr std::string_view session_record_failed{"session_record_failed"};
inline constexpr std::string_view executor_failed{"executor_failed"};

} // namespace sessionq::core::events
