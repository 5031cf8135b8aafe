#!/bin/sh
# All checks, the quick ones first; goes on after a failure and ends with "N passed, N failed".
#   tools/test.sh            everything
#   tools/test.sh tidy dev   some stages: format release python experiments viewer dev clang golden tidy
set -u
cd "$(dirname "$0")/.." || exit 1
workers=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
passed=0
failed=0
failures=""
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT

begin() {
    since=$(date +%s)
    echo "== $stage: $1"
}
# score STATUS WHAT: one more that passed or failed
score() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        failures="$failures $2"
    fi
}
end() { # STATUS
    echo "== $stage: $([ "$1" = 0 ] && echo good || echo FAILED), $(($(date +%s) - since)) s"
}

# without TOOL: says so when it is not here; the stage then counts as neither
without() {
    command -v "$1" >/dev/null && return 1
    echo "== $stage: not run, there is no $1"
}

format() {
    begin "clang-format finds nothing to change"
    find include src tests bench examples -name '*.[ch]' | sort |
        xargs clang-format --dry-run -Werror >"$room/log" 2>&1
    status=$?
    sed -n 's/^\([^:]*\):[0-9].* error: .*/\1: make format would change it/p' "$room/log" | uniq
    score $status format
    end $status
}

# The number that stands in attribute $2 of the summary $1 that ctest wrote.
count() {
    sed -n "s/.*[[:space:]]$2=\"\([0-9]*\)\".*/\1/p;/<testcase/q" "$1" | head -n 1
}

# suite PRESET [CTEST ARGUMENTS...]: builds it, warnings being errors, and runs its tests. The build
# counts as one and so does each test.
suite() {
    preset=$1
    shift
    begin "built and tested"
    { cmake --preset "$preset" && cmake --build --preset "$preset"; } >"$room/log" 2>&1
    status=$?
    score $status "$preset/build"
    if [ $status != 0 ]; then
        tail -n 40 "$room/log"
        end $status
        return
    fi
    report=$room/$preset.xml
    ctest --preset "$preset" -j "$workers" "$@" --output-junit "$report"
    status=$?
    if [ -s "$report" ]; then
        bad=$(count "$report" failures)
        good=$(($(count "$report" tests) - bad - $(count "$report" skipped)))
        passed=$((passed + good - $(count "$report" disabled)))
        failed=$((failed + bad))
        [ "$bad" = 0 ] || failures="$failures $preset/ctest"
    else
        score 1 "$preset/ctest"
    fi
    end $status
}

tidy() {
    begin "clang-tidy has nothing to say"
    cmake --preset release >"$room/log" 2>&1
    # one file at a time: given several, the analyzer carries va_lists from one to the next
    find src examples -name '*.c' | sort |
        xargs -P "$workers" -n 1 clang-tidy -p build --quiet \
            --extra-arg=-Wno-unknown-warning-option >"$room/tidy" 2>"$room/log"
    status=$?
    grep -E 'warning:|error:' "$room/tidy" | sort -u
    score $status tidy
    end $status
}

# An interpreter that has NumPy and pytest: PYTHON, the distribution's, or whichever comes first.
find_python() {
    for python in ${PYTHON:-} /usr/bin/python3 python3; do
        "$python" -c 'import numpy, pytest' 2>/dev/null && return 0
    done
    return 1
}

# pytests NAME INTERPRETER [ARGUMENTS...]: each test counts as one, those left out as none.
pytests() {
    report=$room/$(basename "$1").xml
    name=$1
    interpreter=$2
    shift 2
    CAROM_LIBRARY=$PWD/build/libcarom.so CAROM_PROGRAM=$PWD/build/carom PYTHONDONTWRITEBYTECODE=1 \
        "$interpreter" -m pytest -q -rs -p no:cacheprovider --junitxml="$report" "$@"
    status=$?
    if [ -s "$report" ]; then
        bad=$(($(count "$report" failures) + $(count "$report" errors)))
        failed=$((failed + bad))
        passed=$((passed + $(count "$report" tests) - bad - $(count "$report" skipped)))
        [ "$bad" = 0 ] || failures="$failures $name"
    else
        score 1 "$name"
    fi
}

# JAX comes from a registry into an environment of its own, where there is one to be reached.
jax() {
    venv=build/python-jax
    if ! "$venv/bin/python" -c 'import jax' 2>/dev/null; then
        { "$python" -m venv --system-site-packages "$venv" &&
            timeout 600 "$venv/bin/python" -m pip install -q jax; } >"$room/log" 2>&1 || {
            echo "== $stage: the tests with JAX are not run, it could not be installed:" \
                "$(tail -n 1 "$room/log")"
            return
        }
    fi
    pytests python/jax "$venv/bin/python" python/tests/test_jax.py
}

