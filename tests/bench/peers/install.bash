# SPDX-License-Identifier: MIT
# Sourced by tests/run: installs Azure's clients for other languages, for the benchmarks over the
# network. Each gets its own directory under $peers with a program "peer". Without its runtime or
# registry a file "skipped" says why instead, unless an earlier run has installed it.
# shellcheck shell=bash disable=SC2154

peers=$root/build/bench/peers
peers_source=$root/tests/bench/peers

# peer_is_ready NAME VERSION COMMAND: makes the program, which runs COMMAND, and prints the version.
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

# try_peer NAME COMMAND...: runs a command with its output in the peer's install.log.
try_peer() {
    local name=$1
    shift
    timeout 240 "$@" >>"$peers/$name/install.log" 2>&1
}

install_javascript_peer() {
    local at=$peers/javascript package version
    package=$at/node_modules/@azure/service-bus
    command -v node >/dev/null && command -v npm >/dev/null ||
        { skip_peer javascript "no node and npm"; return; }
    cp "$peers_source"/javascript/* "$at/"
    rm -f "$at/package-lock.json" # it would keep an older version
    try_peer javascript npm install --prefix "$at" --no-audit --no-fund --loglevel=error ||
        [[ -d $package ]] ||
        { skip_peer javascript "npm cannot install @azure/service-bus"; return; }
    version=$(node -p "require('$package/package.json').version")
    peer_is_ready javascript "@azure/service-bus $version, node $(node --version)" \
        "node --expose-gc '$at/peer.mjs'"
}

install_python_peer() {
    local at=$peers/python version
    command -v python3 >/dev/null || { skip_peer python "no python3"; return; }
    [[ -x $at/venv/bin/pip ]] || try_peer python python3 -m venv "$at/venv" ||
        { skip_peer python "python3 cannot make a virtual environment"; return; }
    try_peer python "$at/venv/bin/pip" install -q --upgrade \
        -r "$root/tests/interop/python/requirements.txt" ||
        "$at/venv/bin/python" -c 'import azure.servicebus' 2>/dev/null ||
        { skip_peer python "pip cannot install azure-servicebus"; return; }
    cp "$peers_source/python/peer.py" "$at/"
    version=$("$at/venv/bin/python" -c 'import azure.servicebus as bus; print(bus.__version__)')
    peer_is_ready python "azure-servicebus $version, $(python3 --version)" \
        "'$at/venv/bin/python' '$at/peer.py'"
}

install_go_peer() {
    local at=$peers/go client=github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus
    local newest version
    command -v go >/dev/null || { skip_peer go "no go"; return; }
    # Does not download a compiler. The peer is skipped if the installed one is too old.
    local -x GOTOOLCHAIN=local GOFLAGS="-modcacherw -buildvcs=false"
    [[ -f $at/go.mod ]] || cp "$peers_source/go/go.mod" "$at/"
    cp "$peers_source/go/peer.go" "$at/"
    # "go get" would also fetch every module below the client's path prefix.
    newest=$(cd "$at" && timeout 240 go list -m -f '{{.Version}}' "$client@latest" \
        2>>"$at/install.log") && (cd "$at" && go mod edit -require="$client@$newest") || true
    try_peer go go build -C "$at" -mod=mod -o program . ||
        try_peer go env GOPROXY=off go build -C "$at" -mod=mod -o program . ||
        { skip_peer go "go cannot build azservicebus"; return; }
    version=$(go list -C "$at" -mod=mod -m -f '{{.Version}}' "$client")
    peer_is_ready go "azservicebus $version, $(go version | cut -d ' ' -f 3)" "'$at/program'"
}

install_java_peer() {
    local at=$peers/java jar
    local goal=org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies
    command -v mvn >/dev/null && command -v javac >/dev/null ||
        { skip_peer java "no mvn and javac"; return; }
    local maven=(mvn -B --no-transfer-progress -Dstyle.color=never -f "$at/pom.xml"
        -DoutputDirectory="$at/lib" -Dmdep.overWriteReleases=true)
    cp "$root/tests/interop/java/pom.xml" "$at/"
    rm -rf "$at/lib"
    try_peer java "${maven[@]}" "$goal" || try_peer java "${maven[@]}" -o "$goal" ||
        { skip_peer java "mvn cannot get azure-messaging-servicebus"; return; }
    try_peer java javac -cp "$at/lib/*" -d "$at/classes" "$peers_source/java/Peer.java" ||
        { skip_peer java "javac cannot compile the peer"; return; }
    jar=$(basename "$at"/lib/azure-messaging-servicebus-*.jar .jar)
    peer_is_ready java \
        "azure-messaging-servicebus ${jar#azure-messaging-servicebus-}, $(javac -version 2>&1)" \
        "java -cp '$at/classes:$at/lib/*' Peer 2> >(grep -v '^SLF4J: ' >&2)"
}

# Neither the client nor .NET is in a registry that is used here: see tests/interop/run.
install_dotnet_peer() {
    local program=${SESSIONQ_DOTNET_CASES:-}
    [[ -x $program ]] ||
        { skip_peer dotnet "SESSIONQ_DOTNET_CASES names no program"; return; }
    peer_is_ready dotnet "$(basename "$program")" "'$program'"
}

# Sets SESSIONQ_BENCH_PEERS.
install_peers() {
    local name
    for name in javascript python go java dotnet; do
        mkdir -p "$peers/$name"
        rm -f "$peers/$name"/{peer,skipped,install.log}
        "install_${name}_peer"
    done
    export SESSIONQ_BENCH_PEERS=$peers
}
