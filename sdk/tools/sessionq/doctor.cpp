// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/uuid.hpp"
#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/doctor_broker.hpp"
#include "tools/sessionq/doctor_report.hpp"
#include "tools/sessionq/doctor_secrets.hpp"
#include "tools/sessionq/doctor_web_socket.hpp"
#include "tools/sessionq/doctor_wire.hpp"
#include "tools/sessionq/live/socket_document.hpp"
#include "tools/sessionq/output.hpp"

namespace sessionq::cli {
namespace {

constexpr Duration longest_accept_wait = std::chrono::seconds{1};
constexpr Duration longest_tls_probe = std::chrono::seconds{2};
constexpr int round_trips = 5;

/// The reason for a failure may be that the peer expects TLS.
bool speaks_tls(const amqp::Target& target, Duration timeout) {
    WireProbe wire{target, timeout};
    const bool is_reached = !wire.resolve().addresses.empty() &&
                            wire.connect().outcome == ConnectFacts::Outcome::connected &&
                            (!wire.has_proxy() || !wire.open_tunnel().failure);
    return is_reached && !wire.shake_hands().version.empty();
}

ProcessorFacts ask_processor(const std::string& socket, Duration timeout) {
    ProcessorFacts facts{.socket = socket};
    try {
        facts.told = parse_processor_snapshot(read_socket_document(socket, timeout, {}));
    } catch (const std::runtime_error& error) {
        facts.error = error.what();
    }
    return facts;
}

/// Makes the checks in order and prints the finding of each.
class Examination {
public:
    Examination(const DoctorPlace& place, const DoctorOptions& options)
        : place_{place}, options_{options} {}

    /// Prints a finding. Returns false if later checks would show nothing.
    using Tell = std::function<bool(const Finding&)>;

    void run(const Tell& tell) {
        tell_ = tell;
        std::vector<amqp::Target> reached;
        for (const amqp::Target& target : place_.targets) {
            if (reach(target)) {
                reached.push_back(target);
            }
        }
        if (!reached.empty()) {
            BrokerProbe probe{place_, reached, options_.timeout};
            look_at_broker(probe, reached.front());
        }
    }

private:
    /// Tells the finding for facts with a failure, without the secrets that a peer may have
    /// repeated.
    template <typename Facts>
    bool tell_of(Facts facts) const {
        return tell_(judge(cleaned(std::move(facts))));
    }
    template <typename Facts>
    Facts cleaned(Facts facts) const {
        hide_secrets(facts.failure, place_.secrets);
        return facts;
    }

    bool reach(const amqp::Target& target) const {
        WireProbe wire{target, options_.timeout};
        return tell_(judge(wire.resolve())) && tell_(judge(wire.connect())) &&
               (!wire.has_proxy() || tell_of(wire.open_tunnel())) &&
               (!target.tls || tell_(judge(wire.shake_hands()))) &&
               (target.web_socket_path.empty() ||
                tell_of(try_web_socket(target, options_.timeout)));
    }

    void look_at_broker(BrokerProbe& probe, const amqp::Target& target) {
        OpenFacts open = probe.open();
        open.wants_tls = open.failure && !open.has_tls &&
                         speaks_tls(target, std::min(longest_tls_probe, options_.timeout));
        open.product = without_secrets(std::move(open.product), place_.secrets);
        if (!tell_of(open) || !claim(probe)) {
            return;
        }
        limits_ = {.max_frame_size = open.max_frame_size,
                   .channels = open.channels,
                   .idle_time_out = open.idle_time_out};
        if (place_.entity.empty()) {
            tell_(skipped("entity", "none was named; --entity NAME checks rights, kind, lock and "
                                    "sessions too"));
            static_cast<void>(measure(probe, false));
        } else {
            look_at_entity(probe);
        }
    }

    bool claim(BrokerProbe& probe) const {
        if (place_.tokens == nullptr) {
            return true;
        }
        if (place_.entity.empty() && place_.key_name.empty()) {
            return tell_(skipped("claim", "a signature is for an entity; name it with --entity"));
        }
        return tell_of(probe.claim(place_.entity));
    }

    void look_at_entity(BrokerProbe& probe) {
        EntityFacts entity{.entity = place_.entity,
                           .purpose = options_.purpose,
                           .is_groups = place_.is_groups,
                           .sending = cleaned(probe.attach(place_.entity, true))};
        if (!is_failure(entity.sending.failure, Errc::timeout)) {
            entity.receiving = cleaned(probe.attach(place_.entity, false));
        }
        limits_.handles = std::max(entity.sending.handles, entity.receiving.handles);
        if (!tell_(judge_rights(entity)) || !tell_(judge_entity(entity))) {
            return;
        }
        const std::string why = why_no_sessions(entity);
        if (!why.empty()) {
            for (const char* const check : {"lock length", "clock"}) {
                tell_(skipped(check, why));
            }
        } else if (!look_at_lock(probe)) {
            return;
        }
        if (!measure(probe, entity.receiving.failure && !entity.sending.failure)) {
            return;
        }
        if (why.empty()) {
            accept(probe);
        } else {
            tell_(skipped("session accept", why));
        }
    }

    bool look_at_lock(BrokerProbe& probe) const {
        // Nobody else wants a session of this name, and none is left behind.
        const LinkFacts named = cleaned(probe.accept(
            place_.entity, "sessionq-doctor-" + core::Uuid::make().to_string(), Duration::zero()));
        return tell_(judge_lock(named)) && tell_(judge_clock(named));
    }

    /// Message groups have no request that needs no right and changes nothing, so attaches to the
    /// entity are measured instead: to send or to receive.
    bool measure(BrokerProbe& probe, bool sends) {
        if (place_.is_groups && place_.entity.empty()) {
            tell_(skipped("round trip", "it is measured with --entity"));
            return tell_(judge(limits_));
        }
        std::vector<LinkFacts> answers;
        for (int i = 0; i < round_trips; ++i) {
            answers.push_back(
                cleaned(place_.is_groups ? probe.attach(place_.entity, sends) : probe.ask_small()));
            limits_.handles = std::max(limits_.handles, answers.back().handles);
            if (answers.back().failure) {
                break;
            }
        }
        return tell_(judge_round_trip(std::move(answers))) && tell_(judge(limits_));
    }

    void accept(BrokerProbe& probe) const {
        const Duration wait = std::min(longest_accept_wait, options_.timeout);
        const LinkFacts next = cleaned(probe.accept(place_.entity, std::nullopt, wait));
        static_cast<void>(probe.ask_small()); // its answer shows that the session is back
        tell_(judge_accept(next, wait));
    }

    const DoctorPlace& place_;
    const DoctorOptions& options_;
    Tell tell_{};
    LimitFacts limits_{};
};

} // namespace

int run(const Shared& shared, const DoctorOptions& options) {
    DoctorReport report{shared.json};
    const auto tell = [&report](const Finding& finding) {
        write_output(report.add(finding));
        return !finding.stops;
    };
    if (!shared.connection.empty()) {
        const DoctorPlace place = find_place(shared, options.entity);
        Examination{place, options}.run(tell);
    }
    if (!options.processor.empty()) {
        for (const Finding& finding : judge(ask_processor(options.processor, options.timeout))) {
            tell(finding);
        }
    }
    return report.exit_code();
}

} // namespace sessionq::cli
