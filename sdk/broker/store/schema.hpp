#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "broker/store/database.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// The file within a store's directory.
[[nodiscard]] std::filesystem::path store_file(const std::filesystem::path& directory);

/// Beside it: room that is set aside.
[[nodiscard]] std::filesystem::path reserve_file(const std::filesystem::path& directory);

/// Makes a new database a store, and an older store one of today; changes nothing where it is
/// neither. Fails as `open_store`, naming `file`; throws DatabaseError.
[[nodiscard]] std::optional<Failure> prepare_store(Database& database,
                                                   const std::filesystem::path& file);

/// Opens the store in `directory`, making both if they are not there, for this process alone. What
/// is committed survives the end of the process and of the machine.
///
/// Fails, naming the file, with resource_exhausted (it cannot be made, read or written),
/// invalid_state (another process has it open) or invalid_argument (it is no store of sessionq, or
/// a newer sessionq's) or protocol_error (it is damaged); then nothing of it was changed.
[[nodiscard]] core::Result<std::unique_ptr<Database>> open_store(
    const std::filesystem::path& directory);

} // namespace sessionq::broker
