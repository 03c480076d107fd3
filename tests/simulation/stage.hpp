#pragma once

#include <memory>
#include <vector>

#include "ports/endpoint.hpp"
#include "simulation/environment.hpp"
#include "simulation/setup.hpp"
#include "simulation/sim_loop.hpp"

namespace sessionq::simulation {

/// A world without its consumer: the broker, the wires, the receive loops, the senders, and whoever
/// makes trouble. What kind of broker and wires there are is for who inherits.
class Stage {
public:
    Stage(std::uint64_t seed, Trace trace, const Setup& setup);
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    virtual ~Stage() = default;

    [[nodiscard]] Environment& environment() noexcept { return environment_; }
    [[nodiscard]] Scheduler& scheduler() noexcept { return environment_.scheduler; }
    [[nodiscard]] const std::vector<std::string>& entities() const noexcept { return entities_; }
    [[nodiscard]] virtual std::vector<ports::Endpoint*> endpoints() = 0;

    /// The longest that what went wrong before `calm_down` may still be felt, beyond what the
    /// consumer itself waits.
    [[nodiscard]] virtual Duration aftermath() const { return Duration::zero(); }

    /// Whoever sends has nothing left to send.
    [[nodiscard]] virtual bool has_sent_all() const { return true; }

    [[nodiscard]] virtual bool connects() const { return false; }

    /// Senders and trouble begin.
    void open();
    /// Nothing goes wrong from now on, and what went wrong is mended; no further message is sent by
    /// itself.
    void calm_down();
    /// The consumer is gone and so is everything else; reports what is left.
    virtual void close();

    /// Steps until `done`, until nobody can act, until `end`, or until an oracle has found
    /// something. True: `done`.
    bool run(TimePoint end, const std::function<bool()>& done);

    /// Takes a message that arrives at the consumer in the very tick `when`, if that can be.
    void send_for(const LinkRecord& link, TimePoint when);

protected:
    [[nodiscard]] const Setup& setup() const noexcept { return setup_; }
    [[nodiscard]] std::vector<std::unique_ptr<SimLoop>>& loops() noexcept { return loops_; }
    void check_timers(SimLoop& loop);
    /// `what`, again and again until it is calm, with pauses of `mean`; zero: never.
    void repeat(Duration mean, std::function<void()> what);

    virtual void send(const std::string& entity, const std::string& session) = 0;
    /// Takes a session that has messages, for somebody else, until all is mended.
    virtual void hold_foreign(const std::string& entity, const std::string& session) = 0;
    virtual void make_trouble() = 0;
    /// Trouble has ended: what it left behind ends too.
    virtual void mend() = 0;

private:
    void send_all();

    Setup setup_;
    Environment environment_;
    std::vector<std::string> entities_;
    std::vector<std::unique_ptr<SimLoop>> loops_;
    bool troubled_{true};
};

} // namespace sessionq::simulation
