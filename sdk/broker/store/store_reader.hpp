#pragma once

#include <vector>

#include "broker/content_codec.hpp"
#include "broker/instant.hpp"
#include "broker/journal.hpp"
#include "broker/store/database.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// Reads everything that a store holds, except message ids that are forgotten by `at`. Fails with
/// protocol_error if a part cannot be decoded. Throws DatabaseError.
[[nodiscard]] core::Result<std::vector<DurableQueue>> read_store(Database& database,
                                                                 const ContentCodec& codec,
                                                                 WallTime at);

} // namespace sessionq::broker
