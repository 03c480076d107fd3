// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/port_under_test.hpp"
#include "contract/recording_link.hpp"

/// One rule of the contract, tested on every port of the program: `port` makes its fixture. The
/// cases are compiled once, and each program links them to its own ports.
#define PORT_CASE(title) SESSIONQ_PORT_CASE(title, DOCTEST_ANONYMOUS(port_case_))
#define SESSIONQ_PORT_CASE(title, body)                                                            \
    static void body(sessionq::test::MakeFixture port);                                            \
    [[maybe_unused]] static const bool DOCTEST_CAT(body, _is_registered) =                         \
        sessionq::test::register_case<&body>(title, __FILE__, __LINE__);                           \
    static void body(sessionq::test::MakeFixture port)

/// Ends a case that needs a capability the port does not have.
#define NEEDS(the_case, capability)                                                                \
    if (!(the_case).has(sessionq::ports::Capability::capability)) {                                \
        return;                                                                                    \
    }

namespace sessionq::test {

using ports::Outcome;

constexpr std::size_t most_ports = 5; // of a program

template <auto Body, std::size_t Port>
void run_on_port() {
    Body(ports_under_test()[Port].make);
}

template <auto Body, std::size_t... Ports>
constexpr std::array<void (*)(), sizeof...(Ports)> runs_of(std::index_sequence<Ports...>) {
    return {&run_on_port<Body, Ports>...};
}

/// As a case of a doctest template, whose types would have to be known here.
template <auto Body>
bool register_case(const char* title, const char* file, unsigned line) {
    static constexpr auto runs = runs_of<Body>(std::make_index_sequence<most_ports>{});
    const auto ports = ports_under_test();
    for (std::size_t i = 0; i < ports.size(); ++i) {
        doctest::detail::regTest(
            doctest::detail::TestCase(runs.at(i), file, line,
                                      doctest_detail_test_suite_ns::getCurrentTestSuite(),
                                      ports[i].name, static_cast<int>(line * 1000 + i)) *
            title);
    }
    return true;
}

/// The answer to an asynchronous call. Checks that it comes once and never within the call.
template <typename T>
class Answer {
public:
    auto handler() {
        return [state = state_](core::Result<T> result) {
            CHECK_FALSE(state->is_calling);
            CHECK_FALSE(state->result);
            state->result.emplace(std::move(result));
        };
    }
    void called() { state_->is_calling = false; }
    [[nodiscard]] bool is_there() const { return state_->result.has_value(); }
    [[nodiscard]] core::Result<T>& result() { return *state_->result; }
    /// The error code; unset on success or while there is no answer.
    [[nodiscard]] std::optional<Errc> failure() const {
        return is_there() && !state_->result->ok() ? std::optional{state_->result->failure().code}
                                                   : std::nullopt;
    }

    /// Whether the failure says that the broker may have acted on the request.
    [[nodiscard]] bool unknown() const {
        return failure() && state_->result->failure().outcome_unknown;
    }

private:
    struct State {
        bool is_calling{true};
        std::optional<core::Result<T>> result{};
    };
    std::shared_ptr<State> state_{std::make_shared<State>()};
};

/// A fresh broker of one kind with an entity and an endpoint, and the calls that cases use.
class PortCase {
public:
    explicit PortCase(MakeFixture port, const EntitySpec& spec = {})
        : made_{port()}, entity{fixture.create_entity(spec)}, endpoint{fixture.make_endpoint()} {}

    [[nodiscard]] bool has(ports::Capability capability) const {
        return endpoint->capabilities().has(capability) &&
               !(capability == ports::Capability::accept_named && fixture.accepts_next_only());
    }
    /// The entity to which messages are sent.
    [[nodiscard]] std::string target() const { return fixture.sends_to(entity); }
    /// How to accept this session, the only free one with messages: by id if the port can.
    [[nodiscard]] std::optional<std::string> wanted(std::string session) const {
        return has(ports::Capability::accept_named) ? std::optional{std::move(session)}
                                                    : std::nullopt;
    }

    template <typename T, typename Call>
    Answer<T> begin(Call call) {
        Answer<T> answer;
        call(answer.handler());
        answer.called();
        return answer;
    }
    template <typename T, typename Call>
    Answer<T> finish(Call call) {
        auto answer = begin<T>(call);
        CHECK(fixture.eventually([&] { return answer.is_there(); }));
        REQUIRE(answer.is_there());
        return answer;
    }

    std::vector<std::int64_t> send(std::vector<Message> messages) {
        return finish<std::vector<std::int64_t>>([&](auto handler) {
                   endpoint->send({target(), std::move(messages)}, std::move(handler));
               })
            .result()
            .value();
    }
    std::vector<std::int64_t> send(std::string_view session,
                                   std::initializer_list<std::string_view> bodies) {
        std::vector<Message> messages;
        for (const std::string_view body : bodies) {
            messages.push_back(Message::of(body).in_session(session));
        }
        return send(std::move(messages));
    }

