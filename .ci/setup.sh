# Sourced by tests/run, samples/run and .ci/run: where the project is, and how its machine is set up.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)

# ccache is used where it is present; precompiled headers need these to be cached.
export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_NOHASHDIR=1

build_packages=(g++ cmake ninja-build libasio-dev doctest-dev nlohmann-json3-dev libcli11-dev libqpid-proton11-dev libssl-dev libsqlite3-dev libwslay-dev python3)
bench_packages=(libbenchmark-dev)
lint_packages=(clang-format clang-tidy)
fuzz_packages=(clang-16 libclang-rt-16-dev)

step() {
    printf '%s\n' "-- $*"
}

# Shows what the command printed only if it fails.
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

# Installs those of the Debian packages that are missing; asks nobody and does nothing if all are there.
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
            printf '%s\n' "these Debian packages are missing and only root can install them: ${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    step "installing ${missing[*]}"
    quietly "${as_root[@]}" apt-get update -q
    quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# build PRESET DIRECTORY [target...]: configures and builds in build/..., lean enough for a small machine.
build() {
    local preset=$1 directory=$2
    shift 2
    step "building $directory (preset $preset)"
    quietly cmake -S "$root" --preset "$preset"
    quietly cmake --build "$root/$directory" -j "$jobs" ${1:+--target "$@"}
}
