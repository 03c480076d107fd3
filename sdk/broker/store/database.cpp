// SPDX-License-Identifier: MIT
#include "broker/store/database.hpp"

#include <sqlite3.h>

#include <utility>

namespace sessionq::broker {
namespace {

constexpr int wait_for_lock_ms = 1000; // a process that was just killed may still hold the lock

DatabaseError error_of(sqlite3* handle, int code) {
    const int primary = code & 0xff;
    const auto kind = primary == SQLITE_BUSY || primary == SQLITE_LOCKED
                          ? DatabaseError::Kind::locked
                      : primary == SQLITE_NOTADB  ? DatabaseError::Kind::no_database
                      : primary == SQLITE_CORRUPT ? DatabaseError::Kind::damaged
                      : primary == SQLITE_FULL    ? DatabaseError::Kind::full
                                                  : DatabaseError::Kind::other;
    return {kind, handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code)};
}

} // namespace

Database::Database(const std::string& file) {
    const int code = sqlite3_open_v2(file.c_str(), &handle_,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                                         SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                                     nullptr);
    if (code != SQLITE_OK) {
        const DatabaseError error = error_of(handle_, code);
        sqlite3_close_v2(handle_);
        throw error;
    }
    sqlite3_busy_timeout(handle_, wait_for_lock_ms);
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::run(const std::string& statements) {
    const int code = sqlite3_exec(handle_, statements.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) {
        throw error_of(handle_, code);
    }
}

std::int64_t Database::number(const std::string& query) {
    Statement statement{*this, query};
    return statement.step() ? statement.number(0) : 0;
}

bool Database::is_in_transaction() const noexcept { return sqlite3_get_autocommit(handle_) == 0; }

std::int64_t Database::changes() const noexcept { return sqlite3_changes64(handle_); }

void Database::define(const std::string& name,
                      std::function<void(std::int64_t, std::int64_t)> use) {
    using Use = std::function<void(std::int64_t, std::int64_t)>;
    const auto call = [](sqlite3_context* context, int, sqlite3_value** arguments) {
        (*static_cast<Use*>(sqlite3_user_data(context)))(sqlite3_value_int64(arguments[0]),
                                                         sqlite3_value_int64(arguments[1]));
        sqlite3_result_int(context, 1);
    };
    const auto destroy = [](void* owned) { delete static_cast<Use*>(owned); };
    const int code = sqlite3_create_function_v2(
        handle_, name.c_str(), 2, SQLITE_UTF8 | SQLITE_DIRECTONLY,
        std::make_unique<Use>(std::move(use)).release(), call, nullptr, nullptr, destroy);
    if (code != SQLITE_OK) { // it has destroyed the function
        throw error_of(handle_, code);
    }
}

void Database::keep_log_on_close(bool is_kept) {
    const int code = sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
                                       static_cast<int>(is_kept), nullptr);
    if (code != SQLITE_OK) {
        throw error_of(handle_, code);
    }
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
    sqlite3_finalize(statement);
}

Statement::Statement(Database& database, std::string_view text) : database_{database} {
    sqlite3_stmt* made = nullptr;
    const int code = sqlite3_prepare_v3(database.raw(), text.data(), static_cast<int>(text.size()),
                                        SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    handle_.reset(made);
    check(code);
}

Statement::~Statement() = default;

void Statement::check(int code) {
    if (code != SQLITE_OK) {
        bound_ = 0;
        throw error_of(database_.raw(), code);
    }
}

Statement& Statement::bind(std::int64_t value) {
    check(sqlite3_bind_int64(handle_.get(), ++bound_, value));
    return *this;
}

Statement& Statement::bind_text(std::string_view value) {
    check(sqlite3_bind_text64(handle_.get(), ++bound_, value.data() != nullptr ? value.data() : "",
                              value.size(), SQLITE_STATIC, SQLITE_UTF8));
    return *this;
}

Statement& Statement::bind_bytes(std::string_view value) {
    check(sqlite3_bind_blob64(handle_.get(), ++bound_, value.data() != nullptr ? value.data() : "",
                              value.size(), SQLITE_STATIC));
    return *this;
}

Statement& Statement::bind_nothing() {
    check(sqlite3_bind_null(handle_.get(), ++bound_));
    return *this;
}

bool Statement::step() {
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) {
        return true;
    }
    bound_ = 0;
    if (code == SQLITE_DONE) {
        sqlite3_reset(handle_.get());
        return false;
    }
    const DatabaseError error = error_of(database_.raw(), code);
    sqlite3_reset(handle_.get());
    throw error;
}

void Statement::reset() noexcept {
    bound_ = 0;
    sqlite3_reset(handle_.get());
}

std::int64_t Statement::number(int column) const {
    return sqlite3_column_int64(handle_.get(), column);
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

bool Statement::is_number(int column) const {
    return sqlite3_column_type(handle_.get(), column) == SQLITE_INTEGER;
}

std::string_view Statement::view(int column) const {
    const void* data = sqlite3_column_blob(handle_.get(), column);
    const int size = sqlite3_column_bytes(handle_.get(), column);
    return data != nullptr
               ? std::string_view{static_cast<const char*>(data), static_cast<std::size_t>(size)}
               : std::string_view{};
}

} // namespace sessionq::broker
