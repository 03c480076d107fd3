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
        "${lint_packages[@]}" "${checked_packages[@]}" &&
        install_runtimes
}

# build PRESET DIRECTORY [target...]: configures and builds in DIRECTORY. SESSIONQ_JOIN_SOURCES=ON
# compiles several sources as one, also where the preset does not say so.
build() {
    local preset=$1 directory=$2
    shift 2
    step "building $directory (preset $preset)"
    quietly cmake -S "$root" --preset "$preset" \
        ${SESSIONQ_JOIN_SOURCES:+-DSESSIONQ_JOIN_SOURCES="$SESSIONQ_JOIN_SOURCES"}
    quietly cmake --build "$root/$directory" -j "$jobs" ${1:+--target "$@"}
}
