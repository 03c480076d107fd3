// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/call_options.hpp>
#include <sessionq/client.hpp>
#include <sessionq/received_message.hpp>
#include <sessionq/result.hpp>
#include <sessionq/sub_queue.hpp>
#include <sessionq/time.hpp>

namespace sessionq::detail::client {
class BrowserCore;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// Which messages a `Browser` shows, and how it requests them. An aggregate for designated
/// initialisers. A bad value throws `Error{Errc::invalid_option}` naming the member.
struct BrowserOptions {
    /// Show this sub-queue of the entity. Default none: the entity itself.
    SubQueue sub_queue{SubQueue::none};

    /// Show only this session. UTF-8. Range: up to 128 characters. Unset: all sessions, ordered by
    /// sequence number. Default unset.
    std::optional<std::string> session_id{};

    /// The sequence number to begin with. Range: zero or more. Zero: the oldest message. Default 0.
    std::int64_t from_sequence_number{0};

    /// How many messages an iteration requests at a time. Range: 1 to 4,096. Default 256.
    std::uint32_t page_size{256};
};

/// Shows the messages of an entity without receiving them. It takes no lock, changes no delivery
/// count and disturbs no consumer. It shows active, deferred and scheduled messages. To see
/// dead-lettered messages, browse a sub-queue.
///
/// Example:
///
///     Browser dead{client, "orders", {.sub_queue = SubQueue::dead_letter}};
///     for (const ReceivedMessage& message : dead) {
///         std::cout << message.sequence_number() << ": " << message.text() << '\n';
///     }
///
/// To follow an entity, call `next` until the program ends:
///
///     while (!ended) {
///         if (const auto message = browser.next(std::chrono::seconds{1})) {
///             std::cout << message->text() << '\n';
///         }
///     }
///
/// Blocking: `peek`, `next` and each step of an iteration wait for the broker's answer, until the
/// deadline of the call (`CallOptions`).
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: unsafe, because a browser has a position.
class Browser {
public:
    class Iterator;

    /// Sends nothing yet. The first call shows whether the entity exists.
    /// Errors: invalid_argument (`entity` must have 1 to 260 characters), invalid_option (names the
    /// member), not_supported (the broker cannot peek, or has no such sub-queue).
    Browser(const Client& client, std::string entity, BrowserOptions options = {});

    /// Returns the next messages, at most `max_messages`, and moves the position behind them. It
    /// may return fewer than there are. An empty result means the end.
    /// Errors: the broker's (see `Errc`). In particular invalid_argument (`max_messages` must be 1
    /// or more).
    [[nodiscard]] std::vector<ReceivedMessage> peek(std::uint32_t max_messages,
                                                    const CallOptions& call = {});

    /// Returns the next message and moves the position behind it. If there is none, waits for one.
    /// Returns none after `wait`, or at the deadline if that is sooner. The position stays then.
    ///
    /// A message that a consumer removes meanwhile may never be shown. A scheduled message is shown
    /// at once. It is shown again when it is due, because it then has a new sequence number.
    ///
    /// The local broker and `sessionqd` tell the browser when a message comes. The browser asks
    /// other brokers, such as Azure Service Bus, again and again: at first after 50 ms, then after
    /// twice the time, up to a second.
    ///
    /// `wait`: range zero or more. Zero: only a message that the broker has now. Duration::max():
    /// wait until the deadline.
    ///
    /// Errors: the broker's (see `Errc`), but timeout only if `wait` is zero. In particular
    /// invalid_argument (`wait` must be zero or more).
    [[nodiscard]] std::optional<ReceivedMessage> next(Timeout wait = Duration::max(),
                                                      const CallOptions& call = {});

    /// Moves the position. The next message has this sequence number or a higher one.
    void seek(std::int64_t sequence_number) noexcept { position_ = sequence_number; }

    /// The sequence number from which the next `peek` looks.
    [[nodiscard]] std::int64_t position() const noexcept { return position_; }

    /// Iterates from the position to the last message. The iterator fetches
    /// `BrowserOptions::page_size` messages at a time, and moves the position behind them. Each
    /// fetch runs in the context that is ambient then.
    /// Errors of `begin` and of each step: the broker's (see `Errc`).
    [[nodiscard]] Iterator begin();
    /// The end of an iteration.
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

    // The same for programs that take errors as values. `Result` says what holds for all. An
    // iteration throws: use `try_peek` until it returns an empty vector.

    /// Makes a browser. Sends nothing yet. Does what the constructor does, and returns the failure
    /// instead of throwing it.
    static Result<Browser> try_make(const Client& client, std::string entity,
                                    BrowserOptions options = {}) noexcept;

    /// Returns the next messages, at most `max_messages`, and moves the position behind them. An
    /// empty vector means the end. Does what `peek` does, and returns the failure instead of
    /// throwing it.
    Result<std::vector<ReceivedMessage>> try_peek(std::uint32_t max_messages,
                                                  const CallOptions& call = {}) noexcept;

    /// Returns the next message and moves the position behind it. Waits for one if there is none.
    /// Returns nothing after `wait`, or at the deadline if that is sooner: a result that holds an
    /// empty optional. Does what `next` does, and returns the failure instead of throwing it.
    Result<std::optional<ReceivedMessage>> try_next(Timeout wait = Duration::max(),
                                                    const CallOptions& call = {}) noexcept;

private:
    friend struct detail::client::Access;

    std::shared_ptr<const detail::client::BrowserCore> core_;
    std::int64_t position_;
};

/// Input iterator over the messages that a `Browser` shows. Valid while the browser is neither
/// moved nor destroyed.
///
/// Example:
///
///     Browser browser{client, "orders"};
///     auto message = browser.begin();
///     if (message != browser.end()) {
///         std::cout << message->text() << '\n';
///     }
///
/// Thread safety:
/// Distinct objects: unsafe if they iterate one browser.
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

/// Which sessions `list_sessions` returns.
struct ListSessionsOptions {
    /// Return only sessions whose state was set after this instant of the broker's clock. A session
    /// whose state was cleared is not returned. The local broker and `sessionqd` keep the instants
    /// in memory. After a restart they treat every state as set at the restart. Unset: all sessions
    /// that have messages or state. Default unset.
    std::optional<WallTime> state_set_after{};
};

/// Returns the ids of the entity's sessions, in the broker's order. `options` can leave out
/// sessions. Waits for the broker until the deadline of the call (`CallOptions`).
///
/// Errors: the broker's (see `Errc`). In particular invalid_argument (`entity` must have 1 to 260
/// characters), not_supported (the broker cannot list sessions) and resource_exhausted (the ids
/// take more than 128 MiB, which is about two million ids of 36 characters).
///
/// Example:
///
///     const WallTime yesterday = std::chrono::system_clock::now() - std::chrono::hours{24};
///     for (const std::string& id :
///          list_sessions(client, "orders", {.state_set_after = yesterday})) {
///         std::cout << id << '\n';
///     }
///
/// Thread safety: safe.
[[nodiscard]] std::vector<std::string> list_sessions(const Client& client,
                                                     const std::string& entity,
                                                     const ListSessionsOptions& options = {},
                                                     const CallOptions& call = {});

/// Returns the ids of the entity's sessions. Does what `list_sessions` does, and returns the
/// failure instead of throwing it. `Result` says what holds for all `try_` functions.
///
/// Thread safety: safe.
Result<std::vector<std::string>> try_list_sessions(const Client& client, const std::string& entity,
                                                   const ListSessionsOptions& options = {},
                                                   const CallOptions& call = {}) noexcept;

} // namespace sessionq::inline v1
