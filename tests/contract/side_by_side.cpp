// SPDX-License-Identifier: MIT
// The suite on daemons, in real time. Cases mostly wait, so several processes run them at once,
// each taking the next free case. All processes share the daemons. A case with "large message" in
// its name keeps a daemon busy, so it runs last and alone. Accepts doctest's filters.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "contract/daemon_fixture.hpp"

namespace {

using sessionq::test::DaemonFixture;
using sessionq::test::PreparedDaemon;
using Kind = PreparedDaemon::Kind;

constexpr int light_processes = 12;
constexpr std::array kinds{Kind::plain, Kind::tls, Kind::subscriptions};

std::vector<std::string> cases; // names of those that pass the filters

/// Collects the names of the cases; `main` prints the result.
struct Collector final : doctest::IReporter {
    explicit Collector(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData& found) override {
        for (unsigned i = 0; i < found.num_data; ++i) {
            cases.emplace_back(found.data[i]->m_name);
        }
    }
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
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
REGISTER_LISTENER("collector", 1, Collector);

/// A case on a kind of daemon.
struct Turn {
    int number{1}; ///< of the case, as doctest counts
    std::size_t kind{0};
};

/// State that the processes share.
struct Progress {
    std::atomic<unsigned> taken{0};
    std::atomic<unsigned> run{0};
    std::atomic<unsigned> failed{0};
};

std::vector<Turn> turns_of(bool with_large_messages) {
    std::vector<Turn> turns;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const bool has_large = cases[i].find("large message") != std::string::npos;
        if (has_large != with_large_messages) {
            continue;
        }
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            turns.push_back({static_cast<int>(i) + 1, kind});
        }
    }
    return turns;
}

using Daemons = std::vector<std::unique_ptr<PreparedDaemon>>;

void run_cases(doctest::Context& context, const std::vector<Turn>& turns, const Daemons& daemons,
               Progress& progress) {
    for (std::size_t next = progress.taken++; next < turns.size(); next = progress.taken++) {
        const auto [number, kind] = turns[next];
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

/// Runs the cases in so many processes. Returns false if one of these has crashed.
bool run_in(int processes, doctest::Context& context, const std::vector<Turn>& turns,
            const Daemons& daemons, Progress& progress) {
    progress.taken = 0;
    std::vector<pid_t> running;
    for (int i = 0; i < processes; ++i) {
        const pid_t process = ::fork(); // this process has one thread
        if (process == 0) {
            run_cases(context, turns, daemons, progress);
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
    return is_well;
}

/// Collects the names of the cases that pass the filters.
void collect_cases(int count, char** arguments) {
    doctest::Context context{count, arguments};
    std::array list{"", "--list-test-cases"};
    context.applyCommandLine(static_cast<int>(list.size()), list.data());
    std::ostringstream unused; // the list for people
    context.setCout(&unused);
    context.run();
}

} // namespace

int main(int count, char** arguments) {
    collect_cases(count, arguments);
    doctest::Context context{count, arguments};
    context.setOption("minimal", true);
    if (context.shouldExit()) { // after a question, such as --help
        return context.run();
    }
    Daemons daemons;
    for (const Kind kind : kinds) {
        daemons.push_back(std::make_unique<PreparedDaemon>(kind));
    }
    void* shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return EXIT_FAILURE;
    }
    Progress& progress = *new (shared) Progress;
    const bool has_run_light = run_in(light_processes, context, turns_of(false), daemons, progress);
    bool is_well = run_in(1, context, turns_of(true), daemons, progress) && has_run_light;
    for (std::size_t i = 0; i < daemons.size(); ++i) {
        if (!daemons[i]->end()) {
            std::printf("sessionqd (%s) did not exit normally\n",
                        PreparedDaemon::describe(kinds[i]));
            is_well = false;
        }
    }
    std::printf("%zu cases on %zu kinds of daemon: %u run, %u failed\n", cases.size(),
                daemons.size(), progress.run.load(), progress.failed.load());
    is_well = is_well && !cases.empty() && progress.failed == 0 &&
              progress.run == cases.size() * daemons.size();
    ::munmap(shared, sizeof(Progress));
    return is_well ? EXIT_SUCCESS : EXIT_FAILURE;
}
