// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ports/endpoint.hpp"

namespace sessionq::test {

using namespace std::chrono_literals;

/// The properties that a case needs of its entity.
struct EntitySpec {
    Duration lock_duration{30s};
    std::uint32_t max_delivery_count{10};
    bool dead_letter_on_expiration{false};
    bool requires_session{true};

    friend bool operator==(const EntitySpec&, const EntitySpec&) = default;
};

/// A kind of broker for the contract suite, on real or manual time. A case waits with `eventually`,
/// checks that nothing happens with `quiet`, and lets locks expire with `pass`.
class PortFixture {
public:
    virtual ~PortFixture() = default;

    /// Creates an entity and returns its name.
    virtual std::string create_entity(const EntitySpec& spec) = 0;
    /// Returns where to send for messages to reach the entity.
    [[nodiscard]] virtual std::string sends_to(const std::string& entity) const { return entity; }
    /// Returns true if the fixture accepts any next session although the port can accept by id.
    [[nodiscard]] virtual bool accepts_next_only() const { return false; }
    /// Returns true if a send returns sequence numbers.
    [[nodiscard]] virtual bool tells_sequence_numbers() const { return true; }
    [[nodiscard]] virtual std::string dead_letters_of(const std::string& entity) const = 0;

    /// Returns a new connection to the broker, on `loop()`.
    [[nodiscard]] virtual std::unique_ptr<ports::Endpoint> make_endpoint() = 0;
    [[nodiscard]] virtual core::EventLoop& loop() = 0;

    /// Runs the loop until `done` or a time limit. Returns whether it is done.
    virtual bool eventually(const std::function<bool()>& done) = 0;

    /// Runs the loop until nothing more happens by itself.
    virtual void quiet() = 0;

    /// Lets time pass.
    virtual void pass(Duration length) = 0;
    /// How much later events may happen than a case expects. Zero on manual time.
    [[nodiscard]] virtual Duration lag() const { return {}; }
};

} // namespace sessionq::test
