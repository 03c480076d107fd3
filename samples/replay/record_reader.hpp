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
    std::string body;       ///< One JSON object; a CSV row becomes one, with the header's names.
    std::string session_id; ///< The session key's value.
    std::string outcome;    ///< The outcome field's value, where one was asked for.
};

/// Reads records from a file of JSON Lines or CSV, one at a time: memory does not grow with the
/// file. The extension .csv means CSV; .json, .jsonl and .ndjson mean JSON Lines; otherwise the
/// first character decides. A byte order mark and blank lines are skipped.
class RecordReader {
public:
    /// Every record must have the fields `session_key` and, if given, `outcome`. Throws InputError
    /// if the file cannot serve.
    RecordReader(std::string path, std::string session_key,
                 std::optional<std::string> outcome = {});

    /// Puts the next record into `record`; false at the end. Throws InputError naming file and
    /// line, and for a file without any record.
    [[nodiscard]] bool next(Record& record);

    /// The line of the latest record, from 1.
    [[nodiscard]] std::uint64_t line() const noexcept { return line_; }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// How much of the file has been read, 0 to 1.
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
