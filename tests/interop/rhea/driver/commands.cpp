// SPDX-License-Identifier: MIT
#include "commands.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace driver {
namespace {

using namespace sessionq;
using std::chrono::milliseconds;

Duration length(const Json& with, const char* name, Duration otherwise) {
    return with.contains(name) ? Duration{milliseconds{with.at(name).get<std::int64_t>()}}
                               : otherwise;
}

CallOptions call_of(const Json& with) {
    if (!with.contains("timeout")) {
        return {};
    }
    return {.timeout = length(with, "timeout", {})};
}

Json to_json(const ReceivedMessage& message) {
    return {{"body", std::string{message.text()}},
            {"session", std::string{message.session_id()}},
            {"id", std::string{message.message_id()}},
            {"sequence", message.sequence_number()},
            {"count", message.delivery_count()}};
}

Properties properties_of(const Json& with) {
    Properties made;
    const Json properties = with.value("properties", Json::object());
    for (const auto& [name, value] : properties.items()) {
        if (value.is_string()) {
            made.emplace(name, value.get<std::string>());
        } else if (value.is_boolean()) {
            made.emplace(name, value.get<bool>());
        } else {
            made.emplace(name, value.get<std::int64_t>());
        }
    }
    return made;
}

std::vector<Message> messages_of(const Json& with) {
    std::vector<Message> made;
    for (const Json& body : with.at("bodies")) {
        Message message{.body = body.get<std::string>(), .properties = properties_of(with)};
        if (with.contains("session")) {
            message.session_id = with.at("session").get<std::string>();
        }
        made.push_back(std::move(message));
    }
    return made;
}

SessionProcessorOptions options_of(const Json& with) {
    SessionProcessorOptions options;
    options.max_concurrent_sessions = with.value("slots", 2U);
    options.max_concurrent_calls_per_session = with.value("calls", 1U);
    options.session_idle_timeout = length(with, "idle", milliseconds{200});
    options.accept_wait = length(with, "wait", milliseconds{2000});
    options.prefetch = with.value("prefetch", 0U);
    options.session_ids = with.value("sessions", std::vector<std::string>{});
    options.worker_threads = 2;
    return options;
}

/// Gives tokens as a case orders: their number, their lifetime, and which requests fail.
class ScriptedCredential final : public TokenCredential {
public:
    ScriptedCredential(const Json& with, std::function<void(const Json&)> tell)
        : with_(with), tell_{std::move(tell)} {} // braces would make a list of it

    AccessToken get_token(const TokenRequest& request) override {
        const int number = ++given_;
        tell_({{"event", "token_asked"}, {"number", number}, {"scope", request.scope}});
        std::this_thread::sleep_for(length(with_, "delay", {}));
        const int fails_from = with_.value("fails_from", 0);
        const int fails_to = with_.value("fails_to", 0);
        if (number >= fails_from && number <= fails_to) {
            throw std::runtime_error{"no token today"};
        }
        return {.token = "token-" + std::to_string(number),
                .expires = std::chrono::system_clock::now() +
                           length(with_, "lasts", milliseconds{3'600'000})};
    }

private:
    const Json with_;
    const std::function<void(const Json&)> tell_;
    std::atomic<int> given_{0};
};

} // namespace

Json to_json(const Failure& failure) {
    return {{"error", std::string{to_string(failure.code)}},
            {"detail", failure.detail},
            {"condition", failure.peer_condition},
            {"text", failure.peer_text},
            {"retryable", failure.retryable()}};
}

/// A processor whose handler follows orders in the message body, and reports.
struct Commands::Processor {
    Processor(const Client& client, const Json& with, const std::function<void(const Json&)>& tell)
        : processor{client, with.at("entity").get<std::string>(), options_of(with)} {
        const Duration takes = length(with, "takes", {});
        processor.on_message([takes, tell](MessageContext& call) {
            tell({{"event", "message"}, {"message", to_json(call.message())}});
            if (takes > Duration::zero()) {
                std::this_thread::sleep_for(takes);
            }
            if (call.message().text().starts_with("throw")) {
                throw std::runtime_error{"as the message says"};
            }
        });
        processor.on_session_open([tell](SessionContext& session) {
            tell({{"event", "opened"}, {"session", session.session_id()}});
        });
        processor.on_session_close([tell](SessionContext& session, CloseReason why) {
            tell({{"event", "closed"},
                  {"session", session.session_id()},
                  {"why", std::string{to_string(why)}}});
        });
        processor.on_error([tell](const ErrorContext& error) {
            tell({{"event", "error"},
                  {"source", std::string{to_string(error.source)}},
                  {"session", error.session_id},
                  {"failure", driver::to_json(error.failure)}});
        });
        processor.start();
    }

