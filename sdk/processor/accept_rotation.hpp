#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/time.hpp>

#include "processor/target_claims.hpp"

namespace sessionq::processor {

/// What may be accepted: an entity's next session, or a named one.
struct AcceptTarget {
    std::string entity{};
    std::optional<std::string> session_id{};
};

/// Decides which target a vacant slot asks for, so that every entity is asked in turn and a named
/// session once at a time (DG9).
class AcceptRotation {
public:
    /// `claims`: shared with the other receive threads, for named sessions; null: there are none.
    AcceptRotation(const std::vector<std::string>& entities,
                   const std::vector<std::string>& session_ids, TargetClaims* claims = nullptr);

    /// `here` of `all` slots of the processor ask here.
    void set_slots(std::uint32_t here, std::uint32_t all) noexcept { slots_ = named_ ? all : here; }

    /// The target to ask for next: the one with the fewest accepts under way, then the one asked
    /// longest ago. Nothing when all named sessions are asked for or held, here or on another
    /// thread.
    [[nodiscard]] std::optional<std::size_t> choose() noexcept;

    void refused(std::size_t index);
    void held(std::size_t index) noexcept; ///< the accept was granted
    void left(std::size_t index);

    /// For how long an accept may wait: at most `turn` where slots are fewer than targets.
    [[nodiscard]] Duration wait(Duration longest, Duration turn) const noexcept {
        return slots_ < rows_.size() ? std::min(longest, turn) : longest;
    }
    /// For how long a session may be idle: without end where each named one has a slot.
    [[nodiscard]] Duration idle_timeout(Duration configured) const noexcept {
        return named_ && slots_ >= rows_.size() ? Duration::max() : configured;
    }

    [[nodiscard]] const AcceptTarget& operator[](std::size_t index) const noexcept {
        return rows_[index].target;
    }
    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
    [[nodiscard]] bool named() const noexcept { return named_; }

private:
    struct Row {
        AcceptTarget target{};
        std::uint32_t pending{0};
        std::uint32_t held{0};
        std::uint64_t asked{0};
        std::uint64_t passed_over{0}; ///< the turn in which it was found to be another thread's
    };

    void release(std::size_t index);

    std::vector<Row> rows_{};
    TargetClaims* claims_;
    std::uint64_t turn_{0};
    std::uint32_t slots_{0};
    bool named_;
};

} // namespace sessionq::processor
