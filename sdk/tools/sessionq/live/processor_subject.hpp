// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <sessionq/time.hpp>

#include "tools/sessionq/json_text.hpp"
#include "tools/sessionq/live/live_subject.hpp"
#include "tools/sessionq/live/processor_snapshot.hpp"
#include "tools/sessionq/live/recent_histograms.hpp"

namespace sessionq::cli {

/// A processor that describes itself at a Unix domain socket.
class ProcessorSubject final : public LiveSubject {
public:
    explicit ProcessorSubject(std::string socket);

    void look(std::stop_token stop) override;
    [[nodiscard]] LiveReport report() const override;
    [[nodiscard]] std::string json() const override;
    [[nodiscard]] std::string target() const override { return socket_; }

private:
    struct Taken {
        ProcessorSnapshot snapshot{};
        TimePoint at{};
    };

    std::string socket_;
    std::string document_{};
    std::optional<Taken> now_{};
    std::optional<Taken> before_{};
    RecentHistograms recent_{std::chrono::minutes{1}};
};

} // namespace sessionq::cli
