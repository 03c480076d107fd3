// SPDX-License-Identifier: MIT
#pragma once

#include "in_process/local_link.hpp"

namespace sessionq::in_process {

/// The messages of an entity without sessions, each with a lock of its own.
class LocalEntityLink final : public LocalLink, private ports::MessageLocks {
public:
    using LocalLink::LocalLink;

    [[nodiscard]] ports::MessageLocks* message_locks() noexcept override { return this; }

private:
    ports::RequestId renew(std::vector<std::uint64_t> tags, Deadline deadline,
                           Handler handler) override;
};

} // namespace sessionq::in_process
