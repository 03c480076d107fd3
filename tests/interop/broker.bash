# SPDX-License-Identifier: MIT
# Shared by the scripts of the brokers, which source it.

set -euo pipefail

central=${SESSIONQ_MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
downloads=${SESSIONQ_BROKERS:-$root/build/interop/cache/brokers}
user=sessionq

refuse() {
    printf '%s\n' "$(basename "$0"): $1" >&2
    exit 2
}

# Prints why the broker cannot run here, or fails if it can.
why_not() {
    command -v java >/dev/null || { echo "no java"; return; }
    command -v curl >/dev/null || { echo "no curl"; return; }
    local major
    major=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
    ((${major:-0} >= 17)) || { echo "java ${major:-of unknown version} is older than 17"; return; }
    fetch || { echo "cannot download from Maven Central"; return; }
    return 1
}

# fetch_archive PATH: unpacks a distribution from Maven Central into $home, once.
fetch_archive() {
    [[ -e $home/.whole ]] && return 0
    mkdir -p "$home"
    curl -fsS --max-time 300 "$central/$1" | tar -xz -C "$home" --strip-components="$2" || return 1
    : >"$home/.whole"
}

# free_ports COUNT: prints free ports below the range for outgoing connections. No other process
# gets such a port while its broker is down.
free_ports() {
    python3 -c '
import random, socket, sys
outgoing = int(open("/proc/sys/net/ipv4/ip_local_port_range").read().split()[0])
candidates, taken = list(range(outgoing // 2, outgoing)), []
random.shuffle(candidates)
while len(taken) < int(sys.argv[1]):
    each = socket.socket()
    try:
        each.bind(("127.0.0.1", candidates.pop()))
        taken.append(each)
    except OSError:
        pass
print(*(each.getsockname()[1] for each in taken))' "$1"
}

make_password() {
    python3 -c 'import secrets; print(secrets.token_hex(12))'
}

# make_certificates DIRECTORY PASSWORD: an authority, a server and a client certificate from it, and
# stores for Java.
make_certificates() {
    local to=$1 password=$2 name
    mkdir -p "$to"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout "$to/ca.key" \
        -out "$to/ca.pem" 2>/dev/null
    for name in server client; do
        openssl req -newkey rsa:2048 -nodes -keyout "$to/$name.key" -out "$to/$name.csr" \
            -subj "/CN=$([[ $name == server ]] && echo localhost || echo "$user")" 2>/dev/null
        openssl x509 -req -in "$to/$name.csr" -CA "$to/ca.pem" -CAkey "$to/ca.key" \
            -CAcreateserial -days 2 \
            -extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1") -out "$to/$name.pem" \
            2>/dev/null
    done
    openssl pkcs12 -export -in "$to/server.pem" -inkey "$to/server.key" -name server \
        -passout "pass:$password" -out "$to/server.p12"
    keytool -importcert -noprompt -alias ca -file "$to/ca.pem" -keystore "$to/trust.p12" \
        -storetype PKCS12 -storepass "$password" >/dev/null 2>&1
}

# runs PID: succeeds if the process runs. A zombie does not.
runs() {
    local state
    read -r _ _ state _ 2>/dev/null <"/proc/$1/stat" && [[ $state != Z ]]
}

# greets PORT: succeeds if an AMQP broker answers. A listening socket is not enough.
greets() {
    timeout 2 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" && printf "AMQP\3\1\0\0" >&3 &&
        [[ $(head -c 4 <&3) == AMQP ]]' "$1" 2>/dev/null
}

# wait_until_up DIRECTORY SECONDS [TEXT]: waits until the broker has printed the text and greets. If
# it ends or time is up, prints all that may say why.
wait_until_up() {
    local at=$1 text=${3:-} until=$((SECONDS + $2)) pid port
    pid=$(<"$at/pid") port=$(<"$at/port")
    while runs "$pid" && ((SECONDS < until)); do
        if { [[ -z $text ]] || grep -q "$text" "$at/log/out"; } && greets "$port"; then return; fi
        sleep 0.1
    done
    {
        echo "--- the end of $at/log/out, without stack traces"
        grep -v -E '^[[:space:]]+at ' "$at/log/out" | tail -n 40
        echo "--- process $pid:"
        runs "$pid" && ps -o 'stat=,etime=,time=' -p "$pid" || echo ended
        echo "--- load $(</proc/loadavg); users of port $port:"
        ss -Htanp "sport = :$port" 2>/dev/null || echo unknown
    } >&2
    refuse "the broker did not start"
}

# stop_process DIRECTORY SIGNAL: signals the process that `start` recorded and waits for its end.
stop_process() {
    [[ -s $1/pid ]] || return 0
    local pid tries
    pid=$(<"$1/pid")
    rm -f "$1/pid"
    kill "-$2" "$pid" 2>/dev/null || return 0
    for ((tries = 0; tries < 300; ++tries)); do
        runs "$pid" || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}
