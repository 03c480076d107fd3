# SPDX-License-Identifier: MIT
# Suites of tests/interop/run, which sources it: our client on other people's brokers with message
# groups.
#
# tests/interop/artemis and tests/interop/broker-j start a fresh broker on loopback and stop it by
# its process id. Each broker gets the contract suite (which prints its capabilities), the replay of
# records by groups, sample 07, `sessionq doctor`, a client that it refuses, and a few rounds of
# tests/interop/group_faults.py.

programs=$(dirname "$daemon")
fault_rounds=${SESSIONQ_FAULT_ROUNDS:-2}

# try_broker artemis|broker-j
try_broker() {
    local kind=$1 at=$work/$1 why
    why=$("$here/$kind" why-not)
    if [[ -n $why ]]; then
        summary+=("interop: $kind: skipped: $why")
        return
    fi
    local target=contract_${kind//-/_}
    cmake --build "$programs/.." --target "$target" fault_load replay 07_message_groups \
        sessionq_cli \
        >"$work/$kind-build.log" 2>&1 || {
        tail -n 30 "$work/$kind-build.log"
        failed+=("$kind: cannot build its programs")
        return
    }
    rm -rf "$at"
    "$here/$kind" start "$at" || { failed+=("$kind did not start"); return; }
    local passed=() name
    for name in contract replay sample doctor refusal faults; do
        if "broker_$name" "$kind" "$at" >"$work/$kind-$name.log" 2>&1; then
            passed+=("$name")
        else
            tail -n 40 "$work/$kind-$name.log"
            failed+=("$kind: $name")
        fi
    done
    "$here/$kind" stop "$at"
    say "$kind: its capabilities"
    sed -n '/^Apache/,/^  receive and delete/p' "$work/$kind-contract.log" |
        sed '/^  receive and delete/q'
    grep -h -e '^\[doctest\] test cases' "$work/$kind-contract.log" || true
    grep -h -e ' faults; ' "$work/$kind-faults.log" || true
    local versions
    versions="$("$here/$kind" version), $(java -version 2>&1 | head -n 1)"
    summary+=("interop: $kind: passed: ${passed[*]:-nothing} ($versions)")
}

queues_of() {
    case $1 in
    artemis) echo t ;;
    broker-j) echo standard ;;
    esac
}

broker_contract() {
    SESSIONQ_BROKER_URL=$(<"$2/url") SESSIONQ_BROKER_TLS_URL=$(<"$2/tls-url") \
        SESSIONQ_BROKER_CA=$2/tls/ca.pem timeout 200 "$programs/contract_${1//-/_}"
}

broker_replay() {
    python3 -c 'import random
print("group")
for _ in range(20000): print(f"g{random.randrange(500)}")' >"$work/records.csv"
    timeout 120 "$programs/replay" --input "$work/records.csv" --session-key group \
        --connection "$(<"$2/url")" --entity "$(queues_of "$1").d10.replay"
}

broker_sample() {
    SESSIONQ_CONNECTION=$(<"$2/url") timeout 60 "$programs/07_message_groups" \
        "$(queues_of "$1").d10.sample"
}

broker_doctor() {
    local doctor=("$programs/sessionq" doctor --timeout 30s) queues
    queues=$(queues_of "$1")
    SESSIONQ_CONNECTION=$(<"$2/url") timeout 60 "${doctor[@]}" --entity "$queues.d10.doctor" &&
        SESSIONQ_CONNECTION=$(<"$2/tls-url") timeout 60 "${doctor[@]}" --ca-file "$2/tls/ca.pem" \
            --entity "$queues.d10.doctor" || return
    ! SESSIONQ_CONNECTION=$(<"$2/url") timeout 60 "${doctor[@]}" --entity not-there
}

# Neither broker admits a client without a user, and the client says that it was rejected.
broker_refusal() {
    local said command
    for command in "doctor --entity orders" "send orders hello"; do
        if said=$(SESSIONQ_CONNECTION=amqp://127.0.0.1:$(<"$2/port") \
            timeout 60 "$programs/sessionq" $command 2>&1); then
            return 1
        fi
        printf '%s\n' "$said"
        grep -q rejected <<<"$said" || return
    done
}

broker_faults() {
    local faults=(python3 -B "$here/group_faults.py" --load "$programs/fault_load"
        --work "$work/$1-faults" --rounds "$fault_rounds")
    case $1 in
    artemis)
        "${faults[@]}" failover && "${faults[@]}" consumers --broker artemis &&
            "${faults[@]}" rebalance
        ;;
    broker-j) "${faults[@]}" restart && "${faults[@]}" consumers --broker broker-j ;;
    esac
}
