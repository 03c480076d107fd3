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

/// Watches calls that block: each must end by its deadline, one way or the other. Thread-safe.
class Promptness {
public:
    /// What a busy machine may add to a call, or a debugger's build.
    static constexpr Duration grace = std::chrono::seconds{10};

    /// Runs `call`, which must end within `limit`. Nothing when it succeeded.
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

    /// Counts an error that was told. An internal one is a complaint.
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
