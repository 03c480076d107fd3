# SPDX-License-Identifier: MIT
# Sourced by .ci/run and tests/run: runs named stages and tells what each showed and took.
# shellcheck shell=bash

stages_work=$(mktemp -d)
stages=()
stage_tests=0
stages_began=$SECONDS
declare -A started # name -> process group

end_stages() {
    local group
    for group in "${started[@]}"; do
        kill -TERM -- "-$group" 2>/dev/null || true
    done
    rm -rf "$stages_work"
}
trap end_stages EXIT

# stage NAME SHOWS command...: SHOWS is one line, what it shows if it passes. A stage that fails
# ends the script.
stage() {
    local name=$1 shows=$2 from=$SECONDS
    shift 2
    printf '\n== %s: %s\n' "$name" "$shows"
    if ! "$@"; then
        printf '\n== %s FAILED after %d s\n' "$name" $((SECONDS - from))
        exit 1
    fi
    stages+=("$(printf '%5d s  %-19s %s' $((SECONDS - from)) "$name" "$shows")")
    printf '== %s: %d s\n' "$name" $((SECONDS - from))
}

# start NAME command...: runs it beside the stages that follow, in a process group of its own.
# `finish NAME` waits for it, shows its output and returns its status.
start() {
    local name=$1
    shift
    setsid "$@" >"$stages_work/$name" 2>&1 &
    started[$name]=$!
}
finish() {
    local status=0
    wait "${started[$1]}" || status=$?
    unset "started[$1]"
    cat "$stages_work/$1"
    return "$status"
}

# tested DIRECTORY command...: runs it, then adds the tests of the ctest run in DIRECTORY. A test
# that is a doctest program counts its cases.
tested() {
    local directory=$1 figures
    shift
    "$@" || return
    figures=$(awk '/^\[doctest\] test cases: / { cases += $4; ++programs }
        /^Test Passed\.$/ { ++passed }
        END { print passed - programs + cases, passed }' \
        "$directory/Testing/Temporary/LastTest.log")
    stage_tests=$((stage_tests + ${figures% *}))
    printf '== %s cases in %s tests\n' "${figures% *}" "${figures#* }"
}

# The last words of a script whose stages all passed.
tell_stages() {
    times >"$stages_work/times"
    printf '\n'
    printf '%s\n' "${stages[@]}"
    # Shared among the processors, the work of all commands is the least that a run can take.
    printf '%d stages in %d s on %d processors, which worked for %d s\n' "${#stages[@]}" \
        $((SECONDS - stages_began)) "$jobs" "$(awk -F '[ms ]+' \
        'NR == 2 { print int($1 * 60 + $2 + $3 * 60 + $4) }' "$stages_work/times")"
    printf '%d passed, 0 failed\n' "$stage_tests"
}
