// SPDX-License-Identifier: MIT
#include "tools/sessionq/line_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "tools/command_line.hpp"

namespace sessionq::cli {
namespace {

constexpr std::size_t longest_line = std::size_t{256} << 20U;

} // namespace

LineReader::LineReader(const std::string& file)
    : name_{file == "-" ? "standard input" : "--file '" + file + "'"},
      descriptor_{file == "-" ? STDIN_FILENO : ::open(file.c_str(), O_RDONLY | O_CLOEXEC)} {
    if (descriptor_ < 0) {
        throw tools::UsageError{name_ + ": " + std::generic_category().message(errno)};
    }
}

LineReader::~LineReader() {
    if (descriptor_ != STDIN_FILENO) {
        ::close(descriptor_);
    }
}

std::optional<std::string> LineReader::next() {
    std::size_t searched = at_;
    while (true) {
        const std::size_t end = buffer_.find('\n', searched);
        if (end != std::string::npos) {
            std::string line = buffer_.substr(at_, end - at_);
            at_ = end + 1;
            return line;
        }
        searched = buffer_.size() - at_; // `read_more` removes the bytes before `at_`
        if (!read_more()) {
            break;
        }
    }
    if (at_ == buffer_.size()) {
        return std::nullopt;
    }
    return rest();
}

bool LineReader::has_line() const { return buffer_.find('\n', at_) != std::string::npos; }

std::string LineReader::rest() {
    while (read_more()) {
    }
    return buffer_.substr(std::exchange(at_, buffer_.size()));
}

bool LineReader::read_more() {
    buffer_.erase(0, std::exchange(at_, 0));
    if (buffer_.size() > longest_line) {
        throw tools::UsageError{name_ + ": a line is longer than 256 MiB"};
    }
    std::array<char, 65'536> piece;
    while (true) {
        const ssize_t size = ::read(descriptor_, piece.data(), piece.size());
        if (size >= 0) {
            buffer_.append(piece.data(), static_cast<std::size_t>(size));
            return size > 0;
        }
        if (errno != EINTR) {
            throw tools::UsageError{name_ + ": " + std::generic_category().message(errno)};
        }
    }
}

} // namespace sessionq::cli
