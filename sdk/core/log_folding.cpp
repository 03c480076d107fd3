// SPDX-License-Identifier: MIT
#include "core/log_folding.hpp"

#include <algorithm>

namespace sessionq::core {
namespace {

/// Events of one kind differ in their session or message at most.
std::string kind_of(const LogRecord& record) {
    std::string kind{record.event};
    for (const LogField& field : record.fields) {
        if (field.name == "entity" || field.name == "code" || field.name == "peer") {
            kind.append(1, '\n').append(field.value);
        }
    }
    return kind;
}

bool is_failure(const LogRecord& record) {
    return !record.event.empty() &&
           std::any_of(record.fields.begin(), record.fields.end(),
                       [](const LogField& field) { return field.name == "code"; });
}

} // namespace

KeptRecord::KeptRecord(const LogRecord& record)
    : record_{record}, component_{record.component}, event_{record.event}, text_{record.text} {
    for (const LogField& field : record.fields) {
        values_.emplace_back(field.name, field.value);
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
        fields_.push_back({.name = values_[i].first,
                           .value = values_[i].second,
                           .is_number = record.fields[i].is_number});
    }
}

LogRecord KeptRecord::record(std::uint64_t repeated) const {
    LogRecord whole = record_;
    whole.component = component_;
    whole.event = event_;
    whole.text = text_;
    whole.fields = fields_;
    whole.repeated = repeated;
    return whole;
}

bool LogFolding::offer(const LogRecord& record, TimePoint now) {
    if (!is_failure(record)) {
        return true;
    }
    std::string kind = kind_of(record);
    const auto known = std::find_if(kinds_.begin(), kinds_.end(),
                                    [&kind](const Held& each) { return each.kind == kind; });
    if (known != kinds_.end()) {
        ++known->count;
        known->last = std::make_unique<KeptRecord>(record);
        return false;
    }
    if (kinds_.size() == most_kinds) {
        over_.splice(over_.end(), kinds_, kinds_.begin());
    }
    kinds_.push_back({.kind = std::move(kind), .until = now + window});
    return true;
}

LogFolding::HeldKinds LogFolding::due(TimePoint now) {
    HeldKinds found;
    found.splice(found.end(), over_);
    while (!kinds_.empty() && kinds_.front().until <= now) {
        found.splice(found.end(), kinds_, kinds_.begin());
    }
    found.remove_if([](const Held& each) { return each.count == 0; });
    return found;
}

} // namespace sessionq::core
