# shellcheck shell=bash
# Functions for scripts with programs that they install. Such a script sources this file, and defines `fail MESSAGE` to
# end itself.
#
#   environment DIRECTORY REQUIREMENTS PROGRAM      creates a virtual environment, unless it is up to date
environment() {
    local venv=$1 requirements=$2 program=$3
    if cmp -s "$requirements" "$venv/requirements.txt" && [[ -x $venv/bin/$program ]]; then
        return
    fi
    command -v python3 >/dev/null || fail 'python3 is missing'
    python3 -c 'import venv, ensurepip' 2>/dev/null ||
        fail 'python3 lacks the module venv (Debian and Ubuntu: install the package python3-venv)'
    rm -rf "$venv"
    mkdir -p "$(dirname "$venv")"
    python3 -m venv "$venv" || fail 'the creation of the virtual environment failed'
    # --no-deps, because the requirements list all packages. The constraints also pin the build tools of source packages.
    # Old and new versions of pip read different variables for that.
    PIP_CONSTRAINT=$requirements PIP_BUILD_CONSTRAINT=$requirements "$venv/bin/python" -m pip install --quiet --no-compile \
        --disable-pip-version-check --no-deps --requirement "$requirements" || fail "the installation of $requirements failed"
    cp "$requirements" "$venv/requirements.txt"
}

# Prints a free port of this machine.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Builds a tool of this version from its sources into target/tools. The further arguments are those of cargo install.
#
#   install_tool NAME VERSION ARGUMENTS...
install_tool() {
    local name=$1 version=$2
    shift 2
    [[ $("target/tools/bin/$name" --version 2>/dev/null) != *"$version" ]] || return 0
    # Debug builds, because these tools run for a few seconds and take minutes to optimize.
    cargo install "$name" --version "=$version" --locked --root target/tools --target-dir target/tools/build \
        --profile dev --config profile.dev.debug=false "$@"
}

# The process of the emulator and its URL. The script ends the process.
emulator=
emulator_url=

# Starts an emulator of AWS on a free port of this machine, and waits until it accepts connections.
#
#   start_emulator LOG PROGRAM...
start_emulator() {
    local log=$1 port step
    shift
    port=$(free_port)
    emulator_url=http://127.0.0.1:$port
    # Without BIND_HOST it listens on all addresses.
    AWS_ENDPOINT_URL=$emulator_url AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=local \
        AWS_SECRET_ACCESS_KEY=local BIND_HOST=127.0.0.1 GATEWAY_PORT=$port LOG_LEVEL=WARNING "$@" >"$log" 2>&1 &
    emulator=$!
    # At most three minutes, because other checks run at the same time.
    for ((step = 0; step < 1800; step++)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
        kill -0 "$emulator" 2>/dev/null || break
        sleep 0.1
    done
    fail 'the emulator did not start'
}

# Makes the tools of AWS use the emulator, as root. Creates the program `aws` in a directory of the path: the first
# version of it sends requests of queues to the address of the queue, unless its command line has an address.
#
#   use_emulator DIRECTORY PROGRAM
use_emulator() {
    export AWS_ENDPOINT_URL=$emulator_url AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1
    export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_PAGER='' SAM_CLI_TELEMETRY=0
    mkdir -p "$1"
    cat >"$1/aws" <<END
#!/bin/sh
exec "$2" --endpoint-url "$emulator_url" "\$@"
END
    chmod +x "$1/aws"
}
