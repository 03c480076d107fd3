// SPDX-License-Identifier: MIT
#include "in_process/local_entity_link.hpp"

#include <utility>

namespace sessionq::in_process {

ports::RequestId LocalEntityLink::renew(std::vector<std::uint64_t> tags, Deadline deadline,
                                        Handler handler) {
    using Grant = core::Result<ports::LockGrant>;
    std::vector<Grant> grants;
    grants.reserve(tags.size());
    for (const std::uint64_t tag : tags) {
        grants.push_back(
            perform<ports::LockGrant>(deadline, [&](broker::Queue& queue, broker::Instant now) {
                const auto until = queue.renew_message(*consumer_, tag, now);
                return until ? Grant{ports::LockGrant{until.value() - now.now}} : until.failure();
            }));
    }
    confirmations().run_later([handler = std::move(handler), grants = std::move(grants)]() mutable {
        handler(std::move(grants));
    });
    return confirmations().next_id();
}

} // namespace sessionq::in_process
