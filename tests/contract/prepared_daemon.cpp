// SPDX-License-Identifier: MIT
#include "contract/prepared_daemon.hpp"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <new>
#include <ostream>
#include <stdexcept>
#include <vector>

#include "amqp/tls.hpp"
#include "broker/broker.hpp"

namespace sessionq::test {
namespace {

/// Entities with the same properties.
struct Pool {
    const char* name;
    EntitySpec spec;
    int size;
};

// The entities for all cases. Their names are the pool's name and a number.
constexpr std::array pools{
    Pool{"plain", {}, 150},
    Pool{"short", {.lock_duration = 5s}, 20},
    Pool{"twice", {.max_delivery_count = 2}, 10},
    Pool{"expiring", {.dead_letter_on_expiration = true}, 10},
    Pool{"free", {.requires_session = false}, 30},
    Pool{"freeshort", {.lock_duration = 5s, .requires_session = false}, 10},
};

void write_entity(std::ostream& to, const std::string& name, const EntitySpec& spec,
                  bool is_subscription) {
    to << ",\n{\"Name\": \"" << name << "\", "
       << (is_subscription ? R"("Subscriptions": [{"Name": "all", )" : "")
       << R"("Properties": {"RequiresSession": )" << (spec.requires_session ? "true" : "false")
       << R"(, "LockDuration": "PT)"
       << std::chrono::duration_cast<std::chrono::seconds>(spec.lock_duration).count()
       << R"(S", "MaxDeliveryCount": )" << spec.max_delivery_count
       << R"(, "DeadLetteringOnMessageExpiration": )"
       << (spec.dead_letter_on_expiration ? "true" : "false") << (is_subscription ? "}}]}" : "}}");
}

/// Writes the emulator's format.
void write_configuration(std::ostream& to, bool has_subscriptions) {
    to << R"({"UserConfig": {"Namespaces": [{"Name": "contract", "Queues": [{"Name": "onlooker"})"
       << (has_subscriptions ? R"(], "Topics": [{"Name": "unused"})" : "");
    for (const Pool& pool : pools) {
        for (int i = 0; i < pool.size; ++i) {
            write_entity(to, pool.name + std::to_string(i), pool.spec, has_subscriptions);
        }
    }
    to << "]}]}}\n";
}

/// The daemon beside this program.
std::string own_sessionqd() {
    return std::filesystem::read_symlink("/proc/self/exe").replace_filename("sessionqd");
}

} // namespace

struct PreparedDaemon::Taken {
    std::array<std::atomic<int>, pools.size()> of_pool{};
};

PreparedDaemon::PreparedDaemon(Kind kind) : kind_{kind} {
    void* shared =
        ::mmap(nullptr, sizeof(Taken), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        throw std::runtime_error{"cannot map shared memory"};
    }
    taken_ = new (shared) Taken;
    const std::string file = (directory_.path() / "config.json").string();
    std::ofstream configuration{file};
    write_configuration(configuration, kind == Kind::subscriptions);
    configuration.close();
    std::vector<std::string> arguments{
        "--config", file, kind == Kind::tls ? "--tls-listen" : "--listen", "127.0.0.1:0"};
    if (kind == Kind::tls) {
        certificates_ = std::make_unique<TestCertificates>();
        arguments.insert(arguments.end(), {"--tls-cert", certificates_->server(), "--tls-key",
                                           certificates_->server_key()});
    }
    if (kind != Kind::plain) {
        arguments.insert(arguments.end(), {"--data", (directory_.path() / "data").string()});
    }
    process_ = std::make_unique<DaemonProcess>(own_sessionqd(), arguments);
}

PreparedDaemon::~PreparedDaemon() { ::munmap(taken_, sizeof(Taken)); }

const char* PreparedDaemon::describe(Kind kind) {
    switch (kind) {
    case Kind::plain: return "over TCP, queues in memory";
    case Kind::tls: return "over TLS, queues in a store";
    default: return "over TCP, subscriptions in a store";
    }
}

std::string PreparedDaemon::take(const EntitySpec& spec) {
    for (std::size_t i = 0; i < pools.size(); ++i) {
        if (pools[i].spec == spec) {
            const int number = taken_->of_pool[i].fetch_add(1);
            if (number >= pools[i].size) {
                throw std::runtime_error{std::string{"all entities like "} + pools[i].name +
                                         " are used; prepare more"};
            }
            const std::string name = pools[i].name + std::to_string(number);
            return kind_ == Kind::subscriptions ? broker::subscription_name(name, "all") : name;
        }
    }
    throw std::runtime_error{"no such entity was prepared"};
}

amqp::Target PreparedDaemon::target() const {
    amqp::Target target{.host = "127.0.0.1", .port = process_->port()};
    if (certificates_) {
        target.tls =
            amqp::make_tls(amqp::TlsClientSettings{.ca_file = certificates_->ca()}).value();
    }
    return target;
}

bool PreparedDaemon::end() { return process_->process().end(30s) == 0; }

} // namespace sessionq::test
