// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "ports/endpoint.hpp"
#include "simulation/environment.hpp"
#include "simulation/setup.hpp"
#include "simulation/sim_loop.hpp"

namespace sessionq::simulation {

/// A world without its consumer: broker, wires, receive loops, senders and faults. A subclass
/// chooses the kind of broker and wires.
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

    /// How long faults from before `calm_down` may still have effects, beyond the waits of the
    /// consumer itself.
    [[nodiscard]] virtual Duration aftermath() const { return Duration::zero(); }

    /// True if the senders have nothing left to send.
    [[nodiscard]] virtual bool has_sent_all() const { return true; }

    [[nodiscard]] virtual bool connects() const { return false; }

    /// Starts senders and faults.
    void open();
    /// Ends and repairs all faults. No further message is sent.
    void calm_down();
    /// Destroys everything after the consumer, and reports what is left.
    virtual void close();

    /// The consumer's process is killed: its receive threads do nothing more, and its connections
    /// end.
    virtual void kill_consumer();
    /// Makes receive threads and connections for another one.
    virtual void revive_consumer();
    /// Lets the threads of all that was killed run again.
    void wind_up();
    /// Destroys what was killed.
    virtual void bury() { dead_loops_.clear(); }

    /// Steps until `done`, until nobody can act, until `end`, or until a violation. Returns true if
    /// `done`.
    bool run(TimePoint end, const std::function<bool()>& done);

    /// Sends a message that reaches the consumer in the tick `when`, if possible.
    void send_for(const LinkRecord& link, TimePoint when);

protected:
    [[nodiscard]] const Setup& setup() const noexcept { return setup_; }
    [[nodiscard]] std::vector<std::unique_ptr<SimLoop>>& loops() noexcept { return loops_; }
    void check_timers(SimLoop& loop);
    /// Repeats `what` until it is calm, with pauses of `mean` on average. Zero is never.
    void repeat(Duration mean, std::function<void()> what);

    virtual void send(const std::string& entity, const std::string& session) = 0;
    /// Lets another client hold a session with messages until the faults end.
    virtual void hold_foreign(const std::string& entity, const std::string& session) = 0;
    virtual void make_trouble() = 0;
    /// Ends what the faults left behind.
    virtual void mend() = 0;

private:
    void send_all();
    void add_loops();

    Setup setup_;
    Environment environment_;
    std::vector<std::string> entities_;
    std::vector<std::unique_ptr<SimLoop>> loops_;
    std::vector<std::unique_ptr<SimLoop>> dead_loops_;
    bool troubled_{true};
};

} // namespace sessionq::simulation