# A wheel, built and put into an environment that has nothing else of ours.
wheel() {
    maker=$room/maker clean=$room/clean
    { "$python" -m venv "$maker" && "$python" -m venv "$clean" &&
        timeout 600 "$maker/bin/python" -m pip install -q scikit-build-core &&
        timeout 600 "$clean/bin/python" -m pip install -q numpy; } >"$room/log" 2>&1 || {
        echo "== $stage: the wheel is not built, what builds it could not be had:" \
            "$(tail -n 1 "$room/log")"
        return
    }
    tree=$PWD
    "$maker/bin/python" -m pip wheel -q --no-build-isolation --no-deps -w "$room/wheel" . \
        >"$room/log" 2>&1 &&
        (cd "$room" && "$clean/bin/python" -m pip install -q wheel/*.whl >log 2>&1 &&
            CAROM_LIBRARY="" "$clean/bin/python" "$tree/tools/check_wheel.py")
    status=$?
    [ $status = 0 ] || tail -n 20 "$room/log"
    score $status python/wheel
}

python() {
    find_python || {
        echo "== $stage: not run, no interpreter here has numpy and pytest"
        return
    }
    begin "the package, by $("$python" --version)"
    { cmake --preset release && cmake --build --preset release --target carom carom_cli; } \
        >"$room/log" 2>&1 || {
        tail -n 40 "$room/log"
        score 1 python/build
        end 1
        return
    }
    before=$failed
    pytests python "$python" python/tests
    jax
    wheel
    end $((failed - before))
}

# The paper's experiments in their quick form, those that take seconds; each claim counts as one.
experiments() {
    begin "the paper's, in their quick form"
    { cmake --preset release && cmake --build --preset release --target carom carom_cli; } >"$room/log" 2>&1
    before=$failed
    tools/experiments.sh --quick --only 1,3,4,5,6,7,8,9,11,12,13 >"$room/log" 2>&1
    status=$?
    grep -E '^[0-9]|^  [+-] |not run' "$room/log"
    passed=$((passed + $(grep -c '^  + ' "$room/log")))
    failed=$((failed + $(grep -c '^  - ' "$room/log")))
    if [ $status != 0 ] && [ $failed = $before ]; then # it did not come as far as a claim
        tail -n 20 "$room/log"
        failed=$((failed + 1))
    fi
    [ $failed = $before ] || failures="$failures experiments"
    end $((failed - before))
}

# The page of carom view: built from its npm packages, then driven in a browser by the release build.
viewer() {
    begin "built and tested in a browser"
    if [ ! -x build/carom ]; then
        { cmake --preset release && cmake --build --preset release --target carom_cli; } >"$room/log" 2>&1
    fi
    # a registry that cannot be reached is no fault of the page; a list of packages that does not fit is
    (cd viewer && { [ -d node_modules ] || npm ci --loglevel=error --no-audit --no-fund; }) >"$room/log" 2>&1
    status=$?
    if [ $status != 0 ] && grep -Eq 'code (EAI_AGAIN|ENOTFOUND|ECONN|ENETUNREACH|ETIMEDOUT|ERR_SOCKET|E5[0-9][0-9]|.*CERT)' "$room/log"; then
        echo "== $stage: not run, its packages could not be had: $(sed -n 's/^npm [A-Za-z!]* request to //p' "$room/log" | head -n 1)"
        return
    fi
    [ $status != 0 ] || (cd viewer && npm run --silent build) >"$room/log" 2>&1
    status=$((status + $?))
    score $status viewer/build
    if [ $status != 0 ]; then
        tail -n 20 "$room/log"
        end $status
        return
    fi
    (cd viewer && node --test --test-concurrency=1 --test-reporter=tap tests/*.test.js) >"$room/log" 2>&1
    status=$?
    grep -E '^not ok|^# (thousand|sheet):|error:' "$room/log"
    passed=$((passed + $(grep -c '^ok' "$room/log")))
    bad=$(grep -c '^not ok' "$room/log")
    failed=$((failed + bad))
    [ "$bad" = 0 ] && [ $status = 0 ] || failures="$failures viewer/tests"
    [ "$bad" != 0 ] || [ $status = 0 ] || failed=$((failed + 1))
    end $status
}

golden() {
    begin "every build gives the same bits"
    tools/golden.sh
    status=$?
    score $status golden
    end $status
}

if [ $# = 0 ]; then
    set -- format release python experiments viewer dev clang golden tidy
fi
for stage in "$@"; do
    case $stage in
    format) without clang-format || format ;;
    release) suite release ;;
    python) python ;;
    experiments) experiments ;;
    # scenarios and gradients take minutes under sanitizers; unit tests, the program and the examples step there too
    dev) suite dev -LE 'scenario|grad' ;;
    clang) without clang || suite clang -LE scenario ;;
    golden) golden ;;
    tidy) without clang-tidy || tidy ;;
    viewer) without npm || without "${CAROM_BROWSER:-chromium}" || viewer ;;
    *)
        echo "there is no stage $stage; there are: format release python experiments viewer dev clang golden tidy" >&2
        exit 2
        ;;
    esac
done
[ -z "$failures" ] || echo "failed:$failures"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
