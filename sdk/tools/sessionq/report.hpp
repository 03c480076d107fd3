// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <string>

#include "tools/sessionq/json_text.hpp"
#include "tools/sessionq/options.hpp"
#include "tools/sessionq/output.hpp"

namespace sessionq::cli {

/// Runs `work`, which counts its messages. Tells the count, also if `work` fails: "3 sent".
template <typename Work>
int report_count(const Shared& shared, const char* done, const Work& work) {
    std::size_t count = 0;
    std::exception_ptr failure;
    try {
        work(count);
    } catch (...) {
        failure = std::current_exception();
    }
    if (shared.json) {
        write_output(line_of({{done, count}}));
    } else {
        tell(std::to_string(count) + " " + done);
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    return 0;
}

} // namespace sessionq::cli
