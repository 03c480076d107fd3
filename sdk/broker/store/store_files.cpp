// SPDX-License-Identifier: MIT
#include "broker/store/store_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/log.hpp"

namespace sessionq::broker {
namespace {

namespace fs = std::filesystem;

constexpr fs::perms access_of_others = fs::perms::group_all | fs::perms::others_all;
constexpr fs::perms reading_by_others =
    fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec;

std::string last_error() { return std::error_code{errno, std::generic_category()}.message(); }

std::optional<Failure> make_directory(const fs::path& directory) {
    std::error_code error;
    fs::create_directories(directory.parent_path(), error);
    if (::mkdir(directory.c_str(), 0700) != 0) {
        return fs::is_directory(directory, error)
                   ? std::nullopt
                   : std::optional{refuse_store(Errc::resource_exhausted, directory,
                                                "cannot be created: " + last_error())};
    }
    fs::permissions(directory, fs::perms::owner_all, error); // undoes the umask
    return std::nullopt;
}

void warn_of_readers(const fs::path& directory) {
    std::error_code error;
    if ((fs::status(directory, error).permissions() & reading_by_others) != fs::perms::none) {
        core::log(LogLevel::warning, "broker", "the directory '", directory.string(),
                  "' of the store can be read by other users: its files are private, their names "
                  "and sizes are not; use 'chmod 700' if it has no other purpose");
    }
}

bool is_of_store(const fs::path& directory, const fs::path& file) {
    return file.filename().string().starts_with(store_file(directory).filename().string()) ||
           file == reserve_file(directory) || file == counter_file(directory);
}

/// Nobody but these users may have put a file there: this one, root, and the directory's owner.
bool is_trusted(uid_t owner, const struct stat& directory) noexcept {
    return owner == ::geteuid() || owner == 0 || owner == directory.st_uid;
}

std::optional<Failure> find_foreign_hand(const fs::path& directory) {
    struct stat facts {};
    if (::stat(directory.c_str(), &facts) != 0) {
        return refuse_store(Errc::resource_exhausted, directory, "cannot be used: " + last_error());
    }
    if (facts.st_uid != ::geteuid() && facts.st_uid != 0 && ::geteuid() != 0) {
        return refuse_store(Errc::invalid_option, directory, "is a directory of another user");
    }
    if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return refuse_store(Errc::invalid_option, directory,
                            "is a directory that other users may write to; run 'chmod go-w' on it");
    }
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{directory, error}) {
        if (!is_of_store(directory, entry.path())) {
            continue;
        }
        struct stat file {};
        if (::lstat(entry.path().c_str(), &file) != 0) {
            return refuse_store(Errc::resource_exhausted, entry.path(),
                                "cannot be used: " + last_error());
        }
        if (!S_ISREG(file.st_mode) || file.st_nlink != 1) {
            return refuse_store(Errc::invalid_option, entry.path(),
                                "is a link, or no regular file; remove it");
        }
        if (!is_trusted(file.st_uid, facts)) {
            return refuse_store(Errc::invalid_option, entry.path(), "is a file of another user");
        }
    }
    return std::nullopt;
}

/// All files of a store, also those that were set aside.
void tighten_files(const fs::path& directory) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{directory, error}) {
        if (is_of_store(directory, entry.path()) &&
            entry.symlink_status(error).type() == fs::file_type::regular &&
            (entry.status(error).permissions() & access_of_others) != fs::perms::none) {
            fs::permissions(entry.path(), access_of_others, fs::perm_options::remove, error);
            if (error) {
                core::log(
                    LogLevel::warning, "broker", "'", entry.path().string(),
                    "' can be read by other users, and that cannot be changed: ", error.message());
            }
        }
    }
}

void flush_directory(const fs::path& directory) noexcept {
    const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        ::fsync(descriptor);
        ::close(descriptor);
    }
}

} // namespace

fs::path store_file(const fs::path& directory) { return directory / "sessionq.db"; }

fs::path log_of(const fs::path& database) { return database.string() + "-wal"; }

fs::path reserve_file(const fs::path& directory) { return directory / "reserve"; }

fs::path counter_file(const fs::path& directory) { return directory / "commits"; }

fs::path salvage_file(const fs::path& directory) { return store_file(directory).string() + ".new"; }

bool is_store_missing(const fs::path& directory) {
    std::error_code error;
    const bool exists = fs::exists(store_file(directory), error);
    if (exists && fs::file_size(store_file(directory), error) != 0) {
        return false;
    }
    return fs::exists(counter_file(directory), error) ||
           (exists && fs::exists(reserve_file(directory), error));
}

std::optional<Failure> prepare_directory(const fs::path& directory) {
    std::error_code error;
    const bool existed = fs::exists(directory, error);
    if (auto fault = make_directory(directory)) {
        return fault;
    }
    if (existed) {
        if (auto fault = find_foreign_hand(directory)) {
            return fault;
        }
        warn_of_readers(directory);
    }
    tighten_files(directory);
    return std::nullopt;
}

std::optional<Failure> make_private_file(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        return errno == EEXIST ? std::nullopt
                               : std::optional{refuse_store(Errc::resource_exhausted, file,
                                                            "cannot be created: " + last_error())};
    }
    ::fchmod(descriptor, 0600); // the umask may have taken the owner's own access
    ::close(descriptor);
    return std::nullopt;
}

core::Result<fs::path> set_store_aside(const fs::path& directory, const fs::path& replacement) {
    const fs::path database = store_file(directory);
    fs::path aside;
    std::error_code error;
    int number = 0;
    do {
        aside = database.string() + ".damaged-" + std::to_string(++number);
    } while (fs::exists(aside, error) || fs::exists(log_of(aside), error));
    // The log goes first: a log beside another database would be applied to it.
    for (const auto& [from, to] : {std::pair{log_of(database), log_of(aside)},
                                   std::pair{database, aside}, std::pair{replacement, database}}) {
        if (fs::exists(from, error)) {
            fs::rename(from, to, error);
        }
        if (error) {
            return refuse_store(Errc::resource_exhausted, from,
                                "cannot be renamed to '" + to.string() + "': " + error.message());
        }
    }
    flush_directory(directory);
    return aside;
}

Failure refuse_store(Errc code, const fs::path& what, const std::string& why) {
    return {.code = code, .detail = "the store '" + what.string() + "' " + why};
}

} // namespace sessionq::broker
