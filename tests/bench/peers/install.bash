# Sourced by tests/run: Azure's clients for other languages, for the benchmarks over the network, each in a directory of its own under $peers with a program "peer".
# Where a runtime or a registry is out of reach there is a line "skipped" instead, which says why; what an earlier run has installed is used then.
# shellcheck shell=bash disable=SC2154

peers=$root/build/bench/peers
peers_source=$root/tests/bench/peers

# A client's version is told; what runs is `command`, from anywhere.
peer_is_ready() {
    local name=$1 version=$2 command=$3
    printf '#!/usr/bin/env bash\nexec %s "$@"\n' "$command" >"$peers/$name/peer"
    chmod +x "$peers/$name/peer"
    step "peer: $name: $version"
}

skip_peer() {
    printf '%s\n' "$2" >"$peers/$1/skipped"
    step "peer skipped: $1: $2"
}

# try_peer NAME COMMAND...: what it prints goes into the peer's install.log.
try_peer() {
    local name=$1
    shift
    timeout 240 "$@" >>"$peers/$name/install.log" 2>&1
}

install_javascript_peer() {
    local at=$peers/javascript
    command -v node >/dev/null && command -v npm >/dev/null || { skip_peer javascript "no node and npm"; return; }
    cp "$peers_source"/javascript/* "$at/"
    rm -f "$at/package-lock.json" # it would keep what was the newest once
    try_peer javascript npm install --prefix "$at" --no-audit --no-fund --loglevel=error || [[ -d $at/node_modules/@azure/service-bus ]] ||
        { skip_peer javascript "npm cannot install @azure/service-bus"; return; }
    peer_is_ready javascript "@azure/service-bus $(node -p "require('$at/node_modules/@azure/service-bus/package.json').version"), node $(node --version)" \
        "node --expose-gc '$at/peer.mjs'"
}

install_python_peer() {
    local at=$peers/python
    command -v python3 >/dev/null || { skip_peer python "no python3"; return; }
    [[ -x $at/venv/bin/pip ]] || try_peer python python3 -m venv "$at/venv" || { skip_peer python "python3 makes no virtual environment"; return; }
    try_peer python "$at/venv/bin/pip" install -q --upgrade -r "$root/tests/interop/python/requirements.txt" ||
        "$at/venv/bin/python" -c 'import azure.servicebus' 2>/dev/null || { skip_peer python "pip cannot install azure-servicebus"; return; }
    cp "$peers_source/python/peer.py" "$at/"
    peer_is_ready python "azure-servicebus $("$at/venv/bin/python" -c 'import azure.servicebus; print(azure.servicebus.__version__)'), $(python3 --version)" \
        "'$at/venv/bin/python' '$at/peer.py'"
}

install_go_peer() {
    local at=$peers/go client=github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus newest
    command -v go >/dev/null || { skip_peer go "no go"; return; }
    # No other compiler is downloaded: one that is too old is a reason to skip.
    local -x GOTOOLCHAIN=local GOFLAGS="-modcacherw -buildvcs=false"
    [[ -f $at/go.mod ]] || cp "$peers_source/go/go.mod" "$at/"
    cp "$peers_source/go/peer.go" "$at/"
    # "go get" would also fetch every module whose path begins as the client's does.
    newest=$(cd "$at" && timeout 240 go list -m -f '{{.Version}}' "$client@latest" 2>>"$at/install.log") && (cd "$at" && go mod edit -require="$client@$newest") || true
    try_peer go go build -C "$at" -mod=mod -o program . || try_peer go env GOPROXY=off go build -C "$at" -mod=mod -o program . ||
        { skip_peer go "go cannot build azservicebus"; return; }
    peer_is_ready go "azservicebus $(go list -C "$at" -mod=mod -m -f '{{.Version}}' "$client"), $(go version | cut -d ' ' -f 3)" "'$at/program'"
}

install_java_peer() {
    local at=$peers/java goal=org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies jar
    command -v mvn >/dev/null && command -v javac >/dev/null || { skip_peer java "no mvn and javac"; return; }
    local maven=(mvn -B --no-transfer-progress -Dstyle.color=never -f "$at/pom.xml" -DoutputDirectory="$at/lib" -Dmdep.overWriteReleases=true)
    cp "$root/tests/interop/java/pom.xml" "$at/"
    rm -rf "$at/lib"
    try_peer java "${maven[@]}" "$goal" || try_peer java "${maven[@]}" -o "$goal" || { skip_peer java "mvn cannot get azure-messaging-servicebus"; return; }
    try_peer java javac -cp "$at/lib/*" -d "$at/classes" "$peers_source/java/Peer.java" || { skip_peer java "javac cannot compile the peer"; return; }
    jar=$(basename "$at"/lib/azure-messaging-servicebus-*.jar .jar)
    peer_is_ready java "azure-messaging-servicebus ${jar#azure-messaging-servicebus-}, $(javac -version 2>&1)" "java -cp '$at/classes:$at/lib/*' Peer 2> >(grep -v '^SLF4J: ' >&2)"
}

# Sets SESSIONQ_BENCH_PEERS.
install_peers() {
    local name
    for name in javascript python go java; do
        mkdir -p "$peers/$name"
        rm -f "$peers/$name"/{peer,skipped,install.log}
        "install_${name}_peer"
    done
    export SESSIONQ_BENCH_PEERS=$peers
}
