# SPDX-License-Identifier: MIT
# Sourced by tests/run, samples/run and .ci/run: finds the project and sets the machine up.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)

# ccache is used if it is installed. It needs these settings to cache precompiled headers.
export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_NOHASHDIR=1

build_packages=(
    g++ cmake ninja-build libasio-dev doctest-dev nlohmann-json3-dev libcli11-dev
    libssl-dev libsqlite3-dev libwslay-dev libncurses-dev pkgconf python3
)
# another AMQP engine, an HTTP proxy, another clock, other shells, another Asio
test_packages=(libqpid-proton11-dev tinyproxy-bin faketime zsh fish libboost-dev)
sample_packages=(libspdlog-dev) # a sample without its library is skipped
bench_packages=(libbenchmark-dev)
ledger_packages=(valgrind) # counts instructions for tests/bench/ledger.py
docs_packages=(doxygen python3) # sdk/docs/build
lint_packages=(clang-format clang-tidy)
checked_packages=(clang-16 libclang-rt-16-dev lld-16) # for sanitizers and fuzz harnesses

step() {
    printf '%s\n' "-- $*"
}

# Shows the command's output only if it fails.
quietly() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    if ((status != 0)); then
        cat "$log" >&2
        printf '%s\n' "failed ($status): $*" >&2
    fi
    rm -f "$log"
    return "$status"
}

# Installs the Debian packages that are missing. Does nothing if all are there.
need_packages() {
    local missing=() package as_root=()
    for package in "$@"; do
        if ! dpkg -s "$package" 2>/dev/null | grep -q '^Status: install ok installed'; then
            missing+=("$package")
        fi
    done
    if ((${#missing[@]} == 0)); then
        return 0
    fi
    if ((EUID != 0)); then
        if ! command -v sudo >/dev/null; then
            printf '%s\n' "only root can install these missing Debian packages: ${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    step "installing ${missing[*]}"
    quietly "${as_root[@]}" apt-get update -q &&
        quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# Sets runtime_packages: what other people's clients and brokers run on, where it is missing.
find_runtime_packages() {
    runtime_packages=(openssl curl)
    command -v node >/dev/null && command -v npm >/dev/null || runtime_packages+=(nodejs npm)
    command -v java >/dev/null && command -v javac >/dev/null ||
        runtime_packages+=(default-jdk-headless)
    command -v mvn >/dev/null || runtime_packages+=(maven)
    python3 -c 'import ensurepip, venv' 2>/dev/null || runtime_packages+=(python3-venv)
}

# A suite whose runtime is still missing is skipped by name.
install_runtimes() {
    find_runtime_packages
    need_packages "${runtime_packages[@]}" ||
        step "not all of these could be installed: ${runtime_packages[*]}"
}

# For all stages of .ci/run at once.
install_everything() {
    need_packages "${build_packages[@]}" "${test_packages[@]}" "${sample_packages[@]}" \
        "${ledger_packages[@]}" "${docs_packages[@]}" "${lint_packages[@]}" \
        "${checked_packages[@]}" &&
        install_runtimes
}

# build PRESET DIRECTORY [target...]: configures, with `build_settings`, and builds in DIRECTORY.
build_settings=()
build() {
    local preset=$1 directory=$2
    shift 2
    step "building $directory (preset $preset)"
    quietly cmake -S "$root" --preset "$preset" "${build_settings[@]}"
    showing_progress cmake --build "$root/$directory" -j "$jobs" ${1:+--target "$@"}
}

# Runs a build by Ninja. Tells every ten seconds how much is built, and shows the rest of the output
# only if the build fails.
showing_progress() {
    local log status=0
    log=$(mktemp)
    NINJA_STATUS='[%f of %t] ' "$@" 2>&1 | tell_progress "$log" || status=$?
    if ((status != 0)); then
        cat "$log" >&2
        printf '%s\n' "failed ($status): $*" >&2
    fi
    rm -f "$log"
    return "$status"
}
tell_progress() {
    local line began=$SECONDS told=$SECONDS
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$1"
        if [[ $line == '['*' of '*']'* ]] && ((SECONDS - told >= 10)); then
            told=$SECONDS
            step "  ${line%%]*}] after $((told - began)) s"
        fi
    done
}
