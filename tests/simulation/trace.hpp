// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <sstream>
#include <string>

#include <sessionq/time.hpp>

namespace sessionq::simulation {

/// Prints each event, for `--trace` and for the check that a seed replays byte for byte. Formats
/// nothing while it is off, which is the default.
class Trace {
public:
    using Sink = std::function<void(const std::string& line)>;

    explicit Trace(Sink sink = {}) : sink_{std::move(sink)} {}

    [[nodiscard]] bool on() const noexcept { return static_cast<bool>(sink_); }

    template <typename... Parts>
    void line(TimePoint now, TimePoint start, const Parts&... parts) {
        if (!sink_) {
            return;
        }
        std::ostringstream text;
        text << std::chrono::duration_cast<std::chrono::microseconds>(now - start).count() << "us ";
        (text << ... << parts);
        sink_(text.str());
    }

private:
    Sink sink_;
};

} // namespace sessionq::simulation
