// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <sessionq/logging.hpp>

#include "broker/store/open_store.hpp"
#include "broker/store/store_files.hpp"
#include "broker/store/store_journal.hpp"
#include "server/stored_content.hpp"
#include "support/temporary_directory.hpp"

using namespace sessionq;
using namespace sessionq::broker;
using namespace sessionq::test;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t log_header = 32;
constexpr std::size_t frame_header = 24;
const WallTime wall{std::chrono::hours{24 * 365 * 50}};

using Files = std::map<std::string, std::string>; ///< contents by name

const server::StoredContent& codec() {
    static const server::StoredContent codec{amqp::ClockReading{.wall = wall}};
    return codec;
}

Files read_files(const fs::path& directory) {
    Files files;
    for (const auto& entry : fs::directory_iterator{directory}) {
        if (entry.path() != reserve_file(directory)) {
            std::ostringstream text;
            text << std::ifstream{entry.path(), std::ios::binary}.rdbuf();
            files[entry.path().filename().string()] = text.str();
        }
    }
    return files;
}

void write_files(const fs::path& directory, const Files& files) {
    fs::remove_all(directory);
    fs::create_directory(directory);
    fs::permissions(directory, fs::perms::owner_all);
    for (const auto& [name, bytes] : files) {
        std::ofstream{directory / name, std::ios::binary} << bytes;
    }
}

/// Everything that a store says, a line each.
std::vector<std::string> lines_of(const std::vector<DurableQueue>& queues) {
    std::vector<std::string> lines;
    const auto add = [&](const auto&... parts) {
        std::ostringstream line;
        ((line << parts << '|'), ...);
        lines.push_back(line.str());
    };
    for (const DurableQueue& queue : queues) {
        add("queue", queue.name, queue.queue.id, queue.dead_letters.id,
            queue.options.requires_session, queue.options.max_delivery_count, queue.rules.size());
        for (const DurableEntity* entity : {&queue.queue, &queue.dead_letters}) {
            add("last", entity->id, entity->last_sequence);
            for (const DurableMessage& message : entity->messages) {
                add("message", entity->id, message.sequence, message.content->body(),
                    static_cast<int>(message.place), message.delivery_count,
                    message.enqueued_time.time_since_epoch().count(),
                    message.time_to_live ? message.time_to_live->count() : -1,
                    message.dead_letter ? message.dead_letter->reason : "-",
                    message.forwarded_to.size());
            }
            for (const SessionStateSet& state : entity->states) {
                add("state", entity->id, state.session_id, *state.state);
            }
            for (const MessageIdTaken& taken : entity->taken_ids) {
                add("id", entity->id, taken.message_id, taken.sequence);
            }
        }
    }
    return lines;
}

/// Whether a line is about something that a client was told is stored. The last sequence number is
/// made up if it is lost.
bool is_content(const std::string& line) { return !line.starts_with("last|"); }

/// A store with a history: what it says at the end and at all times, and its files, with and
/// without a log.
struct History {
    std::vector<std::string> now{};
    std::set<std::string> ever{};
    Files checkpointed{};
    Files with_log{};
    Files early{}; ///< of the same store, half-way
};

