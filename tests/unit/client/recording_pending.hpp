// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <utility>
#include <vector>

#include "client/calls/pending.hpp"

namespace sessionq::test {

/// Keeps what it is answered.
template <typename T>
class RecordingPending final : public detail::client::Pending<T> {
public:
    using detail::client::Pending<T>::Pending;

    /// The only answer, if there is one.
    [[nodiscard]] std::optional<core::Result<T>> answer() const {
        CHECK(answers.size() <= 1);
        return answers.empty() ? std::nullopt : std::optional{answers.front()};
    }

    std::vector<core::Result<T>> answers{};

private:
    void deliver(core::Result<T> answer) override { answers.push_back(std::move(answer)); }
};

} // namespace sessionq::test
