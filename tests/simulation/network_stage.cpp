// SPDX-License-Identifier: MIT
#include "simulation/network_stage.hpp"

#include <algorithm>

#include "servicebus/endpoint.hpp"
#include "simulation/flawed_endpoint.hpp"
#include "simulation/sim_tokens.hpp"

namespace sessionq::simulation {
namespace {

// The numbers differ from those of the consumer's loops.
constexpr int first_front = 100;
constexpr int first_sender = 200;
constexpr int planner = 300;
constexpr std::size_t redriver = 400;

} // namespace

/// Another client that holds a session and renews its lock.
class NetworkStage::ForeignHolder final : public broker::ConsumerTarget,
                                          public std::enable_shared_from_this<ForeignHolder> {
public:
    ForeignHolder(NetworkStage& stage, broker::QueuePtr queue)
        : stage_{&stage}, queue_{std::move(queue)} {}

    void take(const std::string& session) {
        const broker::Instant now = stage_->instant();
        queue_->accept({.session_id = session, .until = now.now}, shared_from_this(), now);
        renew();
    }
    void free() {
        if (const auto held = std::exchange(consumer_, nullptr)) {
            queue_->close(*held, stage_->instant());
        }
    }

    [[nodiscard]] bool has_it() const noexcept { return consumer_ != nullptr; }

    void on_accepted(broker::ConsumerPtr consumer) noexcept override {
        consumer_ = std::move(consumer);
    }
    void on_refused(Failure) noexcept override {}
    void notify_work() noexcept override {}
    void on_lost(Failure) noexcept override { consumer_ = nullptr; }

private:
    void renew() {
        stage_->scheduler().after(queue_->options().lock_duration / 2, [weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self && self->consumer_) {
                static_cast<void>(self->queue_->renew(*self->consumer_, self->stage_->instant()));
                self->renew();
            }
        });
    }

    NetworkStage* stage_;
    broker::QueuePtr queue_;
    broker::ConsumerPtr consumer_{};
};

NetworkStage::NetworkStage(std::uint64_t seed, Trace trace, const Setup& setup)
    : Stage{seed, std::move(trace), setup},
      ledger_{std::make_shared<BrokerLedger>(environment(), setup.options.receive_and_delete)},
      network_{environment(), setup.network} {
    ledger_->commit_high = setup.network.commit_high;
    // While the store takes nothing, the broker ends receivers that delete what they receive.
    const bool may_give_up =
        setup.options.receive_and_delete && setup.network.failing_every > Duration::zero();
    ledger_->clients_learn_late = setup.network.half_open != 0;
    // A client that is cut off cannot renew its token, and does not hear that its rights end.
    const bool tokens_end_unheard =
        setup.network.token_life > Duration::zero() && setup.network.cuts();
    ledger_->locks_end_unheard =
        setup.network.token_refused != 0 || tokens_end_unheard || may_give_up;
    ledger_->confirms_at_once = setup.defect == SeamDefect::confirms_before_commit;
    if (setup.network.kill_every > Duration::zero()) {
        ledger_->keep_in(std::make_unique<SimStore>(scheduler(), setup.defect));
    }
    raise_broker({});
    network_.listen = [this] { return some_front(); };
    network_.server_over = [this](std::uint32_t wire) { ledger_->wire_over(wire); };
    fronts_.resize(setup.fronts);
    for (std::size_t i = 0; i < setup.fronts; ++i) {
        fronts_[i].loop = std::make_unique<SimLoop>(scheduler(), first_front + static_cast<int>(i));
        fronts_[i].loop->weight = 1 + static_cast<std::uint32_t>(scheduler().random().below(6));
        start(fronts_[i]);
    }
    connect_consumer();
    for (std::size_t i = 0; i < setup.sending.clients; ++i) {
        auto loop = std::make_unique<SimLoop>(scheduler(), first_sender + static_cast<int>(i));
        auto endpoint = connect(*loop, loops().size() + i);
        senders_.push_back({.loop = std::move(loop),
                            .client = std::make_unique<SendingClient>(environment(), setup.sending,
                                                                      std::move(endpoint))});
    }
    if (setup.scheduled != 0) {
        planner_loop_ = std::make_unique<SimLoop>(scheduler(), planner);
        planner_ = std::make_unique<SchedulingClient>(
            environment(), setup.sending.timeout,
            connect(*planner_loop_, loops().size() + senders_.size()));
    }
    if (setup.redrives) {
        redriving_ = make_redriving();
        redriving_->begin();
    }
}

std::unique_ptr<Redriving> NetworkStage::make_redriving() {
    return std::make_unique<Redriving>(
        Redriving::Surroundings{
            .environment = &environment(),
            .entity = entities().front(),
            .connect = [this](SimLoop& loop) { return connect(loop, redriver); },
            .cut = [this] { network_.client_dies(redriver); }},
        setup());
}

void NetworkStage::connect_consumer() {
    for (std::size_t i = 0; i < loops().size(); ++i) {
        endpoints_.push_back(std::make_unique<WatchedEndpoint>(
            environment(), *ledger_, i, [this, i] { return network_.last_heard(i); },
            connect(*loops()[i], i)));
    }
}

