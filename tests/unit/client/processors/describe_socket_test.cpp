// SPDX-License-Identifier: MIT
#include "client/processors/describe_endpoint.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <latch>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <nlohmann/json.hpp>

#include <sessionq/client.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/processor.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_processor.hpp>

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

/// A directory of this test, short enough for a socket's path.
struct SocketDirectory {
    std::filesystem::path path;

    SocketDirectory() {
        std::string made = (std::filesystem::temp_directory_path() / "sessionq-XXXXXX").string();
        REQUIRE(::mkdtemp(made.data()) != nullptr);
        path = made;
    }
    ~SocketDirectory() { std::filesystem::remove_all(path); }
    SocketDirectory(const SocketDirectory&) = delete;
    SocketDirectory& operator=(const SocketDirectory&) = delete;

    [[nodiscard]] std::string socket() const { return path / "processor"; }
};

/// All that a visitor is told.
std::string visit(const std::string& path) {
    asio::io_context context;
    asio::local::stream_protocol::socket socket{context};
    socket.connect(asio::local::stream_protocol::endpoint{path});
    std::string text;
    asio::error_code end;
    asio::read(socket, asio::dynamic_buffer(text), end);
    CHECK(end == asio::error::eof);
    return text;
}

std::string refusal(const std::string& path) {
    try {
        const detail::client::DescribeEndpoint endpoint{path, [] { return std::string{}; },
                                                        core::system_clock()};
        return "opened";
    } catch (const Error& error) {
        CHECK(error.code() == Errc::invalid_option);
        return error.what();
    }
}

} // namespace

TEST_CASE("describe socket: it tells whoever connects of the processor, from start to end") {
    const SocketDirectory directory;
    LocalBroker broker;
    broker.create_queue("orders");
    const Client client = Client::in_process(broker);
    {
        SessionProcessor processor{
            client, "orders", {.worker_threads = 1, .describe_socket = directory.socket()}};
        std::latch handling{1};
        std::latch goes_on{1};
        processor.on_message([&](MessageContext&) {
            handling.count_down();
            goes_on.wait();
        });
        CHECK_FALSE(std::filesystem::exists(directory.socket()));
        processor.start();
        Sender{client, "orders"}.send(Message::of("1").in_session("ada"));
        handling.wait();
        const auto told = nlohmann::json::parse(visit(directory.socket()));
        CHECK(told.at("version") == 1);
        CHECK(told.at("time").get<std::string>().ends_with("Z"));
        CHECK(told.at("processor").at("state") == "running");
        CHECK(told.at("processor").at("entities") == nlohmann::json{"orders"});
        CHECK(told.at("processor").at("slots").at(0).at("session_id") == "ada");
        CHECK(told.at("processor").at("slots").at(0).at("running") == 1);
        bool has_gauges = false;
        for (const auto& metric : told.at("metrics")) {
            has_gauges = has_gauges || metric.at("name") == "sessionq.slot.count";
        }
        CHECK(has_gauges);
        goes_on.count_down();
        CHECK(processor.stop(30s).complete);
        CHECK(nlohmann::json::parse(visit(directory.socket())).at("processor").at("state") ==
              "stopped");
        processor.on_message([](MessageContext&) {});
        processor.start(); // again, with the same socket
        CHECK(nlohmann::json::parse(visit(directory.socket())).at("processor").at("state") ==
              "running");
    }
    CHECK_FALSE(std::filesystem::exists(directory.socket()));
}

TEST_CASE("describe socket: only the owner may connect") {
    const SocketDirectory directory;
    const ::mode_t before = ::umask(0);
    const detail::client::DescribeEndpoint endpoint{
        directory.socket(), [] { return std::string{"x"}; }, core::system_clock()};
    ::umask(before);
    struct ::stat found {};
    REQUIRE(::stat(directory.socket().c_str(), &found) == 0);
    CHECK((found.st_mode & 0777U) == 0600U);
}

TEST_CASE("describe socket: a visitor that reads nothing does not keep the next one waiting for "
          "ever") {
    const SocketDirectory directory;
    const std::string document(8U << 20U, 'x'); // more than a socket's buffer
    const detail::client::DescribeEndpoint endpoint{directory.socket(), [&] { return document; },
                                                    core::system_clock()};
    asio::io_context context;
    asio::local::stream_protocol::socket silent{context};
    silent.connect(asio::local::stream_protocol::endpoint{directory.socket()});
    CHECK(visit(directory.socket()).size() == document.size());
}

TEST_CASE("describe socket: it replaces what a process left behind, and nothing else") {
    const SocketDirectory directory;
    {
        asio::io_context context;
        asio::local::stream_protocol::acceptor left{
            context, asio::local::stream_protocol::endpoint{directory.socket()}};
    }
    REQUIRE(std::filesystem::exists(directory.socket()));
    {
        const detail::client::DescribeEndpoint endpoint{
            directory.socket(), [] { return std::string{"x"}; }, core::system_clock()};
        CHECK(visit(directory.socket()) == "x");
        CHECK(refusal(directory.socket()).find("another processor has opened it") !=
              std::string::npos);
        CHECK(visit(directory.socket()) == "x"); // the first one still has it
    }
    const std::string file = directory.path / "file";
    std::ofstream{file} << "kept";
    CHECK(refusal(file).find("not a socket") != std::string::npos);
    CHECK(std::filesystem::file_size(file) == 4);
    CHECK(refusal(directory.path / "nowhere" / "socket").find("No such file") != std::string::npos);
}

TEST_CASE("describe socket: a socket that another one has replaced stays") {
    const SocketDirectory directory;
    {
        const detail::client::DescribeEndpoint endpoint{
            directory.socket(), [] { return std::string{"x"}; }, core::system_clock()};
        std::filesystem::remove(directory.socket());
        std::ofstream{directory.socket()} << "kept";
    }
    CHECK(std::filesystem::exists(directory.socket()));
}

TEST_CASE("describe socket: a start that cannot open it says so and may be repeated") {
    const SocketDirectory directory;
    LocalBroker broker;
    broker.create_queue("plain", {.requires_session = false});
    Processor processor{Client::in_process(broker),
                        "plain",
                        {.worker_threads = 1, .describe_socket = directory.path / "not" / "there"}};
    processor.on_message([](MessageContext&) {});
    CHECK_THROWS_WITH_AS(
        processor.start(),
        doctest::Contains((std::string{"describe_socket '"} +
                           (directory.path / "not" / "there").string() + "': No such file")
                              .c_str()),
        Error);
    std::filesystem::create_directory(directory.path / "not");
    processor.start();
    CHECK(nlohmann::json::parse(visit(directory.path / "not" / "there"))
              .at("processor")
              .at("state") == "running");
}
