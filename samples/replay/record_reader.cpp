// SPDX-License-Identifier: MIT
#include "record_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "input_error.hpp"
#include "json_line.hpp"

namespace replay {

namespace {

constexpr std::size_t longest_session_id = 128; // in characters

std::size_t characters(std::string_view utf8) {
    return static_cast<std::size_t>(std::count_if(
        utf8.begin(), utf8.end(), [](unsigned char byte) { return (byte & 0xc0U) != 0x80; }));
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

} // namespace

RecordReader::RecordReader(std::string path, std::string session_key,
                           std::optional<std::string> outcome)
    : path_{std::move(path)} {
    wanted_.push_back(std::move(session_key));
    if (outcome) {
        wanted_.push_back(std::move(*outcome));
    }
    values_.resize(wanted_.size());
    open();
    choose_format();
    if (csv_) {
        read_header();
    }
}

void RecordReader::open() {
    std::error_code error;
    const auto status = std::filesystem::status(path_, error);
    if (status.type() == std::filesystem::file_type::not_found) {
        throw InputError{path_ + ": no such file"};
    }
    if (status.type() == std::filesystem::file_type::directory) {
        throw InputError{path_ + ": is a directory, not a file of records"};
    }
    file_.open(path_, std::ios::binary);
    if (!file_) {
        throw InputError{path_ + ": cannot open: " + std::generic_category().message(errno)};
    }
    if (file_.peek() == std::ifstream::traits_type::eof()) {
        throw InputError{path_ + ": is empty"};
    }
    const auto size = std::filesystem::file_size(path_, error);
    size_ = error ? 0 : size;
}

void RecordReader::choose_format() {
    std::streambuf& source = *file_.rdbuf();
    for (const char mark : {'\xEF', '\xBB', '\xBF'}) {
        if (source.sgetc() != std::char_traits<char>::to_int_type(mark)) {
            break;
        }
        source.sbumpc();
    }
    const std::string extension = std::filesystem::path{path_}.extension().string();
    if (extension == ".csv" || extension == ".CSV") {
        csv_ = true;
    } else if (extension != ".json" && extension != ".jsonl" && extension != ".ndjson") {
        const int first = source.sgetc();
        csv_ = first != '{' && first != '[' && first != ' ' && first != '\t' && first != '\r' &&
               first != '\n';
    }
}

void RecordReader::read_header() {
    rows_.emplace(*file_.rdbuf());
    try {
        if (!rows_->next(header_)) {
            throw InputError{path_ + ": no header row"};
        }
    } catch (const BrokenLine& broken) {
        refuse(broken.line(), broken.what());
    }
    for (const std::string& name : wanted_) {
        const auto at = std::find(header_.begin(), header_.end(), name);
        if (at == header_.end()) {
            refuse(rows_->line(), "no column '" + name + "'; the header names " + joined(header_));
        }
        if (std::find(at + 1, header_.end(), name) != header_.end()) {
            refuse(rows_->line(), "more than one column '" + name + "'");
        }
        wanted_columns_.push_back(static_cast<std::size_t>(at - header_.begin()));
    }
}

bool RecordReader::next(Record& record) {
    const bool more = csv_ ? next_csv(record) : next_json(record);
    if (file_.bad()) {
        throw InputError{path_ + ": cannot read after line " + std::to_string(line_)};
    }
    if (!more) {
        if (!any_) {
            throw InputError{path_ + ": no record"};
        }
        return false;
    }
    any_ = true;
    record.session_id = values_[0];
    if (values_.size() > 1) {
        record.outcome = values_[1];
    }
    if (const std::size_t length = characters(record.session_id); length > longest_session_id) {
        refuse("field '" + wanted_[0] + "' has " + std::to_string(length) +
               " characters; a session id may have at most " + std::to_string(longest_session_id));
    }
    return true;
}

bool RecordReader::next_json(Record& record) {
    do {
        if (!std::getline(file_, record.body)) {
            return false;
        }
        ++line_;
    } while (is_blank(record.body));
    if (record.body.back() == '\r') {
        record.body.pop_back();
    }
    const std::string complaint = read_json_line(record.body, wanted_, values_);
    if (!complaint.empty()) {
        refuse(complaint);
    }
    return true;
}

bool RecordReader::next_csv(Record& record) {
    try {
        if (!rows_->next(fields_)) {
            return false;
        }
    } catch (const BrokenLine& broken) {
        refuse(broken.line(), broken.what());
    }
    line_ = rows_->line();
    if (fields_.size() != header_.size()) {
        refuse(std::to_string(fields_.size()) + " fields, but the header names " +
               std::to_string(header_.size()));
    }
    for (std::size_t i = 0; i < wanted_columns_.size(); ++i) {
        values_[i] = fields_[wanted_columns_[i]];
    }
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < header_.size(); ++i) {
        object[header_[i]] = fields_[i];
    }
    try {
        record.body = object.dump();
    } catch (const nlohmann::json::exception&) {
        refuse("not UTF-8");
    }
    return true;
}

double RecordReader::progress() {
    if (size_ == 0 || file_.eof()) {
        return 1.0;
    }
    const auto at = file_.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in);
    return at < 0 ? 1.0 : static_cast<double>(at) / static_cast<double>(size_);
}

void RecordReader::refuse(std::string_view why) const { refuse(line_, why); }

void RecordReader::refuse(std::uint64_t line, std::string_view why) const {
    throw InputError{path_ + ":" + std::to_string(line) + ": " + std::string{why}};
}

} // namespace replay
