// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "broker/content_codec.hpp"
#include "broker/instant.hpp"
#include "broker/journal.hpp"
#include "broker/store/damage_report.hpp"
#include "broker/store/database.hpp"
#include "broker/store/shared_contents.hpp"

namespace sessionq::broker {

/// The queues and shared contents of a store.
struct StoreContents {
    std::vector<DurableQueue> queues{};
    SharedContents shared{};
};

/// Reads everything that a store with known tables holds, except message ids that are forgotten by
/// `at`. Messages that share a content in the store share it in memory. Rows that do not match
/// their checksum or cannot be decoded are left out and named in `damage`, and so is each table
/// that does not match the ledger. Throws DatabaseError.
[[nodiscard]] StoreContents read_store(Database& database, const ContentCodec& codec, WallTime at,
                                       DamageReport& damage);

} // namespace sessionq::broker