class HistoryMaker {
public:
    History make() {
        fs::create_directory(path_);
        change({QueueCreated{.queue = 1, .dead_letters = 2, .name = "orders"},
                QueueCreated{.queue = 3,
                             .dead_letters = 4,
                             .name = "events",
                             .options = {.requires_session = false, .max_delivery_count = 3}}});
        for (std::int64_t i = 1; i <= 40; ++i) {
            send(i);
        }
        reopen();
        history_.early = read_files(path_);
        for (std::int64_t i = 41; i <= 60; ++i) {
            send(i);
        }
        reopen();
        for (std::int64_t i = 61; i <= 80; ++i) {
            send(i);
        }
        history_.with_log = read_files(path_); // every commit was answered: a crash leaves this
        reopen();
        history_.now = look();
        history_.checkpointed = read_files(path_);
        return std::move(history_);
    }

private:
    void send(std::int64_t i) {
        const EntityId entity = i % 3 == 0 ? 3 : 1;
        const std::string body =
            std::to_string(i) + " " +
            std::string(i % 10 == 0 ? 9000 : 150, static_cast<char>('a' + i % 26));
        DurableMessage message{
            .entity = entity,
            .sequence = i,
            .content = std::make_shared<DecodedContent>(Message::of(body).in_session("s")),
            .enqueued_time = wall + std::chrono::seconds{i}};
        change({MessageAdded{message},
                SessionStateSet{.entity = 1,
                                .session_id = "s" + std::to_string(i % 7),
                                .state = "state " + std::to_string(i)},
                MessageIdTaken{.entity = entity,
                               .message_id = "id " + std::to_string(i),
                               .sequence = i,
                               .at = wall,
                               .until = wall + std::chrono::seconds{1000 - i}}});
        if (i % 4 == 0) {
            change(
                {MessageRemoved{.entity = i % 12 == 0 ? EntityId{3} : EntityId{1}, .sequence = i}});
        } else if (i % 5 == 0) {
            message.content = nullptr;
            message.delivery_count = 2;
            message.place = MessageState::deferred;
            change({MessageChanged{message},
                    MessageForwarded{.entity = entity, .sequence = i, .to = 9}});
        } else if (i % 7 == 0) {
            message.entity = 2;
            message.dead_letter = std::make_shared<const DeadLetterInfo>(
                DeadLetterInfo{.reason = "why", .description = "so"});
            change({MessageAdded{message}});
        }
        if (i % 6 == 0) {
            share(i);
        }
    }

    /// A long content goes to two entities; the one before leaves one of them.
    void share(std::int64_t i) {
        DurableMessage message{
            .entity = 2,
            .sequence = 1000 + i,
            .content = std::make_shared<DecodedContent>(
                Message::of("shared " + std::to_string(i) + std::string(3000, 's'))
                    .in_session("s")),
            .enqueued_time = wall + std::chrono::seconds{i}};
        DurableMessage other = message;
        other.entity = 4;
        change({MessageAdded{message}, MessageAdded{other}});
        change({MessageRemoved{.entity = 2, .sequence = 994 + i}});
        if (i % 12 == 0) {
            change({MessageRemoved{.entity = 4, .sequence = 994 + i}});
        }
    }

    void change(std::vector<Change> changes) {
        std::promise<bool> said;
        opened_.journal->append(std::move(changes));
        opened_.journal->when_durable(
            [&](Journal::Mark, const Failure* why) { said.set_value(why == nullptr); });
        REQUIRE(said.get_future().get());
        look();
    }

    void reopen() {
        opened_ = {};
        opened_ = open();
    }
    StoreJournal::Opened open() const {
        return StoreJournal::open(path_, std::shared_ptr<const ContentCodec>{&codec(), [](auto) {}},
                                  wall, core::system_clock())
            .value();
    }

    /// Reads a copy, as it is now.
    std::vector<std::string> look() {
        const auto copy = TemporaryDirectory::in_memory();
        write_files(copy.path() / "data", read_files(path_));
        const auto lines = lines_of(
            open_store(copy.path() / "data", codec(), wall, OnDamage::refuse).value().queues);
        std::ranges::copy_if(lines, std::inserter(history_.ever, history_.ever.end()), is_content);
        return lines;
    }

    TemporaryDirectory directory_{TemporaryDirectory::in_memory()};
    fs::path path_{directory_.path() / "data"};
    StoreJournal::Opened opened_{open()};
    History history_;
};

const History& history() {
    static const History history = HistoryMaker{}.make();
    return history;
}

/// Damages a store in a way that a seed says.
class Damager {
public:
    explicit Damager(std::uint64_t seed) : random_{seed} {}

