#!/bin/sh
# Gets the scanned figures that experiments use (armadillo, bunny) from Debian's package libcgal-demo
# and puts them into build/meshes. Nothing of it is kept in the tree; without it a generated figurine
# stands in.
set -eu
cd "$(dirname "$0")/.."
to=$(pwd)/build/meshes
[ -f "$to/armadillo.off" ] && [ -f "$to/bunny00.off" ] && exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || {
    echo "fetch_meshes: needs apt-get and dpkg-deb; experiments will use the generated figurine" >&2
    exit 1
}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
(cd "$room" && { apt-get download -qq libcgal-demo || { apt-get update -qq && apt-get download -qq libcgal-demo; }; }) \
    >/dev/null 2>&1 || {
    echo "fetch_meshes: the package libcgal-demo could not be had; experiments will use the generated figurine" >&2
    exit 1
}
dpkg-deb -x "$room"/libcgal-demo*.deb "$room"
mkdir -p "$to"
tar xzf "$room/usr/share/doc/libcgal-dev/data.tar.gz" -C "$room" data/meshes/armadillo.off data/meshes/bunny00.off
mv "$room"/data/meshes/*.off "$to"
echo "fetch_meshes: armadillo.off and bunny00.off are in build/meshes"
