// SPDX-License-Identifier: MIT
#include "bench/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>

extern char** environ;

namespace sessionq::bench {
namespace {

struct Child {
    pid_t process{-1};
    int output{-1};
};

Child start(const std::vector<std::string>& command) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        return {};
    }
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (const std::string& each : command) {
        // posix_spawn takes char* but changes nothing
        arguments.push_back(const_cast<char*>(each.c_str()));
    }
    arguments.push_back(nullptr);
    Child child{.output = pipe[0]};
    if (::posix_spawnp(&child.process, arguments.front(), &actions, nullptr, arguments.data(),
                       environ) != 0) {
        child.process = -1;
    }
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    return child;
}

bool read_some(int from, std::string& text) {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return got > 0;
}

} // namespace

long process_status(pid_t process, const std::string& name) {
    std::ifstream status{"/proc/" + std::to_string(process) + "/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name + ":")) {
            return std::stol(line.substr(name.size() + 1));
        }
    }
    return 0;
}

double processor_seconds(pid_t process) {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
        return 0;
    }
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

Finished run(const std::vector<std::string>& command) {
    std::vector<std::string> limited{"timeout", "--kill-after=5", "120"};
    limited.insert(limited.end(), command.begin(), command.end());
    const Child child = start(limited);
    std::string text;
    while (read_some(child.output, text)) {
    }
    ::close(child.output);
    int status = 1;
    rusage usage{};
    if (child.process > 0) {
        ::wait4(child.process, &status, 0, &usage);
    }
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return {.output = status == 0 ? text : std::string{},
            .processor_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

} // namespace sessionq::bench