    Answer<ports::SessionLinkPtr> begin_accept(std::optional<std::string> session,
                                               Duration wait = {}, ports::Endpoint* on = nullptr,
                                               int priority = 0) {
        return begin<ports::SessionLinkPtr>([&](auto handler) {
            last_accept = (on != nullptr ? *on : *endpoint)
                              .accept({.entity = entity,
                                       .session_id = std::move(session),
                                       .wait = wait,
                                       .priority = priority},
                                      std::move(handler));
        });
    }
    /// Asks for a session of any of these entities.
    Answer<ports::SessionLinkPtr> begin_accept_any(std::vector<std::string> entities,
                                                   Duration wait = {}) {
        return begin<ports::SessionLinkPtr>([&](auto handler) {
            last_accept =
                endpoint->accept({.entity = entities.front(),
                                  .further_entities = {entities.begin() + 1, entities.end()},
                                  .wait = wait},
                                 std::move(handler));
        });
    }
    Answer<ports::SessionLinkPtr> accept(std::optional<std::string> session, Duration wait = {}) {
        auto answer = begin_accept(std::move(session), wait);
        CHECK(fixture.eventually([&] { return answer.is_there(); }));
        REQUIRE(answer.is_there());
        return answer;
    }
    std::unique_ptr<RecordingLink> hold(std::optional<std::string> session) {
        if (!session || has(ports::Capability::accept_named)) {
            return link_of(accept(std::move(session)));
        }
        // a case that accepts a session without messages needs accept_named
        auto link = link_of(accept(std::nullopt, 5s));
        REQUIRE(link->link().session_id() == *session);
        fixture.quiet(); // its messages share a link with others
        return link;
    }
    /// Asks for the messages of an entity without sessions.
    Answer<ports::SessionLinkPtr> open(const std::string& of,
                                       ports::ReceiveMode mode = ports::ReceiveMode::peek_lock) {
        return finish<ports::SessionLinkPtr>([&](auto handler) {
            endpoint->accept({.entity = of, .scope = ports::Scope::entity, .mode = mode},
                             std::move(handler));
        });
    }
    std::unique_ptr<RecordingLink> hold_all(
        const std::string& of, ports::ReceiveMode mode = ports::ReceiveMode::peek_lock) {
        return link_of(open(of, mode));
    }
    std::unique_ptr<RecordingLink> link_of(Answer<ports::SessionLinkPtr> answer) {
        REQUIRE(answer.is_there());
        if (answer.failure()) {
            FAIL(answer.result().failure().to_string());
        }
        return std::make_unique<RecordingLink>(std::move(answer.result()).value());
    }

    /// Adds credit and waits for that many messages.
    void receive(RecordingLink& link, std::uint32_t count) {
        const std::size_t goal = link.got.size() + count;
        link.credit(count);
        CHECK(fixture.eventually([&] { return link.got.size() >= goal; }));
        REQUIRE(link.got.size() == goal);
    }
    /// Settles and waits for the answer.
    std::optional<Errc> settle(RecordingLink& link, ports::Delivery& delivery,
                               ports::Settlement settlement) {
        const std::size_t goal = link.settled.size() + 1;
        link.settle(delivery, std::move(settlement));
        CHECK(fixture.eventually([&] { return link.settled.size() >= goal; }));
        REQUIRE(link.settled.size() == goal);
        CHECK(link.settled.back().delivery == &delivery);
        return link.settled.back().failed_with;
    }
    std::optional<Errc> settle(RecordingLink& link, ports::Delivery& delivery, Outcome outcome) {
        return settle(link, delivery, ports::Settlement{.outcome = outcome});
    }
    void drain(RecordingLink& link) {
        const int goal = link.drained + 1;
        link.drain();
        CHECK(fixture.eventually([&] { return link.drained >= goal; }));
    }
    void close(RecordingLink& link) {
        link.close();
        CHECK(fixture.eventually([&] { return link.closed; }));
    }

    std::vector<ReceivedMessage> peek(const std::string& from,
                                      std::optional<std::string> session = std::nullopt,
                                      std::int64_t sequence = 0, std::uint32_t max = 100) {
        return finish<std::vector<ReceivedMessage>>([&](auto handler) {
                   endpoint->peek({.entity = from,
                                   .from_sequence_number = sequence,
                                   .max_messages = max,
                                   .session_id = std::move(session)},
                                  std::move(handler));
               })
            .result()
            .value();
    }
    static std::string text_of(const std::vector<ReceivedMessage>& messages) {
        std::string text;
        for (const auto& message : messages) {
            text += (text.empty() ? "" : " ") + message.content().body;
        }
        return text;
    }

private:
    const std::unique_ptr<PortFixture> made_;

public:
    PortFixture& fixture{*made_};
    std::string entity;
    std::unique_ptr<ports::Endpoint> endpoint;
    ports::RequestId last_accept{0};
};

} // namespace sessionq::test
