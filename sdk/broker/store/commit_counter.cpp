// SPDX-License-Identifier: MIT
#include "broker/store/commit_counter.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>

#include "broker/store/row_checksum.hpp"

namespace sessionq::broker {
namespace {

constexpr std::size_t entries = 2;
constexpr std::size_t entry_size = std::tuple_size_v<CounterEntry>;
constexpr std::size_t former_entry_size = 24;

/// Linux draws a new id at each start.
std::int64_t read_boot() {
    std::string id;
    std::ifstream{"/proc/sys/kernel/random/boot_id"} >> id;
    return id.empty() ? 0 : static_cast<std::int64_t>(hash64(id, 0));
}

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
    RowHash hash{"counted commits"};
    for (const std::int64_t number : {count.store, count.commits, count.run, count.boot}) {
        hash.add(number);
    }
    return hash.value();
}

/// An entry of version 3.
std::optional<CommitCount> decode_former(std::string_view entry) noexcept {
    if (entry.size() != former_entry_size) {
        return std::nullopt;
    }
    const CommitCount count{.store = static_cast<std::int64_t>(number_at(entry, 0)),
                            .commits = static_cast<std::int64_t>(number_at(entry, 8))};
    RowHash hash{"commits"};
    hash.add(count.store);
    hash.add(count.commits);
    return number_at(entry, 16) == hash.value() ? std::optional{count} : std::nullopt;
}

/// Returns false if an entry is not sound.
template <typename Decode>
bool read_entries(std::string_view bytes, std::size_t size, Decode decode_entry,
                  std::vector<CommitCount>& counts) {
    bool all_sound = bytes.size() == entries * size;
    for (std::size_t i = 0; i < entries; ++i) {
        const auto count = decode_entry(bytes.substr(std::min(i * size, bytes.size()), size));
        all_sound = all_sound && count;
        if (count) {
            counts.push_back(*count);
        }
    }
    return all_sound;
}

/// Reads the bytes that a counter may have, and one more, so that a longer file is noticed.
std::string read_bytes(const std::filesystem::path& file) {
    std::string bytes(entries * entry_size + 1, '\0');
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
    put_number(entry, 16, static_cast<std::uint64_t>(count.run));
    put_number(entry, 24, static_cast<std::uint64_t>(count.boot));
    put_number(entry, 32, checksum_of_count(count));
    return entry;
}

std::optional<CommitCount> decode(std::string_view entry) noexcept {
    if (entry.size() != entry_size) {
        return std::nullopt;
    }
    const CommitCount count{.store = static_cast<std::int64_t>(number_at(entry, 0)),
                            .commits = static_cast<std::int64_t>(number_at(entry, 8)),
                            .run = static_cast<std::int64_t>(number_at(entry, 16)),
                            .boot = static_cast<std::int64_t>(number_at(entry, 24))};
    return number_at(entry, 32) == checksum_of_count(count) ? std::optional{count} : std::nullopt;
}

CommitCount count_of(const Ledger& ledger) noexcept {
    static const std::int64_t boot = read_boot();
    return {.store = ledger.store, .commits = ledger.commits, .run = ledger.run, .boot = boot};
}

std::optional<std::string> find_lost_commits(const Ledger& ledger,
                                             const CommitCounter::Contents& counted,
                                             std::int64_t boot) {
    const std::string advice =
        "; if the database or that file was replaced on purpose, remove that file";
    std::int64_t most = 0;
    const CommitCount* of_run = nullptr; // the higher one
    for (const CommitCount& count : counted.counts) {
        if (count.store != ledger.store) {
            return "it is not the store that the file 'commits' beside it belongs to" + advice;
        }
        most = std::max(most, count.commits);
        if (count.run == ledger.run && (of_run == nullptr || of_run->commits < count.commits)) {
            of_run = &count;
        }
    }
    if (ledger.commits < most) {
        return std::to_string(most - ledger.commits) + " of " + std::to_string(most) +
               " confirmed commits are lost: its log is cut or damaged";
    }
    if (ledger.run == 0 || counted.counts.empty()) { // the last run was not counted
        return std::nullopt;
    }
    const bool is_older =
        of_run == nullptr || (of_run->boot == boot && boot != 0 && !counted.is_damaged &&
                              of_run->commits + 1 < ledger.commits);
    return is_older ? std::optional{"the file 'commits' beside it is older than the database, so "
                                    "confirmed commits may be lost" +
                                    advice}
                    : std::nullopt;
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
    contents.is_damaged = !read_entries(bytes, entry_size, decode, contents.counts);
    if (contents.counts.empty()) {
        contents.is_damaged =
            !read_entries(bytes, former_entry_size, decode_former, contents.counts);
    }
    return contents;
}

// Both at once, so that a process that is killed leaves the former entries or these.
bool CommitCounter::begin(CommitCount one, CommitCount other) noexcept {
    if (descriptor_ < 0) {
        descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    const std::array<CounterEntry, entries> both{encode(one), encode(other)};
    return descriptor_ >= 0 && ::fchmod(descriptor_, 0600) == 0 &&
           ::pwrite(descriptor_, both.data(), sizeof both, 0) == ssize_t{sizeof both} &&
           ::ftruncate(descriptor_, off_t{sizeof both}) == 0 && ::fsync(descriptor_) == 0;
}

bool CommitCounter::write(CommitCount count) noexcept {
    const CounterEntry entry = encode(count);
    const std::size_t number = static_cast<std::uint64_t>(count.commits) % entries;
    return descriptor_ >= 0 && ::pwrite(descriptor_, entry.data(), entry.size(),
                                        static_cast<off_t>(number * entry.size())) ==
                                   static_cast<ssize_t>(entry.size());
}

} // namespace sessionq::broker
