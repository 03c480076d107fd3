// SPDX-License-Identifier: MIT
#include "csv.hpp"

#include "input_error.hpp"

namespace replay {

namespace {

constexpr int end_of_input = std::char_traits<char>::eof();

} // namespace

bool CsvRows::next(std::vector<std::string>& fields) {
    for (;;) {
        fields.clear();
        row_line_ = line_;
        End end;
        do {
            end = read_field(fields.emplace_back());
        } while (end == End::field);

        const bool blank = fields.size() == 1 && fields.front().empty();
        if (!blank) {
            return true;
        }
        if (end == End::input) {
            return false;
        }
    }
}

CsvRows::End CsvRows::read_field(std::string& field) {
    if (source_->sgetc() == '"') {
        source_->sbumpc();
        return read_quoted(field);
    }
    for (;;) {
        const int c = source_->sbumpc();
        if (c == end_of_input || c == ',' || c == '\n' || (c == '\r' && source_->sgetc() == '\n')) {
            return end_of_field(c);
        }
        if (c == '"') {
            throw BrokenLine{line_, "a quote in an unquoted field; quote the whole field"};
        }
        field.push_back(static_cast<char>(c));
    }
}

CsvRows::End CsvRows::read_quoted(std::string& field) {
    for (;;) {
        int c = source_->sbumpc();
        if (c == end_of_input) {
            throw BrokenLine{row_line_, "a quoted field has no end"};
        }
        if (c == '"') {
            c = source_->sbumpc();
            if (c != '"') {
                return end_of_field(c);
            }
        } else if (c == '\n') {
            ++line_;
        }
        field.push_back(static_cast<char>(c));
    }
}

CsvRows::End CsvRows::end_of_field(int c) {
    if (c == '\r') {
        c = source_->sbumpc();
    }
    switch (c) {
    case end_of_input: return End::input;
    case ',': return End::field;
    case '\n': ++line_; return End::row;
    default: throw BrokenLine{line_, "text after the closing quote of a field"};
    }
}

} // namespace replay
