#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/client.hpp>
#include <sessionq/operation_context.hpp>
#include <sessionq/received_message.hpp>

namespace sessionq {

namespace client {
class BrowserCore;
}

/// What a `Browser` looks at. An aggregate for designated initialisers; a bad value throws
/// `Error{Errc::invalid_option}` naming the member.
struct BrowserOptions {
    /// Only this session's messages. Up to 128 characters. Unset: all sessions, in the order of
    /// their sequence numbers. Default unset.
    std::optional<std::string> session_id{};

    /// The sequence number to begin with. Range: zero or more. Default 0: the oldest.
    std::int64_t from_sequence_number{0};

    /// How many messages an iteration asks for at a time. Range: 1 to 4,096. Default 256.
    std::uint32_t page_size{256};
};

/// Looks at the messages of an entity without receiving them: takes no lock, moves no delivery
/// count and disturbs nobody. Shows active, deferred and scheduled messages. Also for what is
/// dead-lettered: entity "orders/$DeadLetterQueue".
///
///     for (const ReceivedMessage& message : Browser{client, "orders/$DeadLetterQueue"}) { ... }
///
/// Calls block like those of `Sender`. Errors of all of them: the broker's (see `Errc`).
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: unsafe, it has a position.
class Browser {
public:
    class Iterator;

    /// Errors: invalid_argument (`entity` has 1 to 260 characters), invalid_option, not_supported.
    Browser(const Client& client, std::string entity, BrowserOptions options = {});

    /// The next messages from the position on, at most `max_messages` (1 or more;
    /// invalid_argument). It may be fewer than there are; none: this is the end. Moves the position
    /// behind them.
    [[nodiscard]] std::vector<ReceivedMessage> peek(
        std::uint32_t max_messages, const OperationContext& context = OperationContext::current());

    /// Moves the position: the next message has this sequence number or a higher one.
    void seek(std::int64_t sequence_number) noexcept { position_ = sequence_number; }

    /// Iterates from the position to the end, under the context that is ambient at each step.
    /// Throws as `peek` does.
    [[nodiscard]] Iterator begin();
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

    /// For sessionq's own parts.
    [[nodiscard]] const client::BrowserCore& core() const noexcept { return *core_; }
    [[nodiscard]] std::int64_t position() const noexcept { return position_; }

private:
    std::shared_ptr<const client::BrowserCore> core_;
    std::int64_t position_;
};

/// An input iterator over what a `Browser` sees. Valid as long as the browser stays where it is.
///
/// Thread safety:
/// Distinct objects: unsafe when of one browser.
/// Shared objects: unsafe.
class Browser::Iterator {
public:
    using value_type = ReceivedMessage;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    explicit Iterator(Browser& browser);

    [[nodiscard]] const ReceivedMessage& operator*() const noexcept { return page_[at_]; }
    [[nodiscard]] const ReceivedMessage* operator->() const noexcept { return &page_[at_]; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& iterator, std::default_sentinel_t /*end*/) noexcept {
        return iterator.at_ == iterator.page_.size();
    }

private:
    void next_page();

    Browser* browser_;
    std::vector<ReceivedMessage> page_{};
    std::size_t at_{0};
};

/// The ids of the entity's sessions that have messages or state, in the broker's order. Blocks like
/// the calls of `Sender`.
///
/// Errors: the broker's (see `Errc`).
/// Thread safety: safe.
[[nodiscard]] std::vector<std::string> list_sessions(
    const Client& client, const std::string& entity,
    const OperationContext& context = OperationContext::current());

} // namespace sessionq
