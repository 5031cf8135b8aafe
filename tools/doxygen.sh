#!/bin/sh
# doxygen.sh [FOLDER]: the API reference from include/carom, as FOLDER/html (build/docs). A warning is a failure.
set -u
cd "$(dirname "$0")/.." || exit 1
out=${1:-build/docs}
command -v doxygen >/dev/null || { echo "docs: there is no doxygen (Debian: doxygen)" >&2; exit 77; }
rm -rf "$out" && mkdir -p "$out" || exit 1
version=$(sed -n 's/#define CAROM_VERSION "\(.*\)"/\1/p' include/carom/base.h)
doxygen - <<CONFIG || exit 1
PROJECT_NAME = carom
PROJECT_NUMBER = $version
PROJECT_BRIEF = "differentiable physics of meshes and cloth in contact"
INPUT = include/carom
FILTER_PATTERNS = *.h="python3 tools/doxygen_filter.py"
OUTPUT_DIRECTORY = "$out"
STRIP_FROM_PATH = include
STRIP_FROM_INC_PATH = include
OPTIMIZE_OUTPUT_FOR_C = YES
TYPEDEF_HIDES_STRUCT = YES
JAVADOC_AUTOBRIEF = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = CAROM_API=
SORT_MEMBER_DOCS = NO
HAVE_DOT = NO
GENERATE_LATEX = NO
EXTRACT_ALL = YES
QUIET = YES
WARN_AS_ERROR = FAIL_ON_WARNINGS
CONFIG
echo "docs: $out/html/index.html"