    struct Damaged {
        Files files{};
        std::string how{};
    };

    Damaged run() {
        const bool has_log = below(2) == 0;
        Damaged damaged{.files = has_log ? history().with_log : history().checkpointed};
        const std::size_t times = below(4) == 0 ? 2 + below(3) : 1;
        for (std::size_t i = 0; i < times; ++i) {
            is_log_ = has_log && below(2) == 0;
            const std::string name = is_log_ ? "sessionq.db-wal" : "sessionq.db";
            damaged.how += (i > 0 ? ", " : "") + name + ": " + damage(damaged.files[name]);
        }
        return damaged;
    }

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }

    std::string damage(std::string& bytes) {
        if (bytes.empty()) {
            return "empty";
        }
        switch (below(9)) {
        case 0:
        case 1: return flip(bytes, 1);
        case 2: return flip(bytes, 80);
        case 3: bytes.resize(below(bytes.size())); return "cut to " + std::to_string(bytes.size());
        case 4: bytes.resize(bytes.size() / page * page / 2); return "cut in half";
        case 5: return exchange(bytes);
        case 6: return overwrite(bytes, [](char) { return '\0'; });
        case 7: return overwrite(bytes, [this](char) { return static_cast<char>(random_()); });
        default: return is_log_ ? overwrite_with_other(bytes) : return_to_early(bytes);
        }
    }

    std::string flip(std::string& bytes, std::size_t bits) {
        std::size_t at = 0;
        for (std::size_t i = 0; i < bits; ++i) {
            at = below(bytes.size());
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        }
        return std::to_string(bits) + " bits, the last at " + std::to_string(at);
    }

    /// The begin of a random page, in the database or in the log.
    std::size_t pick(const std::string& bytes) {
        const std::size_t begin = is_log_ ? log_header + frame_header : 0;
        const std::size_t step = is_log_ ? page + frame_header : page;
        const std::size_t count =
            bytes.size() < begin + page ? 0 : (bytes.size() - begin - page) / step + 1;
        return count == 0 ? bytes.size() : begin + below(count) * step;
    }

    std::string exchange(std::string& bytes) {
        const std::size_t a = pick(bytes);
        const std::size_t b = pick(bytes);
        if (std::max(a, b) + page <= bytes.size()) {
            std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(a),
                             bytes.begin() + static_cast<std::ptrdiff_t>(a + page),
                             bytes.begin() + static_cast<std::ptrdiff_t>(b));
        }
        return "exchanged pages at " + std::to_string(a) + " and " + std::to_string(b);
    }

    std::string overwrite(std::string& bytes, const std::function<char(char)>& with) {
        const std::size_t at = pick(bytes);
        const std::size_t end = std::min(at + page, bytes.size());
        for (std::size_t i = at; i < end; ++i) {
            bytes[i] = with(bytes[i]);
        }
        return "overwritten page at " + std::to_string(at);
    }

    std::string overwrite_with_other(std::string& bytes) {
        const std::string other = bytes.substr(pick(bytes), page);
        const std::size_t at = pick(bytes);
        bytes.replace(at, other.size(), other);
        return "page at " + std::to_string(at) + " has the contents of another one";
    }

    std::string return_to_early(std::string& bytes) {
        const std::string& early = history().early.at("sessionq.db");
        const std::size_t at = below(early.size() / page) * page;
        if (at + page <= bytes.size()) {
            bytes.replace(at, page, early, at, page);
        }
        return "an early version of the page at " + std::to_string(at);
    }

    std::mt19937_64 random_;
    bool is_log_{false};
};

/// Counts log lines while it lives, instead of printing them.
class LogCounter {
public:
    LogCounter() {
        set_log_sink([this](const LogRecord& record) {
            errors_ += record.level == LogLevel::error ? 1 : 0;
            text_ += std::string{record.text} + "\n";
        });
    }
    ~LogCounter() { set_log_sink({}); }
    LogCounter(const LogCounter&) = delete;
    LogCounter& operator=(const LogCounter&) = delete;

