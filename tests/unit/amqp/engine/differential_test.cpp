// SPDX-License-Identifier: MIT
// The same script on our engine and on Qpid Proton-C, in all four pairings of a client and a
// server: everything each side tells must be equal.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "our_side.hpp"
#include "proton_side.hpp"
#include "script_writer.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

/// A client and a server, and how the bytes between them are cut.
class Pairing {
public:
    Pairing(bool our_client, bool our_server, std::uint64_t seed, bool byte_by_byte,
            bool small_windows)
        : random_{seed}, byte_by_byte_{byte_by_byte} {
        constexpr std::array<std::uint32_t, 3> frame_sizes{512, 1024, 65536};
        SideOptions options{.max_frame_size = frame_sizes[seed % 3],
                            .frames_of_window = small_windows ? 8U : 0U};
        name_ =
            std::string{our_client ? "ours" : "Proton"} + " to " + (our_server ? "ours" : "Proton");
        client_ = make(our_client, options);
        options.is_server = true;
        server_ = make(our_server, options);
    }

    void run(const Step& step) {
        for (const Operation& operation : step) {
            if (operation.kind == Operation::Kind::begin) {
                side(!operation.by_server).expect_session(operation.session);
            }
            try {
                side(operation.by_server).apply(operation);
            } catch (const std::out_of_range&) {
                failure_ = "cannot be done with what was told: " + operation.text();
            }
        }
        // Both speak before either hears.
        for (;;) {
            const std::string from_client = client_->take();
            const std::string from_server = server_->take();
            if (from_client.empty() && from_server.empty()) {
                return;
            }
            carry(from_client, *server_);
            carry(from_server, *client_);
        }
    }

    [[nodiscard]] EngineSide& side(bool server) { return server ? *server_ : *client_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    /// An operation on what this pairing has not told of.
    [[nodiscard]] const std::string& failure() const { return failure_; }

private:
    static std::unique_ptr<EngineSide> make(bool ours, const SideOptions& options) {
        if (ours) {
            return std::make_unique<OurSide>(options);
        }
        return std::make_unique<ProtonSide>(options);
    }

    void carry(std::string_view bytes, EngineSide& to) {
        while (!bytes.empty()) {
            const std::size_t most = random_() % 4 == 0 ? 10 : 5000;
            const std::size_t count =
                byte_by_byte_ ? 1 : std::min<std::size_t>(bytes.size(), 1 + random_() % most);
            to.input(bytes.substr(0, count));
            bytes.remove_prefix(count);
        }
    }

    std::mt19937_64 random_;
    const bool byte_by_byte_;
    std::string name_{};
    std::string failure_{};
    std::unique_ptr<EngineSide> client_{};
    std::unique_ptr<EngineSide> server_{};
};

struct Counts {
    std::size_t steps{0};
    std::size_t events{0};
};

std::string list_of(const std::vector<std::string>& events) {
    std::string list;
    for (const std::string& each : events) {
        list += "    " + each + "\n";
    }
    return list.empty() ? "    nothing\n" : list;
}

/// Empty: all pairings told the same.
std::string difference(std::uint64_t seed, Counts& counts) {
    const bool byte_by_byte = seed % 10 == 0;
    const bool small_windows = seed % 4 == 0;
    const auto script = ScriptWriter{seed, byte_by_byte ? 5000U : 200000U, small_windows}.write();
    std::vector<std::unique_ptr<Pairing>> pairings;
    for (const auto& [client, server] : {std::pair{true, true}, std::pair{false, false},
                                         std::pair{true, false}, std::pair{false, true}}) {
        pairings.push_back(
            std::make_unique<Pairing>(client, server, seed, byte_by_byte, small_windows));
    }
    for (std::size_t index = 0; index < script.size(); ++index) {
        for (const auto& pairing : pairings) {
            pairing->run(script[index]);
            if (!pairing->failure().empty()) {
                return "seed " + std::to_string(seed) + ", step " + std::to_string(index) + ", " +
                       pairing->name() + ": " + pairing->failure();
            }
        }
        ++counts.steps;
        for (const bool server : {false, true}) {
            std::vector<std::vector<std::string>> told;
            for (const auto& pairing : pairings) {
                told.push_back(pairing->side(server).take_events());
            }
            counts.events += told.front().size();
            for (std::size_t i = 1; i < told.size(); ++i) {
                if (told[i] == told.front()) {
                    continue;
                }
                std::string operations;
                for (const Operation& each : script[index]) {
                    operations += "    " + each.text() + "\n";
                }
                return "seed " + std::to_string(seed) + ", step " + std::to_string(index) + ":\n" +
                       operations + "  the " + (server ? "server" : "client") + " of " +
                       pairings.front()->name() + " told\n" + list_of(told.front()) + "  and of " +
                       pairings[i]->name() + "\n" + list_of(told[i]);
            }
        }
    }
    for (const auto& pairing : pairings) {
        for (const bool server : {false, true}) {
            pairing->side(server).lose_input();
            if (const auto told = pairing->side(server).take_events(); !told.empty()) {
                return "seed " + std::to_string(seed) + ": after the end was told\n" +
                       list_of(told);
            }
        }
    }
    return {};
}

} // namespace

TEST_CASE("Engine: tells what Proton tells, for random scripts in all pairings") {
    const char* const wanted = std::getenv("SESSIONQ_SEEDS");
    const std::uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 300;
    Counts counts;
    int failures = 0;
    for (std::uint64_t seed = 0; seed < seeds && failures < 5; ++seed) {
        const std::string found = difference(seed, counts);
        INFO(found);
        CHECK(found.empty());
        failures += found.empty() ? 0 : 1;
    }
    MESSAGE(counts.steps << " steps and " << counts.events << " events of " << seeds
                         << " seeds were compared in four pairings");
}
