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

# free_ports COUNT
free_ports() {
    python3 -c '
import socket, sys
taken = [socket.socket() for _ in range(int(sys.argv[1]))]
for each in taken: each.bind(("127.0.0.1", 0))
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

# wait_for_port PORT PID SECONDS
wait_for_port() {
    local tries
    for ((tries = 0; tries < $3 * 10; ++tries)); do
        kill -0 "$2" 2>/dev/null || return 1
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0
        sleep 0.1
    done
    return 1
}

# wait_for_text DIRECTORY TEXT SECONDS: in what it prints.
wait_for_text() {
    local tries
    for ((tries = 0; tries < $3 * 10; ++tries)); do
        kill -0 "$(<"$1/pid")" 2>/dev/null || return 1
        grep -q "$2" "$1/log/out" && return 0
        sleep 0.1
    done
    return 1
}

# stop_process DIRECTORY SIGNAL: by the id that `start` wrote down, and waits for its end.
stop_process() {
    [[ -s $1/pid ]] || return 0
    local pid tries
    pid=$(<"$1/pid")
    rm -f "$1/pid"
    kill "-$2" "$pid" 2>/dev/null || return 0
    for ((tries = 0; tries < 300; ++tries)); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}
