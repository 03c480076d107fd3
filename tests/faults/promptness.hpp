// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/time.hpp>

#include "core/clock.hpp"

namespace sessionq::faults {

/// Watches blocking calls. Each must end by its deadline, with or without success. Thread-safe.
class Promptness {
public:
    /// The delay that a busy machine or a debug build may add.
    static constexpr Duration grace = std::chrono::seconds{10};

    /// Runs `call`, which must end within `limit`. Returns nothing on success.
    template <typename Call>
    std::optional<Errc> watch(const std::string& name, Duration limit, Call call) {
        const TimePoint began = core::system_clock().now();
        std::optional<Errc> code;
        try {
            call();
        } catch (const Error& error) {
            code = error.failure().code;
            note(name, error.failure());
        }
        ended(name, limit, core::system_clock().now() - began);
        return code;
    }

    void ended(const std::string& name, Duration limit, Duration took) {
        const std::lock_guard lock{mutex_};
        ++calls_;
        Duration& longest = longest_[name];
        longest = std::max(longest, took);
        if (took > limit + grace) {
            complaints_.push_back(
                name + " took " +
                std::to_string(
                    std::chrono::duration_cast<std::chrono::milliseconds>(took).count()) +
                " ms, " +
                std::to_string(
                    std::chrono::duration_cast<std::chrono::milliseconds>(limit).count()) +
                " ms allowed");
        }
    }

    /// Counts a reported error. An internal error is a complaint.
    void note(const std::string& where, const Failure& failure) {
        const std::lock_guard lock{mutex_};
        ++errors_[where + ": " + std::string{to_string(failure.code)}];
        if (failure.code == Errc::internal_error) {
            complaints_.push_back(where + ": " + failure.to_string());
        }
    }

    [[nodiscard]] std::vector<std::string> complaints() const {
        const std::lock_guard lock{mutex_};
        return complaints_;
    }
    [[nodiscard]] std::map<std::string, std::size_t> errors() const {
        const std::lock_guard lock{mutex_};
        return errors_;
    }
    [[nodiscard]] std::map<std::string, Duration> longest() const {
        const std::lock_guard lock{mutex_};
        return longest_;
    }
    [[nodiscard]] std::size_t calls() const {
        const std::lock_guard lock{mutex_};
        return calls_;
    }

private:
    mutable std::mutex mutex_;
    std::size_t calls_{0};
    std::map<std::string, std::size_t> errors_{};
    std::map<std::string, Duration> longest_{};
    std::vector<std::string> complaints_{};
};

} // namespace sessionq::faults
