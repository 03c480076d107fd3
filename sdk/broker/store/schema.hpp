// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "broker/store/damage_report.hpp"
#include "broker/store/database.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// The version of the tables that this sessionq writes. Rows have checksums since version 3.
constexpr std::int64_t schema_version = 3;

/// Initialises a new database, or upgrades an older store in place. Checks the structure of the
/// file and adds what is wrong with it to `damage`; a damaged store is not changed. `is_counted`:
/// there is a counter of its commits, so the store is neither new nor older.
///
/// Fails, naming `file`, with invalid_argument: it is not a sessionq store, or of a newer sessionq.
/// Throws DatabaseError.
[[nodiscard]] std::optional<Failure> prepare_store(Database& database,
                                                   const std::filesystem::path& file,
                                                   bool is_counted, DamageReport& damage);

/// Whether the database has the tables of the current version, as `prepare_store` makes them.
[[nodiscard]] bool has_current_schema(Database& database);

} // namespace sessionq::broker
