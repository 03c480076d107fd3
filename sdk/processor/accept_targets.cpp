#include "processor/accept_targets.hpp"

#include <utility>

namespace sessionq::processor {

AcceptTargets::AcceptTargets(const std::vector<std::string>& entities, const std::vector<std::string>& session_ids) : named_{!session_ids.empty()} {
    for (const std::string& entity : entities) {
        if (!named_) {
            rows_.push_back({.target = {.entity = entity}});
        }
        for (const std::string& id : session_ids) {
            rows_.push_back({.target = {.entity = entity, .session_id = id}});
        }
    }
}

std::optional<std::size_t> AcceptTargets::choose() noexcept {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        if (named_ && (row.pending != 0 || row.held != 0)) {
            continue;
        }
        if (!best || std::pair{row.pending, row.asked} < std::pair{rows_[*best].pending, rows_[*best].asked}) {
            best = i;
        }
    }
    if (best) {
        ++rows_[*best].pending;
        rows_[*best].asked = ++turn_;
    }
    return best;
}

} // namespace sessionq::processor