void NetworkStage::kill_consumer() {
    Stage::kill_consumer();
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
        network_.client_dies(i);
        dead_.push_back(std::move(endpoints_[i]));
    }
    endpoints_.clear();
}

void NetworkStage::revive_consumer() {
    Stage::revive_consumer();
    connect_consumer();
}

void NetworkStage::bury() {
    dead_.clear();
    if (redriving_) {
        redriving_->bury();
    }
    Stage::bury();
}

void NetworkStage::raise_broker(std::vector<broker::DurableQueue> kept) {
    broker_ = std::make_unique<broker::Broker>(ledger_, std::move(kept), instant());
    time_ = std::make_unique<BrokerTime>(scheduler(), *broker_);
    for (const std::string& entity : entities()) {
        const broker::QueueOptions options{.requires_session = true,
                                           .lock_duration = setup().lock_length,
                                           .max_delivery_count = setup().max_deliveries,
                                           .duplicate_detection_window =
                                               setup().detects_duplicates
                                                   ? std::optional<Duration>{std::chrono::hours{1}}
                                                   : std::nullopt};
        static_cast<void>(broker_->create_queue(entity, options, instant()).value());
    }
    broker_->begin(instant());
}

void NetworkStage::kill_broker() {
    if (!broker_) {
        return;
    }
    scheduler().trace("the broker is killed");
    ledger_->kill();
    network_.server_dies();
    for (Front& front : fronts_) {
        front.is_down = true;
        front.loop->run_now([&front] { front.server.reset(); });
    }
    time_.reset();
    broker_.reset();
    scheduler().after(scheduler().between(milliseconds{0}, setup().network.down_high), [this] {
        scheduler().trace("the broker is there again");
        ledger_->failing = false; // else it would not start
        raise_broker(ledger_->revive());
        check_counts();
        for (Front& front : fronts_) {
            front.loop->post([this, &front] { start(front); });
        }
    });
}

ports::EndpointPtr NetworkStage::connect(SimLoop& loop, std::size_t number) {
    detail::servicebus::EndpointSettings settings;
    settings.target = {.host = "broker"};
    settings.tokens = std::make_shared<SimTokens>(environment(), network_.faults(), loop);
    settings.operation_timeout = setup().operation_timeout;
    settings.idle_timeout = setup().client_idle;
    settings.backoff = setup().options.error_backoff;
    settings.seed = scheduler().random().next();
    settings.dial = network_.dial_for(number);
    auto endpoint = std::make_unique<detail::servicebus::Endpoint>(loop, io_, std::move(settings));
    return setup().defect == SeamDefect::none
               ? ports::EndpointPtr{std::move(endpoint)}
               : std::make_unique<FlawedEndpoint>(setup().defect, std::move(endpoint));
}

std::vector<ports::Endpoint*> NetworkStage::endpoints() {
    std::vector<ports::Endpoint*> all;
    for (const auto& endpoint : endpoints_) {
        all.push_back(endpoint.get());
    }
    return all;
}

/// A dead peer is detected by its silence at the latest. A lock that nobody renews expires. An
/// attempt to connect may hang until its timeout.
Duration NetworkStage::aftermath() const {
    return setup().operation_timeout +
           std::max({setup().client_idle, setup().server_idle, setup().lock_length}) +
           setup().options.error_backoff.max + setup().network.down_high +
           setup().network.stall_high;
}

void NetworkStage::start(Front& front) {
    if (!broker_) {
        return; // killed again in the meantime
    }
    const server::Limits limits{.idle_time = setup().server_idle,
                                .told_at_once = setup().at_once,
                                .released_at_once = setup().at_once,
                                .decoded_at_once = setup().at_once};
    front.server = std::make_unique<server::Server>(
        *broker_, *front.loop, io_, server::AccessPolicy{.verifier = &SimTokens::verify}, limits);
    front.is_down = false;
}

void NetworkStage::restart(Front& front) {
    if (std::exchange(front.is_down, true)) {
        return;
    }
    const auto gone = [this, &front] {
        scheduler().trace(front.loop->name(), ": the server is gone");
        front.server.reset();
        scheduler().after(scheduler().between(milliseconds{0}, setup().network.down_high),
                          [this, &front] { front.loop->post([this, &front] { start(front); }); });
    };
    if (environment().chance(network_.faults().restart_orderly)) {
        front.loop->post([this, &front, gone] {
            front.server->drain(scheduler().between(milliseconds{0}, seconds{2}),
                                [&front, gone] { front.loop->post(gone); });
        });
    } else {
        front.loop->post(gone);
    }
}

Network::Listener NetworkStage::some_front() {
    Front& front = fronts_[scheduler().random().below(fronts_.size())];
    if (front.is_down) {
        return {};
    }
    return {front.loop.get(), [&front](amqp::StreamPtr stream) {
                if (front.server && !front.is_down) {
                    front.server->serve(std::move(stream));
                }
            }};
}

