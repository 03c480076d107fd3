// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "amqp/connector.hpp"
#include "contract/port_fixture.hpp"
#include "support/daemon_process.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_certificates.hpp"

namespace sessionq::test {

/// A sessionqd of this build with entities for every case. Each entity is used once, also across
/// processes that are forked after the start.
class PreparedDaemon {
public:
    enum class Kind {
        plain,         ///< over TCP, queues in memory
        tls,           ///< over TLS, queues in a store
        subscriptions, ///< over TCP, subscriptions in a store
    };
    explicit PreparedDaemon(Kind kind);
    ~PreparedDaemon();
    PreparedDaemon(const PreparedDaemon&) = delete;
    PreparedDaemon& operator=(const PreparedDaemon&) = delete;

    [[nodiscard]] static const char* describe(Kind kind);
    /// Throws std::runtime_error if no such entity was prepared or all are used.
    [[nodiscard]] std::string take(const EntitySpec& spec);
    [[nodiscard]] amqp::Target target() const;
    /// Stops the daemon. Returns true if it exited normally.
    [[nodiscard]] bool end();

private:
    struct Taken;

    const Kind kind_;
    /// In memory: a daemon can wait for a busy disk for longer than locks last.
    TemporaryDirectory directory_{TemporaryDirectory::in_memory()};
    std::unique_ptr<TestCertificates> certificates_{};
    Taken* taken_; // shared with forked processes
    std::unique_ptr<DaemonProcess> process_{};
};

} // namespace sessionq::test
