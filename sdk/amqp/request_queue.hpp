// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <sessionq/deadline.hpp>

#include "amqp/engine/engine.hpp"
#include "core/reply_queue.hpp"
#include "core/result.hpp"
#include "timing/timer.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::amqp {

/// How the failures of a `RequestQueue` read.
struct RequestTerms {
    std::string peer{};  ///< The node, as texts name it.
    std::string about{}; ///< "the request to PEER"
    Failure (*explain)(const Condition& condition, std::string what){nullptr};
};

/// Requests to one node, each answered once: items that are sent over a link when the connection
/// and the peer's credit allow. The links are attached when first needed and again after a loss.
/// The derived class knows the meaning of an item.
///
/// A request that ends by its deadline or by `give_up` before it was sent is never sent. Handlers
/// run by a later turn of the loop; the destructor runs those that are left. Bound to the loop.
template <typename Item, typename Answer>
class RequestQueue : protected SessionListener, protected LinkListener {
public:
    using Id = std::uint64_t;
    using Handler = std::function<void(core::Result<Answer>)>;
    using EngineHandler = std::function<void(core::Result<Engine*>)>;
    /// Runs the handler once the node may be used, now or by a later turn.
    using WhenReady = std::function<void(EngineHandler)>;

    RequestQueue(const RequestQueue&) = delete;
    RequestQueue& operator=(const RequestQueue&) = delete;

    /// Ends the request with `cancelled`. Ids that are not under way are ignored.
    void give_up(Id id) { conclude(id, Errc::cancelled); }

protected:
    struct Pending {
        Pending(RequestQueue& in, Id number, Item what, Deadline until, Handler told)
            : queue{in},
              id{number},
              item{std::move(what)},
              deadline{until},
              handler{std::move(told)} {}
        void expire() { queue.conclude(id, Errc::timeout); }

        RequestQueue& queue;
        const Id id;
        Item item;
        const Deadline deadline;
        Handler handler;
        bool is_sent{false}; ///< At least in part.
        timing::Timer timer{timing::Timer::calling<&Pending::expire>(this)};
    };
    using Requests = std::map<Id, Pending>;

    RequestQueue(core::EventLoop& loop, RequestTerms terms, WhenReady when_ready)
        : loop_{loop},
          terms_{std::move(terms)},
          when_ready_{std::move(when_ready)},
          replies_{loop} {}
    ~RequestQueue() override {
        sender_.reset();
        session_.reset();
        for (Requests* const requests : {&preparing_, &queued_, &sent_}) {
            while (!requests->empty()) {
                conclude(requests->begin()->first, Errc::cancelled);
            }
        }
        replies_.flush();
    }

    /// Makes the links and opens them. False: the peer allows no more.
    [[nodiscard]] virtual bool open_links() = 0;
    /// The links go.
    virtual void drop_links() { sender_.reset(); }
    /// Sends the requests of `queued_` that may be sent.
    virtual void transmit() = 0;

    /// `id` rises from call to call.
    void add(Id id, Item item, Deadline deadline, Handler handler) {
        const auto [made, is_new] =
            preparing_.try_emplace(id, *this, id, std::move(item), deadline, std::move(handler));
        if (deadline.passed(loop_.now())) {
            conclude(id, Errc::timeout);
            return;
        }
        if (!deadline.is_never()) {
            loop_.timers().arm(made->second.timer, deadline.time());
        }
        when_ready_([handle = anchor_.handle(), id](const core::Result<Engine*>& engine) {
            if (RequestQueue* const queue = handle.get()) {
                queue->on_ready(id, engine);
            }
        });
    }

    void conclude(Id id, Errc why) {
        for (Requests* const requests : {&preparing_, &queued_, &sent_}) {
            if (const auto found = requests->find(id); found != requests->end()) {
                fail(*requests, found, {.code = why, .detail = terms_.about});
                return;
            }
        }
    }

    void reply(Requests& from, typename Requests::iterator pending, core::Result<Answer> result) {
        replies_.push([handler = std::move(pending->second.handler),
                       result = std::move(result)]() mutable { handler(std::move(result)); });
        from.erase(pending);
    }

    void on_session_ended(const Condition& condition) override { on_lost(condition); }
    void on_link_open() override { transmit(); }
    void on_link_closed(const Condition& condition, bool) override { on_lost(condition); }
    void on_link_gone(const Condition&) override {} // `on_session_ended` follows
    void on_flow() override { transmit(); }

    core::EventLoop& loop_;
    const RequestTerms terms_;
    const WhenReady when_ready_;
    SessionPtr session_{};
    SenderLinkPtr sender_{};
    Requests preparing_{}; // wait for the connection
    Requests queued_{};    // wait for credit
    Requests sent_{};      // wait for the answer
    core::ReplyQueue replies_;
    const core::Anchor<RequestQueue> anchor_{*this};

private:
    void on_ready(Id id, const core::Result<Engine*>& engine) {
        const auto found = preparing_.find(id);
        if (found == preparing_.end()) {
            return;
        }
        if (!engine.ok()) {
            reply(preparing_, found, engine.failure());
        } else if (sender_ == nullptr && !attach(*engine.value())) {
            reply(preparing_, found,
                  Failure{.code = Errc::resource_exhausted,
                          .detail = terms_.peer +
                                    ": the broker allows no more links on this connection"});
        } else {
            queued_.insert(preparing_.extract(found));
            transmit();
        }
    }

    [[nodiscard]] bool attach(Engine& engine) {
        session_ = engine.begin_session();
        if (session_ == nullptr || !open_links()) {
            drop_links();
            session_.reset();
            return false;
        }
        session_->set_listener(this);
        return true;
    }

    void on_lost(const Condition& condition) {
        drop_links();
        session_.reset();
        const Failure why = terms_.explain(condition, "the link to " + terms_.peer + " was lost");
        for (Requests* const requests : {&queued_, &sent_}) {
            while (!requests->empty()) {
                fail(*requests, requests->begin(), why);
            }
        }
    }

    void fail(Requests& from, typename Requests::iterator pending, Failure why) {
        why.outcome_unknown = pending->second.is_sent;
        reply(from, pending, std::move(why));
    }
};

} // namespace sessionq::amqp
