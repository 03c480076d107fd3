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

/// What a case wants of the entity it works on.
struct EntitySpec {
    Duration lock_duration{30s};
    std::uint32_t max_delivery_count{10};
    bool dead_letter_on_expiration{false};

    friend bool operator==(const EntitySpec&, const EntitySpec&) = default;
};

/// A kind of broker to run the contract suite on. Time may be real or not: cases wait with
/// `eventually`, look for what must not happen after `quiet`, and let leases end with `pass`.
class PortFixture {
public:
    virtual ~PortFixture() = default;

    /// A fresh entity with sessions; its name.
    virtual std::string create_entity(const EntitySpec& spec) = 0;
    /// What to send to for it to come to the entity.
    [[nodiscard]] virtual std::string sends_to(const std::string& entity) const { return entity; }
    /// Whether sessions are accepted as they come although the port could accept them by id.
    [[nodiscard]] virtual bool accepts_next_only() const { return false; }
    /// Whether sending answers with sequence numbers.
    [[nodiscard]] virtual bool tells_sequence_numbers() const { return true; }
    [[nodiscard]] virtual std::string dead_letters_of(const std::string& entity) const = 0;

    /// A connection of its own to the broker, on `loop()`.
    [[nodiscard]] virtual std::unique_ptr<ports::Endpoint> make_endpoint() = 0;
    [[nodiscard]] virtual core::EventLoop& loop() = 0;

    /// Turns the loop until `done`, or until that is hopeless; whether it is done.
    virtual bool eventually(const std::function<bool()>& done) = 0;

    /// Turns the loop until nothing more would happen by itself.
    virtual void quiet() = 0;

    /// Lets time pass.
    virtual void pass(Duration length) = 0;
    /// How much later than a case says things may happen here: zero where time passes only as the
    /// case says.
    [[nodiscard]] virtual Duration lag() const { return {}; }
};

} // namespace sessionq::test
