// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "amqp/engine/disposition_run.hpp"

namespace sessionq::amqp {

/// Decides whether input has to wait: behind a disposition that is not told in whole, or for a
/// listener that needs time. Keeps the input that waits.
class WaitingInput {
public:
    void hold() noexcept { ++holds_; }
    void let_go() noexcept { --holds_; }
    [[nodiscard]] bool is_held() const noexcept { return holds_ != 0; }

    [[nodiscard]] bool has_to_wait() const noexcept { return is_held() || !disposition.is_over(); }
    /// Something can go on.
    [[nodiscard]] bool is_due() const noexcept {
        return !is_held() && (!disposition.is_over() || !bytes_.empty());
    }

    void keep(std::string_view bytes) { bytes_.append(bytes); }
    [[nodiscard]] std::string take() noexcept { return std::exchange(bytes_, {}); }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
    /// The memory that they take, in bytes.
    [[nodiscard]] std::size_t memory() const noexcept { return bytes_.capacity(); }

    DispositionRun disposition{};

private:
    std::string bytes_{};
    std::size_t holds_{0};
};

} // namespace sessionq::amqp
