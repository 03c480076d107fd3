// SPDX-License-Identifier: MIT
#include "support/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <thread>

#include "core/clock.hpp"

namespace sessionq::test {

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) {
        words.push_back(const_cast<char*>(argument.c_str()));
    }
    words.push_back(nullptr);
    int pipe_ends[2];
    if (::pipe2(pipe_ends, O_CLOEXEC) != 0) {
        throw std::runtime_error{"cannot create a pipe"};
    }
    id_ = ::fork();
    if (id_ == 0) { // only system calls until exec, because this process has threads
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::dup2(pipe_ends[1], STDOUT_FILENO);
        ::execv(program.c_str(), words.data());
        ::_exit(127);
    }
    ::close(pipe_ends[1]);
    output_ = pipe_ends[0];
    char character = 0;
    while (id_ > 0 && ::read(output_, &character, 1) == 1 && character != '\n') {
        first_line_ += character;
    }
    if (character != '\n') {
        kill();
        throw std::runtime_error{program + " did not start"};
    }
}

ChildProcess::~ChildProcess() { kill(); }

void ChildProcess::signal(int number) const {
    if (id_ > 0) {
        ::kill(id_, number);
    }
}

void ChildProcess::kill() {
    signal(SIGKILL);
    static_cast<void>(reap(true));
}

int ChildProcess::end(Duration longest) {
    signal(SIGTERM);
    for (const TimePoint until = core::system_clock().now() + longest;
         core::system_clock().now() < until;) {
        if (reap(false)) {
            return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    kill();
    return -1;
}

bool ChildProcess::reap(bool waits) {
    if (id_ > 0 && ::waitpid(id_, &status_, waits ? 0 : WNOHANG) == id_) {
        id_ = -1;
    }
    if (id_ <= 0 && output_ >= 0) {
        ::close(output_);
        output_ = -1;
    }
    return id_ <= 0;
}

} // namespace sessionq::test
