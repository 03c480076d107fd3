#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "broker/store/database.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// The database file in a store's directory.
[[nodiscard]] std::filesystem::path store_file(const std::filesystem::path& directory);

/// The file beside it that reserves disk space.
[[nodiscard]] std::filesystem::path reserve_file(const std::filesystem::path& directory);

/// Initialises a new database, or upgrades an older store. Changes no other file. Fails as
/// `open_store` does, naming `file`. Throws DatabaseError.
[[nodiscard]] std::optional<Failure> prepare_store(Database& database,
                                                   const std::filesystem::path& file);

/// Opens the store in `directory` for this process alone, creating both if they do not exist.
/// Committed data survives a crash of the process and of the machine.
///
/// Fails, naming the file, and changes nothing:
/// - resource_exhausted: it cannot be created, read or written;
/// - invalid_state: another process has it open;
/// - invalid_argument: it is not a sessionq store, or of a newer sessionq;
/// - protocol_error: it is damaged.
[[nodiscard]] core::Result<std::unique_ptr<Database>> open_store(
    const std::filesystem::path& directory);

} // namespace sessionq::broker
