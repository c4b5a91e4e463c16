# shellcheck shell=bash
# Functions for scripts with Python programs. Such a script sources this file, and defines `fail MESSAGE` to end itself.
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
