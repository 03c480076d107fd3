# What the scripts of the brokers share; sourced by them.

set -euo pipefail

central=${SESSIONQ_MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
downloads=${SESSIONQ_BROKERS:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/interop/cache/brokers}
user=sessionq

refuse() {
    printf '%s\n' "$(basename "$0"): $1" >&2
    exit 2
}

# Why the broker cannot be run here; fails if it can.
why_not() {
    command -v java >/dev/null || { echo "no java"; return; }
    command -v curl >/dev/null || { echo "no curl"; return; }
    local major
    major=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
    ((${major:-0} >= 17)) || { echo "java ${major:-of no known version} is older than 17"; return; }
    fetch || { echo "Maven Central is out of reach"; return; }
    return 1
}

# fetch_archive PATH: a distribution from Maven Central, unpacked once into $home.
fetch_archive() {
    [[ -e $home/.whole ]] && return 0
    mkdir -p "$home"
    curl -fsS --max-time 300 "$central/$1" | tar -xz -C "$home" --strip-components="$2" || return 1
    : >"$home/.whole"
}

# free_ports COUNT: none of those the system gives away by itself, so that nobody gets one while its broker is down.
free_ports() {
    python3 -c '
import random, socket, sys
lowest_given_away = int(open("/proc/sys/net/ipv4/ip_local_port_range").read().split()[0])
candidates, taken = list(range(lowest_given_away // 2, lowest_given_away)), []
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

# make_certificates DIRECTORY PASSWORD: an authority, a server and a client it vouches for; stores for Java beside them.
make_certificates() {
    local to=$1 password=$2 name
    mkdir -p "$to"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout "$to/ca.key" -out "$to/ca.pem" 2>/dev/null
    for name in server client; do
        openssl req -newkey rsa:2048 -nodes -subj "/CN=$([[ $name == server ]] && echo localhost || echo "$user")" -keyout "$to/$name.key" -out "$to/$name.csr" 2>/dev/null
        openssl x509 -req -in "$to/$name.csr" -CA "$to/ca.pem" -CAkey "$to/ca.key" -CAcreateserial -days 2 \
            -extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1") -out "$to/$name.pem" 2>/dev/null
    done
    openssl pkcs12 -export -in "$to/server.pem" -inkey "$to/server.key" -name server -passout "pass:$password" -out "$to/server.p12"
    keytool -importcert -noprompt -alias ca -file "$to/ca.pem" -keystore "$to/trust.p12" -storetype PKCS12 -storepass "$password" >/dev/null 2>&1
}

# runs PID: one that has ended and that nobody has buried does not.
runs() {
    local state
    read -r _ _ state _ 2>/dev/null <"/proc/$1/stat" && [[ $state != Z ]]
}

# greets PORT: that something listens is not enough.
greets() {
    timeout 2 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" && printf "AMQP\3\1\0\0" >&3 && [[ $(head -c 4 <&3) == AMQP ]]' "$1" 2>/dev/null
}

# wait_until_up DIRECTORY SECONDS [TEXT]: until it has printed the text and greets. If it ends, or time is up, all that tells why is printed.
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
        echo "--- process $pid $(runs "$pid" && ps -o 'stat=,etime=,time=' -p "$pid" || echo "has ended"); load $(</proc/loadavg); who has port $port:"
        ss -Htanp "sport = :$port" 2>/dev/null || echo "not known"
    } >&2
    refuse "it does not start"
}

# stop_process DIRECTORY SIGNAL: by the id that `start` wrote down, and waits for its end.
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
