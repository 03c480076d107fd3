// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "amqp/codec/encoder.hpp"
#include "amqp/engine/attach.hpp"
#include "amqp/engine/open.hpp"
#include "amqp/engine/outcome.hpp"

namespace sessionq::test {

/// What one side of a connection is told to do. Links have keys: the name and who sends, as in
/// "name>" for the client and "name<" for the server. Sessions have numbers.
struct Operation {
    enum class Kind : std::uint8_t {
        begin,
        end,
        attach,
        answer,
        refuse,
        add_credit,
        drain,
        drained,
        send,
        update,
        settle,
        detach,
        close
    };

    Kind kind{Kind::begin};
    bool by_server{false};
    int session{0};
    std::string link{};
    amqp::Attach attach{};
    amqp::Condition condition{};
    std::uint32_t credit{0};
    std::string tag{};
    std::string bytes{};
    bool settled{false};
    amqp::Outcome outcome{}; ///< none: a settlement that says nothing

    [[nodiscard]] std::string text() const {
        static constexpr const char* names[]{"begin",  "end",    "attach",  "answer", "refuse",
                                             "credit", "drain",  "drained", "send",   "update",
                                             "settle", "detach", "close"};
        return std::string{by_server ? "server " : "client "} + names[static_cast<int>(kind)] +
               " session " + std::to_string(session) + " link " + link + " credit " +
               std::to_string(credit) + " tag " + tag + " size " + std::to_string(bytes.size()) +
               (settled ? " settled" : "") + " outcome " +
               std::to_string(static_cast<int>(outcome.kind)) + " " + condition.name;
    }
};

// Texts of what a peer said.

/// Encoded values are compared by what they mean, because there are several encodings of each.
inline std::string text_of_value(const std::string& encoded) {
    if (encoded.empty()) {
        return "-";
    }
    const auto value = amqp::decode(encoded);
    return value ? value->to_string() : "not a value";
}
inline std::string text_of(const amqp::Condition& condition) {
    return condition.empty()
               ? "no error"
               : condition.name + " '" + condition.text + "' " + text_of_value(condition.info);
}
inline std::string text_of(const amqp::Open& open) {
    return open.container + " " + open.hostname + " " + std::to_string(open.idle_time_out) + " " +
           std::to_string(open.max_frame_size) + " " + std::to_string(open.channel_max) + " " +
           text_of_value(open.properties);
}
inline std::string text_of(const amqp::Terminus& terminus) {
    return !terminus.present
               ? "none"
               : "'" + terminus.address + "'" + (terminus.dynamic ? " dynamic" : "") + " " +
                     text_of_value(terminus.filter) + " " + text_of_value(terminus.properties);
}
inline std::string text_of(const amqp::Attach& attach) {
    return "source " + text_of(attach.source) + " target " + text_of(attach.target) + " modes " +
           std::to_string(static_cast<int>(attach.sender_mode)) +
           std::to_string(static_cast<int>(attach.receiver_mode)) + " properties " +
           text_of_value(attach.properties) + " largest " + std::to_string(attach.max_message_size);
}
inline std::string text_of(const amqp::Outcome& outcome) {
    return "outcome " + std::to_string(static_cast<int>(outcome.kind)) + " " +
           text_of(outcome.error) + (outcome.delivery_failed ? " failed" : "") +
           (outcome.undeliverable_here ? " elsewhere" : "") + " " +
           text_of_value(outcome.annotations);
}
inline std::string text_of_bytes(std::string_view bytes) {
    std::uint64_t sum = 14695981039346656037U; // FNV-1a
    for (const char byte : bytes) {
        sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211U;
    }
    return std::to_string(bytes.size()) + " bytes, sum " + std::to_string(sum);
}

/// What the owner of a link knows of its credit and has not reported.
struct FlowWatch {
    std::uint32_t credit{0};
    bool drain{false};
    bool told{false}; ///< there was an event of a flow

    [[nodiscard]] bool changes(std::uint32_t new_credit, bool new_drain) {
        const bool changed = credit != new_credit || drain != new_drain;
        credit = new_credit;
        drain = new_drain;
        told = false;
        return changed;
    }
};

/// An engine on one side of a connection in memory, and what it has told.
class EngineSide {
public:
    explicit EngineSide(bool is_server) : is_server_{is_server} {}
    EngineSide(const EngineSide&) = delete;
    EngineSide& operator=(const EngineSide&) = delete;
    virtual ~EngineSide() = default;

    virtual void input(std::string_view bytes) = 0;
    [[nodiscard]] virtual std::string take() = 0;
    /// The stream is at its end.
    virtual void lose_input() = 0;
    virtual void apply(const Operation& operation) = 0;
    /// The peer begins this session; its next begin is about it.
    void expect_session(int session) { expected_.push_back(session); }

    /// What was told since the last call, sorted: engines may tell it in different orders.
    [[nodiscard]] std::vector<std::string> take_events() {
        report_flows();
        std::ranges::sort(events_);
        return std::exchange(events_, {});
    }

protected:
    void tell(std::string event) { events_.push_back(std::move(event)); }
    /// Tells how the credit of the links stands now, where that has changed without this side's
    /// doing.
    virtual void report_flows() = 0;
    void tell_message(const std::string& link, std::string_view tag, std::uint32_t format,
                      std::string_view bytes, bool settled) {
        tell("message " + link + " " + std::string{tag} + " format " + std::to_string(format) +
             " " + text_of_bytes(bytes) + (settled ? " settled" : ""));
    }
    [[nodiscard]] int expected_session() {
        if (expected_.empty()) {
            return -1;
        }
        const int session = expected_.front();
        expected_.pop_front();
        return session;
    }
    [[nodiscard]] bool is_server() const noexcept { return is_server_; }
    [[nodiscard]] std::string key_of(std::string_view name, bool is_sender) const {
        return std::string{name} + (is_sender != is_server_ ? ">" : "<");
    }
    /// Of the link's end on this side.
    [[nodiscard]] bool is_sender(const std::string& link) const {
        return (link.back() == '>') != is_server_;
    }
    [[nodiscard]] static std::string name_of(const std::string& link) {
        return link.substr(0, link.size() - 1);
    }

private:
    const bool is_server_;
    std::deque<int> expected_{};
    std::vector<std::string> events_{};
};

/// What the seed chooses about a connection.
struct SideOptions {
    bool is_server{false};
    std::uint32_t max_frame_size{65536};
    std::uint32_t frames_of_window{0}; ///< what a session takes before an answer; zero: very much
};

} // namespace sessionq::test