    SessionProcessor processor;
};

Json Commands::run(const std::string& name, const Json& with) {
    static const std::map<std::string, Json (Commands::*)(const Json&), std::less<>> all{
        {"connect", &Commands::connect},   {"accept", &Commands::accept},
        {"receive", &Commands::receive},   {"receive_deferred", &Commands::receive_deferred},
        {"settle", &Commands::settle},     {"close", &Commands::close},
        {"loss", &Commands::loss},         {"lock", &Commands::lock},
        {"state", &Commands::state},       {"set_state", &Commands::set_state},
        {"renew", &Commands::renew},       {"send", &Commands::send},
        {"schedule", &Commands::schedule}, {"cancel", &Commands::cancel},
        {"peek", &Commands::peek},         {"sessions", &Commands::sessions},
        {"start", &Commands::start},       {"stop", &Commands::stop},
        {"describe", &Commands::describe}, {"disconnect", &Commands::disconnect}};
    const auto found = all.find(name);
    if (found == all.end()) {
        throw std::invalid_argument{"unknown command '" + name + "'"};
    }
    return (this->*found->second)(with);
}

Client Commands::client() {
    const std::lock_guard lock{mutex_};
    return client_.value();
}

std::shared_ptr<SessionReceiver> Commands::receiver(const Json& with) {
    const std::lock_guard lock{mutex_};
    return receivers_.at(with.at("of").get<std::string>());
}

std::shared_ptr<Commands::Processor> Commands::processor(const Json& with) {
    const std::lock_guard lock{mutex_};
    return processors_.at(with.at("of").get<std::string>());
}

Json Commands::keep(std::vector<SessionMessage> messages) {
    const std::lock_guard lock{mutex_};
    Json told = Json::array();
    for (SessionMessage& message : messages) {
        Json each = to_json(message.message());
        each["handle"] = ++last_message_;
        messages_.emplace(last_message_, std::make_shared<SessionMessage>(std::move(message)));
        told.push_back(std::move(each));
    }
    return told;
}

Json Commands::connect(const Json& with) {
    const bool over_web_socket = with.value("transport", "") == "web_sockets";
    const ClientOptions options{
        .operation_timeout = length(with, "operation_timeout", std::chrono::seconds{10}),
        .connection_idle_timeout = length(with, "idle_timeout", std::chrono::seconds{120}),
        .transport = over_web_socket ? std::optional{Transport::web_sockets} : std::nullopt};
    const auto where = with.at("connection").get<std::string>();
    Client made =
        with.contains("credential")
            ? Client::connect(where,
                              std::make_shared<ScriptedCredential>(with.at("credential"), tell_),
                              options)
            : Client::connect(where, options);
    const std::lock_guard lock{mutex_};
    client_.emplace(std::move(made));
    return Json::object();
}

Json Commands::accept(const Json& with) {
    const SessionReceiverOptions options{.receive_and_delete = with.value("removes", false),
                                         .auto_renew = with.value("renews", false)};
    const auto entity = with.at("entity").get<std::string>();
    const auto take = [&]() -> std::optional<SessionReceiver> {
        if (with.contains("session")) {
            return SessionReceiver::accept(client(), entity, with.at("session").get<std::string>(),
                                           options, call_of(with));
        }
        if (with.contains("wait")) {
            return SessionReceiver::accept_next_if_any(client(), entity, length(with, "wait", {}),
                                                       options, call_of(with));
        }
        return SessionReceiver::accept_next(client(), entity, options, call_of(with));
    };
    std::optional<SessionReceiver> taken = take();
    if (!taken) {
        return {{"session", nullptr}};
    }
    const auto made = std::make_shared<SessionReceiver>(std::move(*taken));
    const std::lock_guard lock{mutex_};
    receivers_[with.value("as", "r")] = made;
    return {{"session", made->session_id()}};
}

Json Commands::receive(const Json& with) {
    return keep(receiver(with)->receive(with.value("max", std::size_t{1}),
                                        length(with, "wait", Duration::max()), call_of(with)));
}

Json Commands::receive_deferred(const Json& with) {
    return keep(receiver(with)->receive_deferred(
        with.at("sequences").get<std::vector<std::int64_t>>(), call_of(with)));
}

