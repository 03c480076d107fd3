#pragma once

#include <memory>
#include <string>

#include "amqp/connector.hpp"
#include "contract/port_fixture.hpp"
#include "support/daemon_process.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_certificates.hpp"

namespace sessionq::test {

/// A sessionqd of this build with entities for every case, each given away once: also among
/// processes that are forked after it was started.
class PreparedDaemon {
public:
    enum class Kind {
        plain,         ///< over TCP, queues, everything in memory
        tls,           ///< over TLS, queues, everything kept on disk
        subscriptions, ///< over TCP, subscriptions of topics, everything kept on disk
    };
    explicit PreparedDaemon(Kind kind);
    ~PreparedDaemon();
    PreparedDaemon(const PreparedDaemon&) = delete;
    PreparedDaemon& operator=(const PreparedDaemon&) = delete;

    [[nodiscard]] static const char* describe(Kind kind);
    /// Throws std::runtime_error if none like this was prepared, or all have been given away.
    [[nodiscard]] std::string take(const EntitySpec& spec);
    [[nodiscard]] amqp::Target target() const;
    /// Stops it; whether it ended as it should.
    [[nodiscard]] bool end();

private:
    struct Taken;

    const Kind kind_;
    TemporaryDirectory directory_{};
    std::unique_ptr<TestCertificates> certificates_{};
    Taken* taken_; // shared with processes that are forked
    std::unique_ptr<DaemonProcess> process_{};
};

} // namespace sessionq::test
