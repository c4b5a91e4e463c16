# For the scripts that need Python: an environment of its own for each state of its requirements. Sourced, where `fail`
# ends a script with a message.
#
#   environment DIRECTORY REQUIREMENTS PROGRAM      made unless PROGRAM is in it, as the requirements are now
environment() {
    local venv=$1 requirements=$2 program=$3
    if cmp -s "$requirements" "$venv/requirements.txt" && [[ -x $venv/bin/$program ]]; then
        return
    fi
    command -v python3 >/dev/null || fail 'python3 is missing'
    python3 -c 'import venv, ensurepip' 2>/dev/null ||
        fail 'python3 has no venv module; install it (Debian and Ubuntu: the package python3-venv)'
    rm -rf "$venv"
    mkdir -p "$(dirname "$venv")"
    python3 -m venv "$venv" || fail 'the virtual environment could not be made'
    # The requirements name all of it. What builds a package that is published as source is pinned as well; its option
    # depends on pip's age.
    PIP_CONSTRAINT=$requirements PIP_BUILD_CONSTRAINT=$requirements "$venv/bin/python" -m pip install --quiet --no-compile \
        --disable-pip-version-check --no-deps --requirement "$requirements" || fail "$requirements could not be installed"
    cp "$requirements" "$venv/requirements.txt"
}

# A port of this machine that nobody listens on.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
