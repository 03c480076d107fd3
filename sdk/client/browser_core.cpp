#include "client/browser_core.hpp"

#include <iterator>

#include "client/access.hpp"
#include "client/blocking.hpp"
#include "client/check.hpp"

namespace sessionq {
namespace client {
namespace {

constexpr std::uint32_t max_page_size = 4'096;
constexpr std::uint32_t sessions_per_page = 1'000;

using SessionIds = std::vector<std::string>;

BrowserOptions checked(BrowserOptions options) {
    require_option(!options.session_id || is_id(*options.session_id),
                   "BrowserOptions::session_id is longer than 128 characters");
    require_option(options.from_sequence_number >= 0,
                   "BrowserOptions::from_sequence_number must be zero or more");
    require_option(options.page_size >= 1 && options.page_size <= max_page_size,
                   "BrowserOptions::page_size must be 1 to 4,096");
    return options;
}

/// Requests the next page and adds it to `found`, until one is not full.
void ask_page(ports::Endpoint& endpoint, const std::string& entity, SessionIds found,
              const PendingPtr<SessionIds>& pending) {
    ports::ListSessionsRequest request{.entity = entity,
                                       .skip = static_cast<std::uint32_t>(found.size()),
                                       .top = sessions_per_page,
                                       .deadline = pending->deadline()};
    const auto id = endpoint.list_sessions(
        std::move(request), [&endpoint, entity, found = std::move(found),
                             pending](core::Result<SessionIds> page) mutable {
            if (pending->ended()) {
                return;
            }
            if (!page) {
                pending->complete(std::move(page));
                return;
            }
            const std::size_t count = page.value().size();
            std::move(page.value().begin(), page.value().end(), std::back_inserter(found));
            if (count < sessions_per_page) {
                pending->complete(std::move(found));
            } else {
                ask_page(endpoint, entity, std::move(found), pending);
            }
        });
    pending->ask_port([&endpoint, id] { endpoint.give_up(id); });
}

} // namespace

BrowserCore::BrowserCore(std::shared_ptr<ClientCore> client, std::string entity,
                         BrowserOptions options)
    : client_{std::move(client)},
      entity_{std::move(entity)},
      options_{checked(std::move(options))},
      thread_{client_->next_thread()} {
    check_entity(entity_);
    client_->capabilities().require(ports::Capability::peek);
}

Operation<std::vector<ReceivedMessage>> BrowserCore::peek(std::int64_t from,
                                                          std::uint32_t max_messages,
                                                          const OperationContext& context) const {
    using Messages = std::vector<ReceivedMessage>;
    require_argument(max_messages > 0, "max_messages is zero");
    ports::PeekRequest request{.entity = entity_,
                               .from_sequence_number = from,
                               .max_messages = max_messages,
                               .session_id = options_.session_id};
    return make_operation<Messages>(
        client_, *thread_.thread, context,
        [&thread = thread_,
         request = std::move(request)](const PendingPtr<Messages>& pending) mutable {
            request.deadline = pending->deadline();
            const auto id = thread.endpoint->peek(std::move(request), AnswerTo<Messages>{pending});
            pending->ask_port([&thread, id] { thread.endpoint->give_up(id); });
        });
}

Operation<SessionIds> list_sessions_operation(const std::shared_ptr<ClientCore>& client,
                                              std::string entity, const OperationContext& context) {
    check_entity(entity);
    client->capabilities().require(ports::Capability::list_sessions);
    EndpointThread& thread = client->next_thread();
    return make_operation<SessionIds>(
        client, *thread.thread, context,
        [&thread, entity = std::move(entity)](const PendingPtr<SessionIds>& pending) {
            ask_page(*thread.endpoint, entity, {}, pending);
        });
}

} // namespace client

Browser::Browser(const Client& client, std::string entity, BrowserOptions options)
    : core_{std::make_shared<const client::BrowserCore>(client::Access::core(client),
                                                        std::move(entity), std::move(options))},
      position_{core_->options().from_sequence_number} {}

std::vector<ReceivedMessage> Browser::peek(std::uint32_t max_messages,
                                           const OperationContext& context) {
    auto messages = client::block(core_->peek(position_, max_messages, context));
    if (!messages.empty()) {
        position_ = messages.back().sequence_number() + 1;
    }
    return messages;
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
    page_ = browser_->peek(browser_->core_->options().page_size);
    at_ = 0;
}

std::vector<std::string> list_sessions(const Client& client, const std::string& entity,
                                       const OperationContext& context) {
    return client::block(
        client::list_sessions_operation(client::Access::core(client), entity, context));
}

} // namespace sessionq
