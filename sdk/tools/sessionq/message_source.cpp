// SPDX-License-Identifier: MIT
#include "tools/sessionq/message_source.hpp"

#include <utility>

#include "tools/sessionq/message_record.hpp"

namespace sessionq::cli {

MessageSource::MessageSource(const MessageInput& input, std::function<WallTime()> now)
    : input_{input}, clock_{std::move(now)} {
    if (input.bodies.empty()) {
        lines_.emplace(input.file);
    }
}

std::vector<Record> MessageSource::next(std::size_t most) {
    std::vector<Record> messages;
    now_.reset();
    while (messages.size() < most && (messages.empty() || has_message())) {
        auto message = next_message();
        if (!message) {
            break;
        }
        ++given_;
        if (given_ > 1 && !input_.pattern.message_id.empty() &&
            message->message.message_id == input_.pattern.message_id) {
            throw UsageError{"--id: is for a single message, and there are more"};
        }
        messages.push_back(*std::move(message));
    }
    return messages;
}

bool MessageSource::has_message() const {
    return lines_ ? records_.has_piece() || lines_->has_line() : given_ < input_.bodies.size();
}

std::optional<Record> MessageSource::next_message() {
    if (!lines_) {
        return given_ < input_.bodies.size() ? std::optional{message_of(input_.bodies[given_])}
                                             : std::nullopt;
    }
    if (input_.format == InputFormat::json) {
        return next_record();
    }
    if (input_.format == InputFormat::whole) {
        return given_ == 0 ? std::optional{message_of(lines_->rest())} : std::nullopt;
    }
    auto line = lines_->next();
    return line ? std::optional{message_of(*std::move(line))} : std::nullopt;
}

std::optional<Record> MessageSource::next_record() {
    for (bool is_more = true; is_more && !records_.has_piece();) {
        const auto line = lines_->next();
        is_more = line.has_value();
        is_more ? records_.add(*line) : records_.end();
    }
    const auto record = records_.next();
    if (!record) {
        return std::nullopt;
    }
    try {
        return read_record(record->text, pattern(), now());
    } catch (const RecordError& error) {
        throw UsageError{"line " + std::to_string(record->line) + ": " + error.what()};
    }
}

Record MessageSource::message_of(std::string body) {
    Record record{.message = pattern()};
    record.message.body = std::move(body);
    return record;
}

Message MessageSource::pattern() {
    Message message = input_.pattern;
    if (input_.delay) {
        message.scheduled_enqueue_time = now() + *input_.delay;
    }
    return message;
}

WallTime MessageSource::now() {
    if (!now_) {
        now_ = clock_();
    }
    return *now_;
}

} // namespace sessionq::cli
