#!/bin/sh
# setup.sh build|compare|test: installs what building, comparing with others or testing needs and
# this machine lacks, by Debian package name. What is there already, from wherever it came, is left
# alone. On a machine without apt-get it names what is missing and lets the build say what it cannot
# do without.
set -u
purpose=${1:-build}
missing=""

# A thing is there when a trial of it succeeds, so that a second run does nothing.
need() { # PACKAGE COMMAND...
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
program() {
    command -v "$1"
}
header() { # COMPILER HEADER [FLAG...]
    compiler=$1
    name=$2
    shift 2
    echo "#include <$name>" | "$compiler" "$@" -E -x c -
}

# clang's own library for the checks that it builds in: a package of its own, which only some
# versions of clang bring along.
checks() {
    trial=$(mktemp) || return 1
    echo "int main(void) { return 0; }" | clang -fsanitize=undefined -x c -o "$trial" -
    status=$?
    rm -f "$trial"
    return $status
}

# Modules count when the interpreter that the tests will take has them: PYTHON or the distribution's.
has_module() {
    for python in ${PYTHON:-} /usr/bin/python3; do
        "$python" -c "import importlib.util, sys; sys.exit(not importlib.util.find_spec('$1'))" &&
            return 0
    done
    return 1
}

# The dense methods that are compared with are to be as fast as they can be: a tuned BLAS.
tuned() {
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -q 'libopenblas\.so'
}

need gcc program gcc
need libc6-dev header gcc stdlib.h
need cmake program cmake
need ninja-build program ninja
need libjansson-dev header gcc jansson.h
need libsuitesparse-dev header gcc amd.h -I/usr/include/suitesparse -I/usr/local/include/suitesparse
need zlib1g-dev header gcc zlib.h
if [ "$purpose" = compare ]; then
    need libopenblas0-pthread tuned
fi
if [ "$purpose" = test ]; then
    need g++ program g++
    need pkg-config program pkg-config
    need python3 program python3
    need python3-numpy has_module numpy
    need python3-pytest has_module pytest
    need python3-jsonschema has_module jsonschema
    need python3-torch has_module torch
    need python3-mpi4py has_module mpi4py
    need python3-venv has_module ensurepip
    need openmpi-bin program mpirun
    need libopenmpi-dev header mpicc mpi.h
    need clang program clang
    need libclang-rt-dev checks
    need clang-format program clang-format
    need clang-tidy program clang-tidy
    need doxygen program doxygen
    # the viewer's page is built by npm and tested in a browser
    need nodejs program node
    need npm program npm
    need chromium program chromium
fi
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null; then
    echo "setup: this machine lacks (by Debian's names):$missing"
    echo "setup: there is no apt-get here; please install them if the build asks for them"
    exit 0
fi
if [ "$(id -u)" = 0 ]; then
    as_root=env
elif command -v sudo >/dev/null; then
    as_root="sudo env"
else
    echo "setup: missing:$missing; as root, run: apt-get install$missing" >&2
    exit 1
fi
echo "setup: installing$missing"
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
$as_root DEBIAN_FRONTEND=noninteractive apt-get update -qq >"$log" 2>&1 ||
    echo "setup: the package lists could not be renewed; trying with those that are here"
# What apt-get has to say is hundreds of lines, and matters only when it fails.
# shellcheck disable=SC2086 # one word per package
$as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing \
    >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    echo "setup: apt-get could not install$missing" >&2
    exit 1
}
