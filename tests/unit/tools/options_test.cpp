// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>
#include <vector>

#include <sessionq/version.hpp>

#include "support/temporary_directory.hpp"
#include "tools/sessionqd/options.hpp"
#include "unit/server/emulator_config.hpp"

using namespace sessionq::sessionqd;
using namespace sessionq::test;

namespace {

ParsedCommandLine parse(const std::vector<const char*>& given) {
    std::vector<const char*> arguments{"sessionqd"};
    for (const char* argument : given) {
        arguments.push_back(argument);
    }
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

Options options(const std::vector<const char*>& arguments) { return parse(arguments).options; }

std::string complaint(const std::vector<const char*>& arguments) {
    try {
        static_cast<void>(parse(arguments));
    } catch (const UsageError& error) {
        return error.what();
    }
    return {};
}

bool names(const std::string& text, const char* option) {
    return text.find(option) != std::string::npos;
}

} // namespace

TEST_CASE("Options: alone, it listens where the emulator does, for this machine, with the "
          "emulator's key") {
    const Options made = options({});
    REQUIRE(made.listen);
    CHECK(made.listen->address == "127.0.0.1");
    CHECK(made.listen->port == 5672);
    CHECK_FALSE(made.tls_listen);
    CHECK(made.keys ==
          sessionq::server::AccessKeys{{"RootManageSharedAccessKey", "SAS_KEY_VALUE"}});
    CHECK(made.queues.empty());
}

TEST_CASE("Options: WebSockets are listened for where it is asked, plain ones on this machine only "
          "unless told") {
    const Options made = options({"--ws-listen", "127.0.0.1:8080"});
    REQUIRE(made.web_socket_listen);
    CHECK(made.web_socket_listen->port == 8080);
    CHECK_FALSE(made.listen);
    CHECK(options({"--ws-listen", "127.0.0.1:8080", "--listen", "127.0.0.1:5672"}).listen);
    CHECK(names(complaint({"--ws-listen", "0.0.0.0:80"}), "--ws-listen"));
    CHECK(options({"--ws-listen", "0.0.0.0:80", "--allow-plain-remote", "--key", "k=v"})
              .web_socket_listen->address == "0.0.0.0");
    CHECK(names(complaint({"--wss-listen", "0.0.0.0:443"}), "--tls-cert"));
    CHECK(options({"--wss-listen", "0.0.0.0:443", "--tls-cert", "c.pem", "--key", "k=v"})
              .tls_web_socket_listen->port == 443);
}

TEST_CASE("Options: queues say whether they have sessions and how long locks last") {
    const Options made =
        options({"--queue", "a", "--queue", "b:session", "--queue", "c/d:session:lock=5"});
    REQUIRE(made.queues.size() == 3);
    CHECK(made.queues[0].name == "a");
    CHECK_FALSE(made.queues[0].options.requires_session);
    CHECK(made.queues[1].options.requires_session);
    CHECK(made.queues[1].options.lock_duration == std::chrono::seconds{60});
    CHECK(made.queues[2].name == "c/d");
    CHECK(made.queues[2].options.lock_duration == std::chrono::seconds{5});
    for (const char* wrong :
         {":session", "a:sesion", "a:lock=", "a:lock=0", "a:lock=301", "a:lock=5s"}) {
        CAPTURE(wrong);
        CHECK(names(complaint({"--queue", wrong}), "--queue"));
    }
}

TEST_CASE("Options: a configuration is read with the queues beside it, and what is wrong is named "
          "with the file and the path") {
    const TemporaryDirectory folder;
    const std::string file = folder.path() / "Config.json";
    const auto write = [&](const char* text) { std::ofstream{file} << text; };
    write(emulator_config);
    const Options made = options({"--config", file.c_str(), "--queue", "extra"});
    CHECK(made.configuration.queues.size() == 2);
    CHECK(made.configuration.topics.size() == 1);
    CHECK(made.queues.size() == 1);
    CHECK(names(complaint({"--config", file.c_str(), "--queue", "Archive"}),
                "Queues[1]: entity 'archive' already exists"));
    write(R"({"UserConfig": {"Namespaces": [
        {"Name": "n", "Queues": [{"Name": "q", "Properties": {"Foo": 1}}]}]}})");
    CHECK(complaint({"--config", file.c_str()}) ==
          "--config: '" + file +
              "': UserConfig.Namespaces[0].Queues[0].Properties.Foo: unknown member");
    write(R"({"UserConfig": {"Namespaces": [
        {"Name": "n", "Queues": [{"Name": "q", "Properties": {"Status": "Active"}}]}]}})");
    CHECK(options({"--config", file.c_str()}).configuration.ignored ==
          std::vector<std::string>{"UserConfig.Namespaces[0].Queues[0].Properties.Status"});
    CHECK(names(complaint({"--config", file.c_str(), "--strict-config"}),
                "Properties.Status: unknown member"));
    CHECK(complaint({"--strict-config"}) == "--strict-config: needs --config");
    CHECK(names(complaint({"--config", "/nonexistent/Config.json"}),
                "cannot read '/nonexistent/Config.json'"));
    CHECK(names(complaint({"--config", folder.path().c_str()}), "cannot read"));
    CHECK(names(complaint({"--config", ""}), "cannot read"));
    CHECK(names(complaint({"--config", "/dev/zero"}), "more than 16 MiB"));
}

