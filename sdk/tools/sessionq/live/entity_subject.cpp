// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/entity_subject.hpp"

#include <chrono>
#include <utility>

#include <sessionq/browser.hpp>
#include <sessionq/error.hpp>

#include "core/clock.hpp"
#include "tools/sessionq/json_text.hpp"
#include "tools/sessionq/live/entity_report.hpp"
#include "tools/sessionq/live/quantities.hpp"

namespace sessionq::cli {
namespace {

constexpr std::uint32_t messages_of_peek = 256;
constexpr std::string_view dead_letter_queue = "/$DeadLetterQueue";

bool is_unsupported(const Error& error) {
    return error.code() == Errc::not_supported || error.code() == Errc::session_required;
}

/// Runs a part of a look. If the broker cannot do it, or not in time, adds a note instead.
template <typename Part>
void note_unless_done(EntityTally& tally, const char* what, const Part& part) {
    try {
        part();
    } catch (const Error& error) {
        if (!is_unsupported(error) && error.code() != Errc::timeout) {
            throw;
        }
        tally.note(std::string{what} + ": " + error.what());
    }
}

/// A message whose session cannot be decoded counts without one.
std::optional<std::string_view> session_of(const ReceivedMessage& message) {
    try {
        return message.shared_content()->session_id();
    } catch (const Error&) {
        return std::nullopt;
    }
}

OperationContext until(const OperationContext& context, Duration length) {
    return context.with_deadline(Deadline::after(length, core::system_clock().now()));
}

} // namespace

EntitySubject::EntitySubject(std::function<Client()> connect, std::string entity)
    : connect_{std::move(connect)}, entity_{std::move(entity)} {}

void EntitySubject::look(std::stop_token stop) {
    constexpr Duration longest_look = std::chrono::seconds{10};
    if (!client_) {
        client_ = connect_();
    }
    const TimePoint now = core::system_clock().now();
    const double seconds = std::chrono::duration<double>(now - looked_at_).count();
    EntityTally tally{entity_, core::system_clock().wall_now(), look_ ? &*look_ : nullptr, seconds};
    const auto context = until(OperationContext{}.with_stop(std::move(stop)), longest_look);
    look_at_messages(tally, context);
    look_at_sessions(tally, context);
    look_at_dead_letters(tally, context);
    look_ = tally.finish();
    looked_at_ = now;
}

LiveReport EntitySubject::report() const { return report_of(*look_); }

std::string EntitySubject::json() const { return line_of(json_of(*look_)); }

void EntitySubject::look_at_messages(EntityTally& tally, const OperationContext& context) const {
    constexpr Duration longest_peeking = std::chrono::seconds{5};
    bool is_first = true;
    try {
        Browser browser{*client_, entity_};
        const OperationContext bounded = until(context, longest_peeking);
        while (true) {
            const auto messages = browser.peek(messages_of_peek, {.context = bounded});
            for (const ReceivedMessage& message : messages) {
                if (!tally.has_room()) {
                    tally.cut_messages("a look reads no more");
                    return;
                }
                tally.add({.session_id = session_of(message),
                           .facts = message.facts(),
                           .bytes = message.shared_content()->bytes()});
            }
            if (messages.empty()) {
                return;
            }
            is_first = false;
        }
    } catch (const Error& error) {
        if (error.code() == Errc::timeout && !is_first) {
            tally.cut_messages("the broker needs too long for more");
        } else if (is_unsupported(error)) {
            tally.no_messages();
        } else {
            throw;
        }
    }
}

void EntitySubject::look_at_sessions(EntityTally& tally, const OperationContext& context) const {
    note_unless_done(tally, "sessions", [&] {
        tally.add_sessions(list_sessions(*client_, entity_, {}, {.context = context}));
        const ListSessionsOptions with_state{.state_set_after = WallTime{}};
        tally.add_states(list_sessions(*client_, entity_, with_state, {.context = context}));
    });
}

void EntitySubject::look_at_dead_letters(EntityTally& tally,
                                         const OperationContext& context) const {
    if (entity_.ends_with(dead_letter_queue)) {
        return;
    }
    note_unless_done(tally, "dead letters", [&] {
        Browser browser{*client_, entity_, {.sub_queue = SubQueue::dead_letter}};
        std::uint64_t count = 0;
        std::size_t bytes = 0;
        bool is_all = false;
        while (!is_all && count < most_messages_of_look && bytes < most_bytes_of_look) {
            const auto messages = browser.peek(messages_of_peek, {.context = context});
            is_all = messages.empty();
            count += messages.size();
            for (const ReceivedMessage& message : messages) {
                bytes += message.shared_content()->bytes();
            }
        }
        tally.add_dead_letters(count, is_all);
    });
}

} // namespace sessionq::cli