Json Commands::settle(const Json& with) {
    const auto message = [&] {
        const std::lock_guard lock{mutex_};
        return messages_.at(with.at("message").get<int>());
    }();
    const auto how = with.at("how").get<std::string>();
    const CallOptions call = call_of(with);
    if (how == "complete") {
        message->complete(call);
    } else if (how == "abandon") {
        message->abandon(properties_of(with), call);
    } else if (how == "release") {
        message->release(call);
    } else if (how == "defer") {
        message->defer(properties_of(with), call);
    } else if (how == "dead_letter") {
        message->dead_letter(with.value("reason", ""), with.value("description", ""),
                             properties_of(with), call);
    } else {
        throw std::invalid_argument{"unknown settlement '" + how + "'"};
    }
    return Json::object();
}

Json Commands::close(const Json& with) {
    receiver(with)->close(call_of(with));
    return Json::object();
}

Json Commands::loss(const Json& with) {
    const auto loss = receiver(with)->loss();
    return loss ? to_json(*loss) : Json(nullptr);
}

Json Commands::lock(const Json& with) {
    const auto left = receiver(with)->lock_expires().remaining(std::chrono::steady_clock::now());
    return std::chrono::duration_cast<milliseconds>(left).count();
}

Json Commands::state(const Json& with) {
    const auto state = receiver(with)->state(call_of(with));
    return state ? Json(*state) : Json(nullptr);
}

Json Commands::set_state(const Json& with) {
    const Json& value = with.at("value");
    receiver(with)->set_state(
        value.is_null() ? std::nullopt : std::optional{value.get<std::string>()}, call_of(with));
    return Json::object();
}

Json Commands::renew(const Json& with) {
    static_cast<void>(receiver(with)->renew_lock(call_of(with)));
    return Json::object();
}

Json Commands::send(const Json& with) {
    Sender sender{client(), with.at("entity").get<std::string>()};
    sender.send_all(messages_of(with), call_of(with));
    return Json::object();
}

Json Commands::schedule(const Json& with) {
    Sender sender{client(), with.at("entity").get<std::string>()};
    return sender.schedule_all(messages_of(with),
                               std::chrono::system_clock::now() +
                                   length(with, "in", std::chrono::hours{1}),
                               call_of(with));
}

Json Commands::cancel(const Json& with) {
    Sender sender{client(), with.at("entity").get<std::string>()};
    sender.cancel_scheduled(with.at("sequences").get<std::vector<std::int64_t>>(), call_of(with));
    return Json::object();
}

Json Commands::peek(const Json& with) {
    BrowserOptions options{.from_sequence_number = with.value("from", std::int64_t{0})};
    if (with.contains("session")) {
        options.session_id = with.at("session").get<std::string>();
    }
    Browser browser{client(), with.at("entity").get<std::string>(), options};
    Json told = Json::array();
    for (const ReceivedMessage& message : browser.peek(with.value("max", 10U), call_of(with))) {
        told.push_back(to_json(message));
    }
    return told;
}

Json Commands::sessions(const Json& with) {
    return list_sessions(client(), with.at("entity").get<std::string>(), {}, call_of(with));
}

Json Commands::start(const Json& with) {
    const auto made = std::make_shared<Processor>(client(), with, tell_);
    const std::lock_guard lock{mutex_};
    processors_[with.value("as", "p")] = made;
    return Json::object();
}

Json Commands::stop(const Json& with) {
    const StopReport report =
        processor(with)->processor.stop(length(with, "timeout", std::chrono::seconds{5}));
    return {{"complete", report.complete},
            {"released", report.released},
            {"left", report.left},
            {"sessions", report.sessions}};
}

Json Commands::describe(const Json& with) {
    const ProcessorDescription described = processor(with)->processor.describe();
    const ProcessorCounters& counters = described.counters;
    Json degraded = Json::array();
    for (const HealthReason& reason : described.health.reasons) {
        degraded.push_back(reason.to_string());
    }
    return {{"degraded", degraded},
            {"handled", counters.messages_handled},
            {"completed", counters.messages_completed},
            {"opened", counters.sessions_opened},
            {"closed", counters.sessions_closed},
            {"lost", counters.locks_lost},
            {"empty_accepts", counters.empty_accepts},
            {"accept_failures", counters.accept_failures},
            {"late_accepts", counters.late_accepts},
            {"settlement_failures", counters.settlement_failures},
            {"renewals", counters.lock_renewals}};
}

Json Commands::disconnect(const Json& /*with*/) {
    const auto taken = [&] {
        const std::lock_guard lock{mutex_};
        messages_.clear();
        return std::tuple{std::exchange(processors_, {}), std::exchange(receivers_, {}),
                          std::exchange(client_, std::nullopt)};
    }();
    return Json::object();
}

} // namespace driver