TEST_CASE("Options: keys replace the emulator's, come from several places, and are not repeated in "
          "complaints") {
    CHECK(options({"--key", "one=a=b=", "--key", "two=c"}).keys ==
          sessionq::server::AccessKeys{{"one", "a=b="}, {"two", "c"}});
    for (const char* wrong : {"secret", "=secret", "secret="}) {
        CHECK(names(complaint({"--key", wrong}), "--key"));
        CHECK_FALSE(names(complaint({"--key", wrong}), "secret"));
    }
    setenv("SESSIONQD_KEY", "three=d:listen", 1);
    const auto both = options({"--key", "one=a"}).keys;
    CHECK(both.size() == 2);
    CHECK(names(complaint({"--key", "three=e"}), "SESSIONQD_KEY line 1: the key 'three'"));
    unsetenv("SESSIONQD_KEY");
    CHECK(names(complaint({"--key-file", "/nonexistent"}), "--key-file '/nonexistent'"));
}

TEST_CASE("Options: where other machines reach it, it needs keys of its own") {
    for (const char* option : {"--listen", "--tls-listen", "--ws-listen", "--wss-listen"}) {
        for (const char* remote : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[::ffff:10.0.0.1]:1"}) {
            CAPTURE(option);
            CAPTURE(remote);
            std::vector<const char*> arguments{option, remote, "--allow-plain-remote"};
            if (names(option, "tls") || names(option, "wss")) {
                arguments.insert(arguments.end(), {"--tls-cert", "c.pem"});
            }
            CHECK(names(complaint(arguments), "--key-file"));
            arguments.insert(arguments.end(), {"--key", "mine=SAS_KEY_VALUE"});
            CHECK(names(complaint(arguments), "--key-file"));
            arguments.back() = "mine=abc";
            CHECK(complaint(arguments).empty());
        }
    }
}

TEST_CASE("Options: what clients may take is bounded, and the memory's parts follow the whole") {
    const Options usual = options({});
    CHECK(usual.limits.memory.all == sessionq::server::MemoryLimits{}.all);
    CHECK(usual.limits.memory.connection == sessionq::server::MemoryLimits{}.connection);
    CHECK(usual.limits.admission.connections == 5000);
    const auto said = options({"--memory", "36"}).limits.memory; // the default in the help
    CHECK(said.all == usual.limits.memory.all);
    CHECK(said.connection == usual.limits.memory.connection);
    CHECK(said.unclaimed == usual.limits.memory.unclaimed);
    CHECK(said.unclaimed_connection == usual.limits.memory.unclaimed_connection);
    const Options more =
        options({"--memory", "400", "--connections", "20", "--connections-per-address", "10"});
    CHECK(more.limits.memory.all == std::size_t{400} << 20U);
    CHECK(more.limits.memory.connection == std::size_t{100} << 20U);
    CHECK(more.limits.memory.unclaimed_connection == usual.limits.memory.unclaimed_connection);
    CHECK(more.limits.admission.connections == 20);
    CHECK(more.limits.admission.connections_per_address == 10);
    const auto shared = options({"--memory", "400", "--connections", "21", "--receive-threads", "4",
                                 "--connections-per-address", "10"});
    CHECK(shared.limits.memory.all == std::size_t{100} << 20U);
    CHECK(shared.limits.memory.connection == std::size_t{25} << 20U);
    CHECK(shared.limits.admission.connections == 5);
    CHECK(shared.limits.admission.connections_per_address == 2);
    CHECK(options({"--receive-threads", "9"}).limits.memory.all == usual.limits.memory.all);
    CHECK(complaint({"--memory", "63", "--receive-threads", "4"}) ==
          "--memory: each of the 4 receive threads needs 16");
    CHECK(options({"--memory", "16"}).limits.memory.all == std::size_t{16} << 20U);
    CHECK(names(complaint({"--memory", "15"}), "--memory"));
    const auto size_of = [](std::vector<const char*> with) {
        with.insert(with.end(), {"--queue", "orders:session"});
        return options(with).queues.at(0).options.max_size_bytes;
    };
    CHECK(size_of({}) == std::uint64_t{1} << 30U);
    CHECK(size_of({"--queue-size", "5"}) == std::uint64_t{5} << 20U);
    CHECK(size_of({"--queue-size", "0"}) == 0);
    const auto largest = [](std::vector<const char*> with) {
        with.insert(with.end(), {"--queue", "orders"});
        const Options chosen = options(with);
        const std::size_t bytes = chosen.queues.at(0).options.max_message_bytes;
        CHECK(chosen.limits.request_bytes > bytes);
        CHECK(chosen.limits.memory.connection >= 6 * bytes);
        CHECK(chosen.limits.memory.all >= 4 * chosen.limits.memory.connection);
        return bytes >> 10U;
    };
    CHECK(largest({}) == 1024);
    CHECK(largest({"--tier", "premium"}) == 1024);
    CHECK(largest({"--tier", "standard"}) == 256);
    CHECK(largest({"--tier", "standard", "--max-message-size", "64"}) == 64);
    CHECK(largest({"--max-message-size", "102400"}) == 102400);
    CHECK(largest({"--max-message-size", "4096", "--memory", "96"}) == 4096);
    CHECK(complaint({"--max-message-size", "4096", "--memory", "95"}) ==
          "--memory: messages of --max-message-size need 96 for each receive thread");
    CHECK(complaint({"--tier", "standard", "--max-message-size", "257"}) ==
          "--max-message-size: the standard tier has at most 256");
    CHECK(complaint({"--tier", "basic"}) == "--tier: 'basic' is not standard or premium");
    CHECK(names(complaint({"--max-message-size", "0"}), "--max-message-size"));
    CHECK(names(complaint({"--connections", "0"}), "--connections"));
    CHECK(names(complaint({"--connections-per-address", "0"}), "--connections-per-address"));
}

