// SPDX-License-Identifier: MIT
#include "processor/report/renewal_book.hpp"

namespace sessionq::detail::processor {
namespace {

std::string words_of(Duration time) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count()) + " ms";
}

} // namespace

std::string RenewalBook::judge(const std::string& entity, Duration took,
                               const core::Result<ports::LockGrant>& answer) {
    if (!answer.ok() || !answer.value().length || !seen_.insert(entity).second) {
        return {};
    }
    const Duration length = *answer.value().length;
    if (took < length / longest_share) {
        return {};
    }
    return "the locks of '" + entity + "' last " + words_of(length) + ", and the broker took " +
           words_of(took) +
           " to renew one: they end whenever an answer is late; give the entity a longer lock";
}

} // namespace sessionq::detail::processor
