// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>

#include "core/result.hpp"

namespace sessionq::broker {

/// The database file in a store's directory. SQLite keeps its log beside it.
[[nodiscard]] std::filesystem::path store_file(const std::filesystem::path& directory);
[[nodiscard]] std::filesystem::path log_of(const std::filesystem::path& database);

/// The file beside it that reserves disk space.
[[nodiscard]] std::filesystem::path reserve_file(const std::filesystem::path& directory);

/// The file beside it that counts commits.
[[nodiscard]] std::filesystem::path counter_file(const std::filesystem::path& directory);

/// A store that is being salvaged.
[[nodiscard]] std::filesystem::path salvage_file(const std::filesystem::path& directory);

/// Whether a store was in the directory that is there no longer, or is empty.
[[nodiscard]] bool is_store_missing(const std::filesystem::path& directory);

/// Creates the directory for its owner alone, if it does not exist, and withdraws all access of
/// others to the files of an existing store. Logs a warning if others may read a directory that
/// existed: other files may be in it, so its permissions stay as they are.
///
/// Fails if others could lead the writes elsewhere: they may write to the directory, or a file of
/// the store is a link, no regular file, or another user's.
[[nodiscard]] std::optional<Failure> prepare_directory(const std::filesystem::path& directory);

/// Creates an empty file for its owner alone, with any umask. Keeps a file that exists. SQLite
/// gives the files beside it the same permissions.
[[nodiscard]] std::optional<Failure> make_private_file(const std::filesystem::path& file);

/// Renames the database and its log, which must not be open, to `sessionq.db.damaged-<n>`, with the
/// next free number. Then `replacement` becomes the database. Returns the new name.
[[nodiscard]] core::Result<std::filesystem::path> set_store_aside(
    const std::filesystem::path& directory, const std::filesystem::path& replacement);

/// A failure that names the store.
[[nodiscard]] Failure refuse_store(Errc code, const std::filesystem::path& what,
                                   const std::string& why);

} // namespace sessionq::broker
