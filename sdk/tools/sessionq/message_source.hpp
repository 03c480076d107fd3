// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/sessionq/json_splitter.hpp"
#include "tools/sessionq/line_reader.hpp"
#include "tools/sessionq/message_record.hpp"
#include "tools/sessionq/options.hpp"

namespace sessionq::cli {

/// The messages of `send` and `schedule`, from arguments, lines or records.
class MessageSource {
public:
    /// `now`: the time from which delays count, asked once for the messages that are read together.
    /// Throws UsageError if the file cannot be read.
    MessageSource(const MessageInput& input, std::function<WallTime()> now);

    /// The next messages, at most `most`. Waits for one, and takes others that are there. Empty: no
    /// more. Throws UsageError, naming the line.
    [[nodiscard]] std::vector<Record> next(std::size_t most);

private:
    std::optional<Record> next_message();
    std::optional<Record> next_record();
    [[nodiscard]] Record message_of(std::string body);
    [[nodiscard]] Message pattern();
    [[nodiscard]] WallTime now();
    [[nodiscard]] bool has_message() const;

    const MessageInput& input_;
    std::function<WallTime()> clock_;
    std::optional<WallTime> now_{};
    std::optional<LineReader> lines_{};
    JsonSplitter records_{};
    std::size_t given_{0};
};

} // namespace sessionq::cli
