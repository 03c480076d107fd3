// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv.hpp"

namespace replay {

struct Record {
    std::string body;       ///< One JSON object. A CSV row becomes one, with the header's names.
    std::string session_id; ///< The session key's value.
    std::string outcome;    ///< The outcome field's value, if requested.
};

/// Reads records from a file of JSON Lines or CSV, one at a time, so memory does not grow with the
/// file. The extension .csv means CSV. The extensions .json, .jsonl and .ndjson mean JSON Lines.
/// Otherwise the first character decides. A byte order mark and blank lines are skipped.
class RecordReader {
public:
    /// Every record must have the field `session_key`, and `outcome` if it is not empty. Throws
    /// InputError if the file is unusable.
    RecordReader(std::string path, std::string session_key,
                 std::optional<std::string> outcome = {});

    /// Reads the next record. False: the end. Throws InputError naming file and line, also for a
    /// file without records.
    [[nodiscard]] bool next(Record& record);

    /// The line of the latest record, from 1.
    [[nodiscard]] std::uint64_t line() const noexcept { return line_; }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// The share of the file that was read, 0 to 1.
    [[nodiscard]] double progress();

    /// An InputError about the latest record, or about `line`.
    [[noreturn]] void refuse(std::string_view why) const;
    [[noreturn]] void refuse(std::uint64_t line, std::string_view why) const;

private:
    void open();
    void choose_format();
    void read_header();
    bool next_json(Record& record);
    bool next_csv(Record& record);

    std::string path_;
    std::vector<std::string> wanted_; // the session key, then the outcome field if any
    std::vector<std::string> values_;
    std::ifstream file_;
    std::uint64_t size_{0};
    std::uint64_t line_{0};
    bool any_{false};

    bool csv_{false};
    std::optional<CsvRows> rows_;
    std::vector<std::string> header_;
    std::vector<std::size_t> wanted_columns_;
    std::vector<std::string> fields_;
};

} // namespace replay
