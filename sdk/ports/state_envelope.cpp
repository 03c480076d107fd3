// SPDX-License-Identifier: MIT
#include "ports/state_envelope.hpp"

#include <string_view>
#include <utility>

#include "core/byte_order.hpp"

namespace sessionq::ports {
namespace {

constexpr std::string_view envelope_mark{"\x89SQSTATE\x01", 9};
constexpr std::size_t length_at = envelope_mark.size() + 1;
constexpr std::size_t header_length = length_at + 4;

} // namespace

StateEnvelope StateEnvelope::open(std::optional<std::string> stored) {
    if (stored && stored->empty()) {
        return {};
    }
    if (!stored || stored->size() < header_length || !stored->starts_with(envelope_mark)) {
        return {.application = std::move(stored)};
    }
    const std::size_t length = core::number_at<4>(stored->data() + length_at);
    const bool has_state = (*stored)[envelope_mark.size()] != 0;
    if (length > stored->size() - header_length ||
        (!has_state && header_length + length != stored->size())) {
        return {.application = std::move(stored)};
    }
    StateEnvelope envelope{.record = stored->substr(header_length, length)};
    if (has_state && header_length + length != stored->size()) {
        envelope.application = std::move(stored)->erase(0, header_length + length);
    }
    return envelope;
}

std::optional<std::string> StateEnvelope::seal() && {
    if (application && application->empty()) {
        application.reset();
    }
    const bool looks_sealed = application && application->starts_with(envelope_mark);
    if (record.empty() && !looks_sealed) {
        return std::move(application);
    }
    std::string sealed{envelope_mark};
    sealed.resize(header_length);
    sealed[envelope_mark.size()] = application ? '\x01' : '\x00';
    core::put_number<4>(sealed.data() + length_at, record.size());
    sealed.append(record);
    if (application) {
        sealed.append(*application);
    }
    return sealed;
}

} // namespace sessionq::ports
