// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/connecting/broker_host.hpp"
#include "client/threads/receive_thread.hpp"
#include "server/server.hpp"
#include "tools/sessionqd/options.hpp"

namespace sessionq::sessionqd {

/// A local broker and its front on the network, running from construction until `stop` or
/// destruction.
class Daemon {
public:
    /// Throws Error if a store, a file, a queue or an address is unusable.
    explicit Daemon(const Options& options);
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    /// The URLs it listens on.
    [[nodiscard]] const std::vector<std::string>& urls() const noexcept { return urls_; }

    /// The connections and memory of its clients, and the limits that they have met, in lines of
    /// text.
    [[nodiscard]] std::string describe();

    /// Takes keys that changed and entities that are new, while clients are served. Entities that
    /// are missing or differ stay as they are. Returns a report of the changes, in lines of text.
    /// Throws Error.
    [[nodiscard]] std::string reload(const Options& options);

    /// Lets clients settle their messages, for at most `longest`, and ends their connections.
    /// Again: no effect.
    void stop(Duration longest);

private:
    struct Front {
        detail::client::ReceiveThread thread{};
        std::unique_ptr<server::Server> server{};
    };

    void make_entities(const Options& options);
    void listen(const Options& options);
    std::uint16_t listen_everywhere(amqp::ListenSettings settings);
    void end();

    server::Configuration configuration_;
    std::unique_ptr<detail::client::BrokerHost> broker_;
    std::vector<std::unique_ptr<Front>> fronts_{};
    std::vector<std::string> urls_{};
};

} // namespace sessionq::sessionqd
