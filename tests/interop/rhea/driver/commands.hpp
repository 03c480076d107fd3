// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

#include <sessionq/sessionq.hpp>

namespace driver {

using Json = nlohmann::json;

/// A sessionq application that carries out commands by name and returns the results.
///
/// Thread-safe: several threads may call `run` at once.
class Commands {
public:
    /// `tell` is called with events, on any thread.
    explicit Commands(std::function<void(const Json&)> tell) : tell_{std::move(tell)} {}

    /// Carries out one command and returns its result. Throws what sessionq throws.
    [[nodiscard]] Json run(const std::string& name, const Json& with);

private:
    struct Processor;

    Json connect(const Json& with);
    Json accept(const Json& with);
    Json receive(const Json& with);
    Json receive_deferred(const Json& with);
    Json settle(const Json& with);
    Json close(const Json& with);
    Json loss(const Json& with);
    Json lock(const Json& with);
    Json state(const Json& with);
    Json set_state(const Json& with);
    Json renew(const Json& with);
    Json send(const Json& with);
    Json schedule(const Json& with);
    Json cancel(const Json& with);
    Json peek(const Json& with);
    Json sessions(const Json& with);
    Json start(const Json& with);
    Json stop(const Json& with);
    Json describe(const Json& with);
    Json disconnect(const Json& with);

    [[nodiscard]] sessionq::Client client();
    [[nodiscard]] std::shared_ptr<sessionq::SessionReceiver> receiver(const Json& with);
    [[nodiscard]] std::shared_ptr<Processor> processor(const Json& with);
    [[nodiscard]] Json keep(std::vector<sessionq::SessionMessage> messages);

    const std::function<void(const Json&)> tell_;
    std::mutex mutex_; // guards the members below
    std::optional<sessionq::Client> client_{};
    std::map<std::string, std::shared_ptr<sessionq::SessionReceiver>> receivers_{};
    std::map<int, std::shared_ptr<sessionq::SessionMessage>> messages_{};
    int last_message_{0};
    std::map<std::string, std::shared_ptr<Processor>> processors_{};
};

/// An error as the cases see it.
[[nodiscard]] Json to_json(const sessionq::Failure& failure);

} // namespace driver
