// SPDX-License-Identifier: MIT
#include "tools/sessionqd/daemon.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "amqp/web_socket.hpp"
#include "client/connecting/client_core.hpp"
#include "core/log.hpp"
#include "server/configuration_change.hpp"
#include "tools/sessionqd/file_limit.hpp"

namespace sessionq::sessionqd {
namespace {

std::string url(const char* scheme, const Endpoint& endpoint, std::uint16_t port) {
    const bool is_v6 = endpoint.address.find(':') != std::string::npos;
    return std::string{scheme} + "://" + (is_v6 ? "[" + endpoint.address + "]" : endpoint.address) +
           ":" + std::to_string(port);
}

/// Lowers the number of connections to fit the system's limit of open files.
server::Limits within_file_limit(const Options& options) {
    constexpr std::size_t other_files = 64;
    server::Limits limits = options.limits;
    const std::size_t wanted = limits.admission.connections * options.receive_threads;
    const std::size_t files = raise_file_limit(wanted + other_files);
    if (files < wanted + other_files) {
        const std::size_t connections = files - std::min(files, other_files);
        limits.admission.connections =
            std::max<std::size_t>(connections / options.receive_threads, 1);
        core::log(LogLevel::warning, "sessionqd", "the limit of open files allows ", connections,
                  " connections, not ", wanted);
    }
    return limits;
}

} // namespace

Daemon::Daemon(const Options& options)
    : configuration_{options.configuration},
      broker_{
          std::make_unique<detail::client::BrokerHost>(options.data_directory, options.on_damage)} {
    make_entities(options);
    const auto message_locks = std::make_shared<server::MessageLocks>();
    const server::Limits limits = within_file_limit(options);
    for (std::size_t i = 0; i < options.receive_threads; ++i) {
        Front& front = *fronts_.emplace_back(std::make_unique<Front>());
        detail::client::run_on(front.thread, [&] {
            front.server = std::make_unique<server::Server>(
                broker_->broker(), front.thread, front.thread.io_context(),
                server::AccessPolicy{.keys = options.keys}, limits, message_locks);
        });
    }
    try {
        listen(options);
    } catch (...) {
        end();
        throw;
    }
}

Daemon::~Daemon() { end(); }

void Daemon::make_entities(const Options& options) {
    for (const std::string& path : options.configuration.ignored) {
        core::log(LogLevel::warning, "sessionqd", "--config: ", path,
                  " is not supported and is ignored; --strict-config refuses it");
    }
    for (const server::QueueEntry& queue : options.queues) {
        broker_->broker().create_queue(queue.name, queue.options, broker_->now()).take_or_throw();
    }
    server::create_entities(broker_->broker(), options.configuration, broker_->now())
        .take_or_throw();
    broker_->broker().begin(broker_->now());
}

void Daemon::listen(const Options& options) {
    amqp::TlsContextPtr tls;
    if (!options.tls_certificate_file.empty()) {
        tls =
            amqp::make_tls(amqp::TlsServerSettings{.certificate_file = options.tls_certificate_file,
                                                   .key_file = options.tls_key_file})
                .take_or_throw();
    }
    const auto listen_on = [&](const char* scheme, const Endpoint& endpoint,
                               amqp::TlsContextPtr with, std::string_view path) {
        const auto port = listen_everywhere({.address = endpoint.address,
                                             .port = endpoint.port,
                                             .tls = std::move(with),
                                             .web_socket_path = std::string{path},
                                             .web_socket_origins = options.web_socket_origins});
        urls_.push_back(url(scheme, endpoint, port));
    };
    if (options.listen) {
        listen_on("amqp", *options.listen, nullptr, {});
    }
    if (options.tls_listen) {
        listen_on("amqps", *options.tls_listen, tls, {});
    }
    if (options.web_socket_listen) {
        listen_on("ws", *options.web_socket_listen, nullptr, amqp::service_bus_web_socket_path);
    }
    if (options.tls_web_socket_listen) {
        listen_on("wss", *options.tls_web_socket_listen, tls, amqp::service_bus_web_socket_path);
    }
}

std::uint16_t Daemon::listen_everywhere(amqp::ListenSettings settings) {
    settings.share_port = fronts_.size() > 1;
    for (const auto& front : fronts_) {
        detail::client::run_on(front->thread, [&] { // the others listen on the first one's port
            settings.port = front->server->listen(settings).take_or_throw();
        });
    }
    return settings.port;
}

std::string Daemon::reload(const Options& options) {
    const auto change = server::compare(configuration_, options.configuration);
    server::apply(change, broker_->broker(), broker_->now()).take_or_throw();
    configuration_ = options.configuration;
    for (const auto& front : fronts_) {
        detail::client::run_on(front->thread, [&] { front->server->change_keys(options.keys); });
    }
    std::size_t subscriptions = 0;
    for (const server::TopicEntry& topic : change.grown) {
        subscriptions += topic.subscriptions.size();
    }
    std::string told = "read again: " + std::to_string(options.keys.size()) + " keys, " +
                       std::to_string(change.added.queues.size()) + " new queues, " +
                       std::to_string(change.added.topics.size()) + " new topics, " +
                       std::to_string(subscriptions) + " new subscriptions of others\n";
    for (const std::string& entity : change.kept) {
        told +=
            "--config: '" + entity + "' is missing or differs; it stays as it is until a restart\n";
    }
    return told;
}

std::string Daemon::describe() {
    std::string text;
    for (const auto& front : fronts_) {
        detail::client::run_on(front->thread, [&] { text += front->server->describe(); });
    }
    return text;
}

void Daemon::stop(Duration longest) {
    std::vector<std::future<void>> drained;
    for (const auto& front : fronts_) {
        auto promise = std::make_shared<std::promise<void>>();
        drained.push_back(promise->get_future());
        front->thread.post([&server = *front->server, promise, longest] {
            server.drain(longest, [promise] { promise->set_value(); });
        });
    }
    for (auto& one : drained) {
        one.get();
    }
    end();
}

// The broker calls the threads, so it ends before them.
void Daemon::end() {
    for (const auto& front : fronts_) {
        detail::client::run_on(front->thread, [&] { front->server.reset(); });
    }
    for (const auto& front : fronts_) {
        detail::client::run_on(front->thread,
                               [] {}); // messages for clients that left return to the queue
    }
    broker_.reset();
    fronts_.clear();
}

} // namespace sessionq::sessionqd
