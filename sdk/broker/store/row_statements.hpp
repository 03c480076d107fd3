// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "broker/store/database.hpp"
#include "broker/store/rows.hpp"

namespace sessionq::broker {

/// The columns of a table as SQL lists.
struct ColumnLists {
    std::string all{};      ///< "a, b, c"
    std::string keys{};     ///< "a, b"
    std::string where{};    ///< "a = ? AND b = ?", of the keys
    std::string settings{}; ///< "c = ?, ", of the other columns
    std::string values{};   ///< "?, ?, ?"
};

template <typename Row>
[[nodiscard]] ColumnLists column_lists() {
    ColumnLists lists;
    int count = 0;
    const Row row{};
    Row::visit(row, [&](const char* name, const auto&) {
        const std::string comma = count > 0 ? ", " : "";
        lists.all += comma + name;
        lists.values += comma + "?";
        if (count++ < Row::keys) {
            lists.keys += comma + name;
            lists.where += std::string{count > 1 ? " AND " : ""} + name + " = ?";
        } else {
            lists.settings += std::string{name} + " = ?, ";
        }
    });
    return lists;
}

/// "SELECT columns, checksum FROM table", without the checksum in stores that have none.
template <typename Row>
[[nodiscard]] std::string select_rows(bool with_checksum = true) {
    return "SELECT " + column_lists<Row>().all + (with_checksum ? ", checksum" : "") + " FROM " +
           std::string{Row::table};
}

inline void bind_value(Statement& statement, std::int64_t value) { statement.bind(value); }
inline void bind_value(Statement& statement, std::string_view text) { statement.bind_text(text); }
inline void bind_value(Statement& statement, Blob blob) { statement.bind_bytes(blob.bytes); }
inline void bind_value(Statement& statement, const ContentCell& content) {
    if (content.shared != 0) {
        statement.bind(content.shared);
    } else {
        statement.bind_bytes(content.bytes);
    }
}
template <typename Value>
void bind_value(Statement& statement, const std::optional<Value>& value) {
    if (value) {
        bind_value(statement, *value);
    } else {
        statement.bind_nothing();
    }
}

enum class Columns : std::uint8_t { all, keys, others };

/// Binds columns of a row. Its texts and bytes must live until the statement has run.
template <typename Row>
Statement& bind_row(Statement& statement, const Row& row, Columns which = Columns::all) {
    int column = 0;
    Row::visit(row, [&](const char*, const auto& value) {
        const bool is_key = column++ < Row::keys;
        if (which == Columns::all || is_key == (which == Columns::keys)) {
            bind_value(statement, value);
        }
    });
    return statement;
}

inline void read_value(const Statement& rows, int column, std::int64_t& value) {
    value = rows.number(column);
}
inline void read_value(const Statement& rows, int column, std::string_view& text) {
    text = rows.view(column);
}
inline void read_value(const Statement& rows, int column, Blob& blob) {
    blob.bytes = rows.view(column);
}
inline void read_value(const Statement& rows, int column, ContentCell& content) {
    content.shared = rows.is_number(column) ? rows.number(column) : 0;
    if (content.shared == 0) {
        content.bytes = rows.view(column);
    }
}
template <typename Value>
void read_value(const Statement& rows, int column, std::optional<Value>& value) {
    value.reset();
    if (!rows.is_null(column)) {
        read_value(rows, column, value.emplace());
    }
}

/// A row that `select_rows` names the columns of.
template <typename Row>
struct StoredRow {
    Row row{}; ///< valid until the statement moves on
    std::uint64_t checksum{0};
};

template <typename Row>
[[nodiscard]] StoredRow<Row> read_row(const Statement& rows, bool with_checksum = true) {
    StoredRow<Row> stored;
    int column = 0;
    Row::visit(stored.row, [&](const char*, auto& value) { read_value(rows, column++, value); });
    if (with_checksum) {
        stored.checksum = static_cast<std::uint64_t>(rows.number(column));
    }
    return stored;
}

} // namespace sessionq::broker
