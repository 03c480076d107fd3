// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace sessionq::broker {

/// An error of SQLite. Thrown by every function here.
class DatabaseError : public std::runtime_error {
public:
    enum class Kind : std::uint8_t { other, locked, no_database, damaged, full };

    DatabaseError(Kind kind, const std::string& what) : std::runtime_error{what}, kind_{kind} {}
    [[nodiscard]] Kind kind() const noexcept { return kind_; }

private:
    Kind kind_;
};

/// An SQLite file. For one thread at a time.
class Database {
public:
    /// Creates the file if it does not exist.
    explicit Database(const std::string& file);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void run(const std::string& statements);
    [[nodiscard]] std::int64_t number(const std::string& query);
    /// Whether a transaction is open.
    [[nodiscard]] bool is_in_transaction() const noexcept;
    /// How many rows the last statement wrote.
    [[nodiscard]] std::int64_t changes() const noexcept;
    /// Defines an SQL function of two numbers. It calls `use` and is true. Replaces an earlier one.
    void define(const std::string& name, std::function<void(std::int64_t, std::int64_t)> use);
    /// Whether closing leaves the write-ahead log as it is. Otherwise it is written into the file
    /// and removed.
    void keep_log_on_close(bool is_kept);

    [[nodiscard]] sqlite3* raw() const noexcept { return handle_; }

private:
    sqlite3* handle_{nullptr};
};

/// A prepared statement, bound parameter by parameter and run any number of times:
///
///     Statement{...}.bind(1).bind("x").run();
class Statement {
public:
    Statement(Database& database, std::string_view text);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& bind(std::int64_t value);
    Statement& bind(std::optional<std::int64_t> value) {
        return value ? bind(*value) : bind_nothing();
    }
    /// `value` must live until the statement has run.
    Statement& bind_text(std::string_view value);
    Statement& bind_bytes(std::string_view value);
    Statement& bind_nothing();

    /// Moves to the next row. Returns false if there is none; the statement can then be bound
    /// again.
    bool step();
    void run() {
        while (step()) {
        }
    }

    /// Ends the run before the last row.
    void reset() noexcept;

    [[nodiscard]] std::int64_t number(int column) const;
    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] bool is_number(int column) const;
    /// Valid until the statement moves on.
    [[nodiscard]] std::string_view view(int column) const;
    [[nodiscard]] std::string bytes(int column) const { return std::string{view(column)}; }

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept;
    };

    void check(int code);

    Database& database_;
    std::unique_ptr<sqlite3_stmt, Finalize> handle_;
    int bound_{0};
};

} // namespace sessionq::broker
