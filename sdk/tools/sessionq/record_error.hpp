// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

namespace sessionq::cli {

/// A record that is no message. Names the member.
class RecordError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace sessionq::cli