bool NetworkStage::has_sent_all() const {
    return std::ranges::all_of(senders_,
                               [](const Sender& sender) { return sender.client->is_done(); }) &&
           (!planner_ || planner_->is_done()) && (!redriving_ || redriving_->is_done());
}

void NetworkStage::send(const std::string& entity, const std::string& session) {
    const std::string id = std::to_string(++last_message_);
    if (!senders_.empty()) {
        const std::size_t sender =
            sender_of_.try_emplace({entity, session}, sender_of_.size() % senders_.size())
                .first->second;
        senders_[sender].client->send(entity, session, id);
        return;
    }
    Message message;
    message.session_id = session;
    message.message_id = id;
    message.body = environment().body_of(message.message_id);
    if (!broker_ || !queue(entity).send({std::move(message)}, instant())) {
        scheduler().after(milliseconds{100},
                          [this, entity, session] { send(entity, session); }); // it is busy or down
    }
}

void NetworkStage::hold_foreign(const std::string& entity, const std::string& session) {
    foreign_.push_back(std::make_shared<ForeignHolder>(*this, broker_->find(entity).value()));
    foreign_.back()->take(session);
}

void NetworkStage::make_trouble() {
    const NetworkFaults& faults = setup().network;
    repeat(faults.cut_every, [this] { network_.cut_one(); });
    repeat(faults.stall_every, [this] { network_.stall_one(); });
    repeat(faults.restart_every,
           [this] { restart(fronts_[scheduler().random().below(fronts_.size())]); });
    for (std::size_t i = 0; i < setup().scheduled; ++i) {
        scheduler().after(scheduler().between(milliseconds{0}, seconds{8}), [this, i] {
            const std::string& entity = entities()[i % entities().size()];
            planner_->schedule(entity, entity + "-later" + std::to_string(i % 5),
                               "later" + std::to_string(i),
                               scheduler().between(milliseconds{0}, seconds{8}));
        });
    }
    repeat(setup().redrive_deaths_every, [this] { redriving_->kill(); });
    repeat(faults.kill_every, [this] { kill_broker(); });
    repeat(faults.failing_every, [this] {
        ledger_->failing = true;
        scheduler().after(scheduler().between(milliseconds{1}, setup().network.failing_high),
                          [this] { ledger_->failing = false; });
    });
}

void NetworkStage::mend() {
    network_.mend();
    ledger_->failing = false;
    if (redriving_) {
        redriving_->calm_down();
    }
    for (const auto& holder : std::exchange(foreign_, {})) {
        holder->free();
    }
}

void NetworkStage::close() {
    const auto never = [] { return false; };
    check_sessions_free();
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
        loops()[i]->post([this, i] { endpoints_[i].reset(); });
    }
    for (Sender& sender : senders_) {
        sender.loop->post([&sender] { sender.client->close(); });
    }
    if (planner_) {
        planner_loop_->post([this] { planner_->close(); });
    }
    if (redriving_) {
        redriving_->close();
    }
    run(scheduler().now() + seconds{10}, never);
    check_accepts_answered();
    for (const Sender& sender : senders_) {
        sender.client->check_answered();
    }
    for (Front& front : fronts_) {
        front.loop->post([&front] { front.server.reset(); });
    }
    run(scheduler().now() + seconds{1}, never);
    check_counts();
    Stage::close();
    for (const Front& front : fronts_) {
        check_timers(*front.loop);
    }
    for (const Sender& sender : senders_) {
        check_timers(*sender.loop);
    }
    if (planner_) {
        check_timers(*planner_loop_);
    }
    for (SimLoop* const loop : redriving_ ? redriving_->loops() : std::vector<SimLoop*>{}) {
        check_timers(*loop);
    }
}

/// The consumer has released everything, and the broker knows.
void NetworkStage::check_sessions_free() {
    if (setup().network.cuts() || setup().network.token_refused != 0 || setup().consumer_dies()) {
        return;
    }
    for (const auto& [key, session] : environment().broker.sessions()) {
        const auto asker =
            std::make_shared<ForeignHolder>(*this, broker_->find(session.entity).value());
        asker->take(session.id);
        if (!asker->has_it()) {
            environment().verdict.report("(h) stop (R18)", "session " + session.id +
                                                               " is still locked at the broker");
        }
        asker->free();
    }
}

void NetworkStage::check_accepts_answered() {
    for (const AcceptRecord& accept : environment().accepts) {
        if (!accept.answered) {
            environment().broken("accept " + std::to_string(accept.id) +
                                 " was never answered (R15)");
        }
    }
}

void NetworkStage::check_counts() {
    std::size_t active = 0;
    for (const std::string& entity : entities()) {
        active += queue(entity).counts(instant()).active;
    }
    if (active != environment().broker.unfinished()) {
        environment().verdict.report("(c) loss",
                                     "the broker has " + std::to_string(active) +
                                         " messages, its journal says " +
                                         std::to_string(environment().broker.unfinished()));
    }
}

} // namespace sessionq::simulation
