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
/// Contents are shared since version 4.
constexpr std::int64_t schema_version = 4;

/// Initialises a new database, or upgrades a store of version 1 or 2 in place. Checks the structure
/// of the file and adds its damages to `damage`; a damaged store is not changed. `is_counted`:
/// there is a counter of its commits, so the store is neither new nor that old.
///
/// Fails, naming `file`, with invalid_argument: it is not a sessionq store, or of a newer sessionq.
/// Throws DatabaseError.
[[nodiscard]] std::optional<Failure> prepare_store(Database& database,
                                                   const std::filesystem::path& file,
                                                   bool is_counted, DamageReport& damage);

/// Whether the database has the tables of the current version or of version 3, and no others.
/// Their rows have the same form; version 3 has no `contents`.
[[nodiscard]] bool has_known_tables(Database& database);
[[nodiscard]] bool has_contents(Database& database);

/// The store is sound and will be written from now on: upgrades a store of version 3, and puts
/// `run` into the ledger. In one transaction. Throws DatabaseError.
void begin_run(Database& database, std::int64_t run);

} // namespace sessionq::broker
