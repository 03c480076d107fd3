// SPDX-License-Identifier: MIT
// The suite on daemons, in real time. Cases mostly wait, so several processes run them at once,
// each taking the next free case. All processes share the daemons. Accepts doctest's filters.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "contract/daemon_fixture.hpp"

namespace {

using sessionq::test::DaemonFixture;
using sessionq::test::PreparedDaemon;
using Kind = PreparedDaemon::Kind;

constexpr int processes = 12;
constexpr std::array kinds{Kind::plain, Kind::tls, Kind::subscriptions};

unsigned cases_that_pass_the_filters = 0;

/// Counts cases; `main` prints the result.
struct Counter final : doctest::IReporter {
    explicit Counter(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats& stats) override {
        cases_that_pass_the_filters = stats.numTestCasesPassingFilters;
    }
    void test_case_start(const doctest::TestCaseData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("counter", 1, Counter);

/// State that the processes share.
struct Progress {
    std::atomic<unsigned> taken{0};
    std::atomic<unsigned> run{0};
    std::atomic<unsigned> failed{0};
};

void run_cases(doctest::Context& context, unsigned cases,
               std::vector<std::unique_ptr<PreparedDaemon>>& daemons, Progress& progress) {
    for (unsigned next = progress.taken++; next < cases * daemons.size(); next = progress.taken++) {
        const std::size_t kind = next % daemons.size();
        const int number = static_cast<int>(next / daemons.size()) + 1;
        DaemonFixture::use(*daemons[kind]);
        context.setOption("first", number);
        context.setOption("last", number);
        if (context.run() != 0) {
            std::printf("the failure above was %s\n", PreparedDaemon::describe(kinds[kind]));
            ++progress.failed;
        }
        ++progress.run;
        std::fflush(stdout);
    }
}

} // namespace

int main(int count, char** arguments) {
    doctest::Context context{count, arguments};
    context.setOption("minimal", true);
    context.setOption("first", INT_MAX); // list no cases yet
    const int answer = context.run();
    if (context.shouldExit()) {
        return answer;
    }
    const unsigned cases = cases_that_pass_the_filters;
    std::vector<std::unique_ptr<PreparedDaemon>> daemons;
    for (const Kind kind : kinds) {
        daemons.push_back(std::make_unique<PreparedDaemon>(kind));
    }
    void* shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return EXIT_FAILURE;
    }
    Progress& progress = *new (shared) Progress;
    std::vector<pid_t> running;
    for (int i = 0; i < processes; ++i) {
        const pid_t process = ::fork(); // this process has one thread
        if (process == 0) {
            run_cases(context, cases, daemons, progress);
            std::_Exit(EXIT_SUCCESS); // skips destructors of what the processes share
        }
        running.push_back(process);
    }
    bool is_well = true;
    for (const pid_t process : running) {
        int status = 0;
        is_well = process > 0 && ::waitpid(process, &status, 0) == process && WIFEXITED(status) &&
                  WEXITSTATUS(status) == EXIT_SUCCESS && is_well;
    }
    for (std::size_t i = 0; i < daemons.size(); ++i) {
        if (!daemons[i]->end()) {
            std::printf("sessionqd (%s) did not exit normally\n",
                        PreparedDaemon::describe(kinds[i]));
            is_well = false;
        }
    }
    std::printf("%u cases on %zu kinds of daemon: %u run, %u failed\n", cases, daemons.size(),
                progress.run.load(), progress.failed.load());
    is_well =
        is_well && cases > 0 && progress.failed == 0 && progress.run == cases * daemons.size();
    ::munmap(shared, sizeof(Progress));
    return is_well ? EXIT_SUCCESS : EXIT_FAILURE;
}
