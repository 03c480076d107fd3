// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include <sessionq/on_damage.hpp>

#include "broker/content_codec.hpp"
#include "broker/instant.hpp"
#include "broker/journal.hpp"
#include "broker/store/commit_counter.hpp"
#include "broker/store/database.hpp"
#include "broker/store/shared_contents.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// A store that is ready to be written.
struct OpenedStore {
    std::unique_ptr<Database> database{};
    std::unique_ptr<CommitCounter> counter{};
    bool is_counted{false};             ///< whether the counter can be written
    std::vector<DurableQueue> queues{}; ///< everything in it, except forgotten message ids
    SharedContents contents{};          ///< of their messages
};

/// Opens the store in `directory` for this process alone, creating both if they do not exist.
/// Committed data survives a crash of the process and of the machine.
///
/// Checks everything: the structure of the file, the checksum of each row, the number and sum of
/// the rows of each table, and whether commits are missing that were confirmed. With
/// `OnDamage::set_aside`, copies the sound rows into a new store, keeps the damaged files and logs
/// the losses.
///
/// Fails, naming the file, and changes nothing but permissions:
/// - resource_exhausted: it cannot be created, read or written;
/// - invalid_state: another process has it open;
/// - invalid_argument: it is not a sessionq store, or of a newer sessionq;
/// - protocol_error: it is damaged.
[[nodiscard]] core::Result<OpenedStore> open_store(const std::filesystem::path& directory,
                                                   const ContentCodec& codec, WallTime at,
                                                   OnDamage on_damage);

} // namespace sessionq::broker
