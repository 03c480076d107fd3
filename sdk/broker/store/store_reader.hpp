// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "broker/content_codec.hpp"
#include "broker/instant.hpp"
#include "broker/journal.hpp"
#include "broker/store/damage_report.hpp"
#include "broker/store/database.hpp"

namespace sessionq::broker {

/// Reads everything that a store of the current version holds, except message ids that are
/// forgotten by `at`. Rows that do not match their checksum or cannot be decoded are left out and
/// named in `damage`, and so is each table that does not match the ledger. Throws DatabaseError.
[[nodiscard]] std::vector<DurableQueue> read_store(Database& database, const ContentCodec& codec,
                                                   WallTime at, DamageReport& damage);

} // namespace sessionq::broker
