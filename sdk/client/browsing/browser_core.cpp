// SPDX-License-Identifier: MIT
#include "client/browsing/browser_core.hpp"

#include <memory>

#include "client/browsing/browser_wait.hpp"
#include "client/browsing/page_progress.hpp"
#include "client/browsing/session_pages.hpp"
#include "client/calls/blocking.hpp"
#include "client/calls/operation.hpp"
#include "client/check.hpp"
#include "client/entity_path.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"
#include "core/id_check.hpp"

namespace sessionq::detail::client {
namespace {

constexpr std::uint32_t max_page_size = 4'096;

using Messages = std::vector<ReceivedMessage>;
using SessionIds = std::vector<std::string>;

BrowserOptions checked(BrowserOptions options) {
    const auto fault = core::id_fault(options.session_id.value_or(""));
    require_option(fault.empty(), "BrowserOptions::session_id " + std::string{fault});
    require_option(options.from_sequence_number >= 0,
                   "BrowserOptions::from_sequence_number must be zero or more");
    require_option(options.page_size >= 1 && options.page_size <= max_page_size,
                   "BrowserOptions::page_size must be 1 to 4,096");
    return options;
}

/// Moves the browser behind the messages. Throws if it would not get further.
Messages pass(Browser& browser, Messages messages) {
    if (!messages.empty()) {
        const auto next = position_behind(messages, browser.position());
        if (!next) {
            throw Error{no_progress("it was asked for messages from sequence number " +
                                    std::to_string(browser.position()) +
                                    " on and answered with number " +
                                    std::to_string(messages.back().sequence_number()))};
        }
        browser.seek(*next);
    }
    return messages;
}

std::optional<ReceivedMessage> first_of(Messages messages) {
    return messages.empty() ? std::nullopt : std::optional{std::move(messages.front())};
}

/// Requests the next page and adds it to `found`, until `found` needs no further page.
void ask_page(ports::Endpoint& endpoint, ports::ListSessionsRequest request,
              std::shared_ptr<SessionPages> found, const PendingPtr<SessionIds>& pending) {
    request.skip = found->skip();
    const auto id =
        endpoint.list_sessions(request, [&endpoint, request, found = std::move(found),
                                         pending](core::Result<SessionIds> page) mutable {
            if (pending->ended()) {
                return;
            }
            if (!page) {
                pending->complete(std::move(page));
                return;
            }
            switch (found->add(std::move(page).value())) {
            case SessionPages::Next::ask:
                ask_page(endpoint, std::move(request), std::move(found), pending);
                break;
            case SessionPages::Next::done: pending->complete(found->take()); break;
            case SessionPages::Next::repeats:
                pending->complete(
                    no_progress("it lists the same sessions of '" + request.entity + "' again"));
                break;
            case SessionPages::Next::too_much:
                pending->complete(Failure{.code = Errc::resource_exhausted,
                                          .detail = "the ids of the sessions of '" +
                                                    request.entity + "' take more than 128 MiB"});
                break;
            }
        });
    pending->ask_port([&endpoint, id] { endpoint.give_up(id); });
}

} // namespace

BrowserCore::BrowserCore(std::shared_ptr<ClientCore> client, std::string entity,
                         BrowserOptions options)
    : client_{std::move(client)},
      entity_{entity_path(client_->capabilities(), std::move(entity), options.sub_queue)},
      options_{checked(std::move(options))},
      thread_{client_->next_thread()} {
    client_->capabilities().require(ports::Capability::peek);
}

PublicCall<Messages> BrowserCore::peek(Browser& browser, std::uint32_t max_messages,
                                       const CallOptions& call) const {
    require_argument(max_messages > 0, "max_messages is zero");
    return {endpoint_operation<Messages>(
                client_, thread_, call,
                [request = request(browser, max_messages)](
                    ports::Endpoint& endpoint, Deadline deadline, auto answer_to) mutable {
                    request.deadline = deadline;
                    return endpoint.peek(std::move(request), std::move(answer_to));
                }),
            [&browser](core::Result<Messages> answer) {
                return pass(browser, std::move(answer).take_or_throw());
            }};
}

PublicCall<Messages, std::optional<ReceivedMessage>> BrowserCore::next(
    Browser& browser, Duration wait, const CallOptions& call) const {
    check_wait(wait);
    if (wait == Duration::zero()) {
        return {peek(browser, 1, call).operation, [&browser](core::Result<Messages> answer) {
                    return first_of(pass(browser, std::move(answer).take_or_throw()));
                }};
    }
    auto operation = make_operation<Messages>(
        client_, *thread_.thread, call,
        [&thread = thread_, request = request(browser, 1)](const PendingPtr<Messages>& pending) {
            std::make_shared<BrowserWait>(*thread.endpoint, request, pending)->start();
        });
    operation.deadline = operation.deadline.sooner(Deadline::after(wait, client_->clock().now()));
    return {std::move(operation),
            [&browser](core::Result<Messages> answer) -> std::optional<ReceivedMessage> {
                if (!answer && answer.failure().code == Errc::timeout) {
                    return std::nullopt;
                }
                return first_of(pass(browser, std::move(answer).take_or_throw()));
            }};
}

ports::PeekRequest BrowserCore::request(const Browser& browser, std::uint32_t max_messages) const {
    return {.entity = entity_,
            .from_sequence_number = browser.position(),
            .max_messages = max_messages,
            .session_id = options_.session_id};
}

Operation<SessionIds> list_all_sessions(const Client& client, std::string entity,
                                        const ListSessionsOptions& options,
                                        const CallOptions& call) {
    const auto& core = Access::core(client);
    check_entity(entity);
    core->capabilities().require(ports::Capability::list_sessions);
    EndpointThread& thread = core->next_thread();
    return make_operation<SessionIds>(
        core, *thread.thread, call,
        [&thread, entity = std::move(entity),
         after = options.state_set_after](const PendingPtr<SessionIds>& pending) {
            ask_page(*thread.endpoint,
                     {.entity = entity,
                      .top = SessionPages::per_page,
                      .state_set_after = after,
                      .deadline = pending->deadline()},
                     std::make_shared<SessionPages>(), pending);
        });
}

} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

