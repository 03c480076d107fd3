// SPDX-License-Identifier: MIT
#include "broker/store/commit_counter.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "broker/store/row_checksum.hpp"

namespace sessionq::broker {
namespace {

constexpr std::size_t entries = 2;

void put_number(CounterEntry& entry, std::size_t at, std::uint64_t value) noexcept {
    for (std::size_t i = 0; i < 8; ++i) {
        entry[at + i] = static_cast<char>(value >> (8 * i));
    }
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    }
    return value;
}

std::uint64_t checksum_of_count(CommitCount count) noexcept {
    RowHash hash{"commits"};
    hash.add(count.store);
    hash.add(count.commits);
    return hash.value();
}

bool write_entry(int descriptor, std::size_t number, CommitCount count) noexcept {
    const CounterEntry entry = encode(count);
    const ssize_t written =
        ::pwrite(descriptor, entry.data(), entry.size(), static_cast<off_t>(number * entry.size()));
    return written == static_cast<ssize_t>(entry.size());
}

/// Reads what a counter may have, and a byte more, so that a longer file is noticed.
std::string read_bytes(const std::filesystem::path& file) {
    std::string bytes(entries * std::tuple_size_v<CounterEntry> + 1, '\0');
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const ssize_t size =
        descriptor >= 0 ? ::pread(descriptor, bytes.data(), bytes.size(), 0) : ssize_t{-1};
    if (descriptor >= 0) {
        ::close(descriptor);
    }
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return bytes;
}

} // namespace

CounterEntry encode(CommitCount count) noexcept {
    CounterEntry entry{};
    put_number(entry, 0, static_cast<std::uint64_t>(count.store));
    put_number(entry, 8, static_cast<std::uint64_t>(count.commits));
    put_number(entry, 16, checksum_of_count(count));
    return entry;
}

std::optional<CommitCount> decode(std::string_view entry) noexcept {
    if (entry.size() != std::tuple_size_v<CounterEntry>) {
        return std::nullopt;
    }
    const CommitCount count{.store = static_cast<std::int64_t>(number_at(entry, 0)),
                            .commits = static_cast<std::int64_t>(number_at(entry, 8))};
    return number_at(entry, 16) == checksum_of_count(count) ? std::optional{count} : std::nullopt;
}

CommitCounter::~CommitCounter() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

CommitCounter::Contents CommitCounter::read() const {
    Contents contents;
    std::error_code error;
    contents.exists = std::filesystem::exists(file_, error);
    if (!contents.exists) {
        return contents;
    }
    const std::string bytes = read_bytes(file_);
    constexpr std::size_t size = std::tuple_size_v<CounterEntry>;
    contents.is_damaged = bytes.size() != entries * size;
    for (std::size_t i = 0; i < entries; ++i) {
        const std::size_t at = std::min(i * size, bytes.size());
        const auto count = decode(std::string_view{bytes}.substr(at, size));
        contents.is_damaged = contents.is_damaged || !count;
        if (count && (!contents.count || contents.count->commits < count->commits)) {
            contents.count = count;
        }
    }
    return contents;
}

bool CommitCounter::begin(CommitCount count) noexcept {
    if (descriptor_ < 0) {
        descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    constexpr auto size = static_cast<off_t>(entries * std::tuple_size_v<CounterEntry>);
    return descriptor_ >= 0 && ::fchmod(descriptor_, 0600) == 0 &&
           ::ftruncate(descriptor_, size) == 0 && write_entry(descriptor_, 0, count) &&
           write_entry(descriptor_, 1, count) && ::fsync(descriptor_) == 0;
}

bool CommitCounter::write(CommitCount count) noexcept {
    return descriptor_ >= 0 &&
           write_entry(descriptor_, static_cast<std::uint64_t>(count.commits) % entries, count);
}

} // namespace sessionq::broker