    [[nodiscard]] int errors() const noexcept { return errors_; }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    int errors_{0};
    std::string text_;
};

struct Tally {
    int exact{0};
    int refused{0};
    int set_aside{0};
    int unusable{0};
    std::size_t lines_missing{0};
};

bool is_clear(const Failure& failure) {
    return (failure.code == Errc::protocol_error || failure.code == Errc::invalid_argument) &&
           failure.detail.find("sessionq.db") != std::string::npos;
}

/// Returns what is wrong about how the product takes the damage.
std::string judge(const Files& damaged, Tally& tally) {
    const auto temporary = TemporaryDirectory::in_memory();
    const fs::path directory = temporary.path() / "data";
    write_files(directory, damaged);
    bool is_exact = false;
    {
        const auto refused = open_store(directory, codec(), wall, OnDamage::refuse);
        if (refused) {
            is_exact = lines_of(refused.value().queues) == history().now;
            if (!is_exact) {
                return "served something else without a word";
            }
            ++tally.exact;
        } else if (!is_clear(refused.failure())) {
            return "unclear refusal: " + refused.failure().detail;
        } else if (read_files(directory) != damaged) {
            return "changed by a refusal";
        } else {
            ++tally.refused;
        }
    }
    write_files(directory, damaged);
    const LogCounter log;
    const auto opened = open_store(directory, codec(), wall, OnDamage::set_aside);
    if (!opened) {
        ++tally.unusable;
        return is_clear(opened.failure()) && !is_exact
                   ? ""
                   : "not set aside: " + opened.failure().detail;
    }
    const auto lines = lines_of(opened.value().queues);
    for (const std::string& line : lines) {
        if (is_content(line) && !history().ever.contains(line)) {
            return "serves what was never stored: " + line.substr(0, 200);
        }
    }
    if (lines == history().now) {
        return is_exact == (log.errors() == 0)
                   ? ""
                   : "a sound store was set aside, or a damaged one was not: " + log.text();
    }
    if (is_exact) {
        return "loses a part of a sound store";
    }
    ++tally.set_aside;
    const std::set<std::string> served{lines.begin(), lines.end()};
    tally.lines_missing += static_cast<std::size_t>(std::ranges::count_if(
        history().now, [&](const std::string& line) { return !served.contains(line); }));
    if (log.errors() < 2 || !fs::exists(store_file(directory).string() + ".damaged-1")) {
        const bool is_missing = damaged.at("sessionq.db").empty();
        return is_missing && log.errors() >= 2 ? "" : "loses without a word: " + log.text();
    }
    return "";
}

} // namespace

// SESSIONQ_SEEDS says how many seeds are tried; SESSIONQ_FIRST_SEED with which one it begins.
TEST_CASE("open_store: no random damage alters what is served or loses it silently") {
    const auto number = [](const char* name, std::uint64_t otherwise) {
        const char* const wanted = std::getenv(name);
        return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : otherwise;
    };
    const std::uint64_t seeds = number("SESSIONQ_SEEDS", 200);
    const std::uint64_t first = number("SESSIONQ_FIRST_SEED", 0);
    set_log_level(LogLevel::warning);
    Tally tally;
    int failures = 0;
    for (std::uint64_t seed = first; seed < first + seeds && failures < 5; ++seed) {
        const Damager::Damaged damaged = Damager{seed}.run();
        CAPTURE(seed);
        CAPTURE(damaged.how);
        const std::string wrong = judge(damaged.files, tally);
        CHECK(wrong == "");
        failures += wrong.empty() ? 0 : 1;
    }
    MESSAGE(seeds << " damages: " << tally.exact << " had no effect, " << tally.refused
                  << " were refused; " << tally.set_aside << " stores were set aside ("
                  << tally.lines_missing << " parts of their content missing), " << tally.unusable
                  << " were not");
}
