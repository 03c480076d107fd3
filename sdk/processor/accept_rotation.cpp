#include "processor/accept_rotation.hpp"

#include <utility>

namespace sessionq::processor {

AcceptRotation::AcceptRotation(const std::vector<std::string>& entities,
                               const std::vector<std::string>& session_ids, TargetClaims* claims)
    : claims_{claims}, named_{!session_ids.empty()} {
    for (const std::string& entity : entities) {
        if (!named_) {
            rows_.push_back({.target = {.entity = entity}});
        }
        for (const std::string& id : session_ids) {
            rows_.push_back({.target = {.entity = entity, .session_id = id}});
        }
    }
}

std::optional<std::size_t> AcceptRotation::choose() noexcept {
    const std::uint64_t turn = ++turn_;
    for (;;) {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const Row& row = rows_[i];
            if (named_ && (row.pending != 0 || row.held != 0 || row.passed_over == turn)) {
                continue;
            }
            if (!best || std::pair{row.pending, row.asked} <
                             std::pair{rows_[*best].pending, rows_[*best].asked}) {
                best = i;
            }
        }
        if (best && claims_ != nullptr && !claims_->try_claim(*best)) { // another thread's
            rows_[*best].passed_over = turn;
            continue;
        }
        if (best) {
            ++rows_[*best].pending;
            rows_[*best].asked = turn;
        }
        return best;
    }
}

void AcceptRotation::refused(std::size_t index) {
    --rows_[index].pending;
    release(index);
}

void AcceptRotation::held(std::size_t index) noexcept {
    --rows_[index].pending;
    ++rows_[index].held;
}

void AcceptRotation::left(std::size_t index) {
    --rows_[index].held;
    release(index);
}

void AcceptRotation::release(std::size_t index) {
    if (claims_ != nullptr) {
        claims_->release(index);
    }
}

} // namespace sessionq::processor
