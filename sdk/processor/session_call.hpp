#pragma once

#include <cstdint>
#include <string>

#include <sessionq/session_context.hpp>

#include "processor/shard_call.hpp"

namespace sessionq::processor {

class SessionDriver;

/// A call of on_session_open or on_session_close: goes through the lane like a message, with the
/// lane on hold behind it.
class SessionCall final : public ShardCall {
public:
    enum class Kind : std::uint8_t { open, close };

    SessionCall(SessionDriver& driver, Kind kind, CloseReason reason) noexcept
        : driver_{&driver}, kind_{kind}, reason_{reason} {}

    dispatch::Verdict run() noexcept override;
    void noticed() override;

    [[nodiscard]] Kind kind() const noexcept { return kind_; }

    /// What the handler threw; null when it returned.
    [[nodiscard]] const std::string* failure() const noexcept {
        return failed_ ? &failure_ : nullptr;
    }

private:
    void call_handler();

    SessionDriver* driver_;
    Kind kind_;
    CloseReason reason_; ///< as of when it was queued: the session's may change while it runs
    bool failed_{false};
    std::string failure_{};
};

} // namespace sessionq::processor
