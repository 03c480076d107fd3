// SPDX-License-Identifier: MIT
#include "server/duration_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sessionq::server {
namespace {

using std::chrono::milliseconds;

struct Unit {
    char letter;
    std::int64_t length; // in milliseconds
};
constexpr std::int64_t second = 1000;
constexpr std::int64_t day = 24 * 3600 * second;
constexpr std::array<Unit, 4> date_units{
    {{'Y', 365 * day}, {'M', 30 * day}, {'W', 7 * day}, {'D', day}}};
constexpr std::array<Unit, 3> time_units{{{'H', 3600 * second}, {'M', 60 * second}, {'S', second}}};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Reads numbers with units, from the largest unit to the smallest, each at most once.
class Reader {
public:
    explicit Reader(std::string_view text) noexcept : text_{text} {}

    /// Reads all that follow. Returns false at a malformed one.
    bool read(const Unit* unit, const Unit* end) {
        while (!text_.empty() && is_digit(text_.front())) {
            std::int64_t number = 0;
            for (; !text_.empty() && is_digit(text_.front()); text_.remove_prefix(1)) {
                if (__builtin_mul_overflow(number, 10, &number) ||
                    __builtin_add_overflow(number, text_.front() - '0', &number)) {
                    return false;
                }
            }
            const bool has_fraction = !text_.empty() && text_.front() == '.';
            const std::int64_t fraction = has_fraction ? read_fraction() : 0;
            unit = text_.empty() ? end : std::find_if(unit, end, [this](const Unit& one) {
                return one.letter == text_.front();
            });
            if (unit == end || fraction < 0 || (has_fraction && unit->letter != 'S')) {
                return false;
            }
            text_.remove_prefix(1);
            std::int64_t length = 0;
            if (__builtin_mul_overflow(number, unit->length, &length) ||
                __builtin_add_overflow(total_, length + fraction, &total_)) {
                return false;
            }
            ++unit;
            ++count_;
        }
        return true;
    }

    bool accept(char c) noexcept {
        const bool is_there = text_.starts_with(c);
        text_.remove_prefix(is_there ? 1 : 0);
        return is_there;
    }

    [[nodiscard]] bool at_end() const noexcept { return text_.empty(); }
    [[nodiscard]] int count() const noexcept { return count_; }
    [[nodiscard]] milliseconds total() const noexcept { return milliseconds{total_}; }

private:
    // Returns the fraction of a second in milliseconds, rounded down, or -1 without digits.
    std::int64_t read_fraction() noexcept {
        text_.remove_prefix(1);
        std::int64_t fraction = text_.empty() || !is_digit(text_.front()) ? -1 : 0;
        for (std::int64_t place = 100; !text_.empty() && is_digit(text_.front()); place /= 10) {
            fraction += place * (text_.front() - '0');
            text_.remove_prefix(1);
        }
        return fraction;
    }

    std::string_view text_;
    std::int64_t total_{0};
    int count_{0};
};

} // namespace

std::optional<milliseconds> parse_duration(std::string_view text) noexcept {
    Reader reader{text};
    if (!reader.accept('P') ||
        !reader.read(date_units.data(), date_units.data() + date_units.size())) {
        return std::nullopt;
    }
    if (reader.accept('T')) {
        const int before = reader.count();
        if (!reader.read(time_units.data(), time_units.data() + time_units.size()) ||
            reader.count() == before) {
            return std::nullopt;
        }
    }
    return reader.at_end() && reader.count() > 0 ? std::optional{reader.total()} : std::nullopt;
}

} // namespace sessionq::server
