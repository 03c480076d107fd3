// SPDX-License-Identifier: MIT
#pragma once

#include "broker/content_codec.hpp"
#include "broker/store/damage_report.hpp"
#include "broker/store/database.hpp"

namespace sessionq::broker {

/// How many rows were copied, and the rows that could not be.
struct Salvaged {
    std::int64_t rows{0};
    DamageReport lost{};
};

/// Copies all sound rows of a damaged store into a new one, which `prepare_store` has made. Where a
/// part of a table cannot be read, continues behind it. Leaves out rows whose entity is lost, and
/// messages whose shared content is.
///
/// Only rows with a matching checksum are copied, so nothing altered gets into the new store. A row
/// that had been removed can come back if an old page did.
///
/// Throws DatabaseError if `to` cannot be written; errors of `from` are damages.
[[nodiscard]] Salvaged salvage(Database& from, Database& to, const ContentCodec& codec);

} // namespace sessionq::broker
