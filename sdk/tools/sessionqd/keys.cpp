// SPDX-License-Identifier: MIT
#include "tools/sessionqd/keys.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "server/address.hpp"
#include "tools/sessionqd/options.hpp"

namespace sessionq::sessionqd {
namespace {

/// A file that is opened once. The check and the read use the same file, even if another program
/// replaces the name in between.
class OpenFile {
public:
    explicit OpenFile(const std::string& name) noexcept
        : descriptor_{::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)} {}
    ~OpenFile() {
        if (is_open()) {
            ::close(descriptor_);
        }
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] std::string read(const std::string& where) const {
        std::string text;
        std::array<char, 4096> part{};
        for (;;) {
            const ssize_t size = ::read(descriptor_, part.data(), part.size());
            if (size < 0) {
                throw UsageError{where + ": cannot be read: " + std::strerror(errno)};
            }
            if (size == 0) {
                return text;
            }
            text.append(part.data(), static_cast<std::size_t>(size));
        }
    }

private:
    const int descriptor_;
};

server::Rights right_of(const std::string& where, std::string_view word) {
    if (word == "listen") {
        return server::Rights::listen();
    }
    if (word == "send") {
        return server::Rights::send();
    }
    if (word == "manage") {
        return server::Rights::all();
    }
    // the word may be a part of the value
    throw UsageError{where + ": the text behind ':' is not a right; expected listen, send or "
                             "manage. A value cannot contain ':' or '@'"};
}

} // namespace

void add_key(server::AccessKeys& keys, const std::string& where, std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::size_t end = text.find_first_of(":@", equals == std::string_view::npos ? 0 : equals);
    if (equals == 0 || equals == std::string_view::npos ||
        equals + 1 >= std::min(end, text.size())) {
        throw UsageError{where + ": not NAME=VALUE[:RIGHT]...[@ENTITY]"};
    }
    const std::string name{text.substr(0, equals)};
    server::AccessKey key{std::string{text.substr(equals + 1, end - equals - 1)}};
    std::string_view rest = end == std::string_view::npos ? std::string_view{} : text.substr(end);
    const std::size_t at = rest.find('@');
    if (at != std::string_view::npos) {
        key.entity = server::lower_case(server::path_of(rest.substr(at + 1)));
        if (key.entity.empty() || key.entity.find(':') != std::string::npos) {
            throw UsageError{where + ": '" + name +
                             "' names no entity behind '@'; rights come before it"};
        }
        rest = rest.substr(0, at);
    }
    if (!rest.empty()) {
        key.rights = server::Rights::none();
    }
    while (!rest.empty()) {
        rest.remove_prefix(1); // the colon
        const std::string_view word = rest.substr(0, rest.find(':'));
        key.rights = key.rights | right_of(where + ": '" + name + "'", word);
        rest.remove_prefix(word.size());
    }
    if (!keys.emplace(name, std::move(key)).second) {
        throw UsageError{where + ": the key '" + name + "' was given before"};
    }
}

void add_keys(server::AccessKeys& keys, const std::string& where, std::string_view text) {
    std::istringstream lines{std::string{text}};
    int number = 0;
    const std::size_t before = keys.size();
    for (std::string line; std::getline(lines, line);) {
        ++number;
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (!line.empty() && line.front() != '#') {
            add_key(keys, where + " line " + std::to_string(number), line);
        }
    }
    if (keys.size() == before) { // else the well-known key would be used instead
        throw UsageError{where + ": has no key"};
    }
}

void add_key_file(server::AccessKeys& keys, const std::string& name) {
    const std::string where = "--key-file '" + name + "'";
    const OpenFile file{name};
    struct stat facts {};
    if (!file.is_open() || ::fstat(file.descriptor(), &facts) != 0) {
        throw UsageError{where + ": cannot be opened: " + std::strerror(errno)};
    }
    if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        throw UsageError{where + ": others than its owner may use the file; run chmod 600 on it"};
    }
    if (facts.st_uid != ::geteuid() && facts.st_uid != 0) {
        throw UsageError{where + ": the file belongs to another user"};
    }
    add_keys(keys, where, file.read(where));
}

bool has_well_known_key(const server::AccessKeys& keys) {
    return std::ranges::any_of(keys,
                               [](const auto& key) { return key.second.value == well_known_key; });
}

} // namespace sessionq::sessionqd