TEST_CASE("Options: addresses are numeric and have a port") {
    CHECK(options({"--listen", "127.0.0.1:0"}).listen->port == 0);
    CHECK(options({"--listen", "[::1]:5673"}).listen->address == "::1");
    CHECK(options({"--listen", "localhost:1"}).listen->address == "127.0.0.1");
    for (const char* wrong : {"5672", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:5x",
                              "example.org:5672", ":1"}) {
        CAPTURE(wrong);
        CHECK(names(complaint({"--listen", wrong}), "--listen"));
    }
}

TEST_CASE("Options: where other machines reach it, it listens without encryption only if told so") {
    for (const char* remote : {"0.0.0.0:5672", "192.168.0.1:5672", "[::]:5672"}) {
        CAPTURE(remote);
        CHECK(names(complaint({"--listen", remote, "--key", "k=v"}), "--allow-plain-remote"));
        CHECK(options({"--listen", remote, "--allow-plain-remote", "--key", "k=v"}).listen);
    }
}

TEST_CASE("Options: TLS needs a certificate, and alone does not listen without encryption") {
    const Options made = options({"--tls-listen", "0.0.0.0:5671", "--tls-cert", "c.pem",
                                  "--tls-key", "k.pem", "--key", "k=v"});
    REQUIRE(made.tls_listen);
    CHECK_FALSE(made.listen);
    CHECK(made.tls_listen->port == 5671);
    CHECK(names(complaint({"--tls-listen", "0.0.0.0:5671"}), "--tls-cert"));
    CHECK(names(complaint({"--tls-cert", "c.pem"}), "--tls-listen"));
    CHECK(names(complaint({"--tls-key", "k.pem"}), "--tls-cert"));
}

TEST_CASE("Options: what is not known or out of range is named; help is no complaint") {
    CHECK(complaint({"--frobnicate"}) == "--frobnicate: no such option");
    // what follows may be a secret
    CHECK(complaint({"--kye", "name=secret"}) == "--kye: no such option; did you mean '--key'?");
    CHECK(complaint({"--kye=name=secret"}) == "--kye: no such option; did you mean '--key'?");
    CHECK(complaint({"name=secret"}) == "there are more arguments than expected");
    CHECK(names(complaint({"--key-file", ""}), "--key-file ''"));
    CHECK(names(complaint({"--receive-threads", "0"}), "--receive-threads"));
    CHECK(names(complaint({"--drain-seconds", "-1"}), "--drain-seconds"));
    CHECK(names(complaint({"--data", ""}), "--data: the directory is empty"));
    CHECK(names(complaint({"--data", "d", "--on-damage", "ignore"}),
                "--on-damage: 'ignore' is not refuse or set-aside"));
    CHECK(names(complaint({"--on-damage", "refuse"}), "--on-damage: needs --data"));
    const std::string version = parse({"--version"}).help;
    CHECK(version == "sessionqd " + std::string{sessionq::version().text} + "\n");
    const ParsedCommandLine help = parse({"--help"});
    CHECK(names(help.help, "--queue"));
}

TEST_CASE("Options: damaged data is refused, unless it may be set aside") {
    CHECK(options({"--data", "d"}).on_damage == sessionq::OnDamage::refuse);
    CHECK(options({"--data", "d", "--on-damage", "refuse"}).on_damage ==
          sessionq::OnDamage::refuse);
    CHECK(options({"--on-damage", "set-aside", "--data", "d"}).on_damage ==
          sessionq::OnDamage::set_aside);
}

TEST_CASE("Options: the manual page and the completions name every option, and need no other") {
    const std::string page = parse({"--man-page"}).help;
    CHECK(page.starts_with(".TH SESSIONQD 1"));
    for (const char* const shell : {"bash", "zsh", "fish"}) {
        CAPTURE(shell);
        const std::string script = parse({"--completion", shell}).help;
        for (const char* const option : {"listen", "key-file", "queue-size", "completion"}) {
            CHECK(names(script, option));
        }
    }
    CHECK(names(page, "\\-\\-key\\-file"));
    CHECK(parse({}).help.empty());
    CHECK(complaint({"--completion", "csh"}) == "--completion: 'csh' is not bash, zsh or fish");
}