Browser::Browser(const Client& client, std::string entity, BrowserOptions options)
    : core_{std::make_shared<const detail::client::BrowserCore>(
          detail::client::Access::core(client), std::move(entity), std::move(options))},
      position_{core_->options().from_sequence_number} {}

std::vector<ReceivedMessage> Browser::peek(std::uint32_t max_messages, const CallOptions& call) {
    return detail::client::block(
        detail::client::Access::core(*this)->peek(*this, max_messages, call));
}

std::optional<ReceivedMessage> Browser::next(Timeout wait, const CallOptions& call) {
    return detail::client::block(detail::client::Access::core(*this)->next(*this, wait, call));
}

Browser::Iterator Browser::begin() { return Iterator{*this}; }

Browser::Iterator::Iterator(Browser& browser) : browser_{&browser} { next_page(); }

Browser::Iterator& Browser::Iterator::operator++() {
    if (++at_ == page_.size()) {
        next_page();
    }
    return *this;
}

void Browser::Iterator::next_page() {
    page_ = browser_->peek(detail::client::Access::core(*browser_)->options().page_size);
    at_ = 0;
}

std::vector<std::string> list_sessions(const Client& client, const std::string& entity,
                                       const ListSessionsOptions& options,
                                       const CallOptions& call) {
    return detail::client::block(detail::client::list_all_sessions(client, entity, options, call));
}

Result<Browser> Browser::try_make(const Client& client, std::string entity,
                                  BrowserOptions options) noexcept {
    return core::as_result([&] { return Browser{client, std::move(entity), std::move(options)}; });
}

Result<std::vector<ReceivedMessage>> Browser::try_peek(std::uint32_t max_messages,
                                                       const CallOptions& call) noexcept {
    return core::as_result([&] { return peek(max_messages, call); });
}

Result<std::optional<ReceivedMessage>> Browser::try_next(Timeout wait,
                                                         const CallOptions& call) noexcept {
    return core::as_result([&] { return next(wait, call); });
}

Result<std::vector<std::string>> try_list_sessions(const Client& client, const std::string& entity,
                                                   const ListSessionsOptions& options,
                                                   const CallOptions& call) noexcept {
    return core::as_result([&] { return list_sessions(client, entity, options, call); });
}

} // namespace sessionq::inline v1
