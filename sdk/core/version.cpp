// SPDX-License-Identifier: MIT
#include <sessionq/version.hpp>

namespace sessionq::inline v1 {

Version version() noexcept {
    return {.major = SESSIONQ_VERSION_MAJOR,
            .minor = SESSIONQ_VERSION_MINOR,
            .patch = SESSIONQ_VERSION_PATCH,
            .text = SESSIONQ_VERSION};
}

} // namespace sessionq::inline v1
