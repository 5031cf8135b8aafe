#!/bin/sh
# An installed carom serves programs in C and C++, by find_package and by pkg-config, shared and
# static, from wherever the tree was moved to. Each public header stands alone in both languages.
if [ "$1" = --rests ]; then # PROGRAM: it runs and tells where the box is
    "$2" | grep '^after 1.00 s the box is at z = '
    exit
fi
. tests/kit.sh
build=$(dirname "$carom")
hello=$PWD/examples/hello.c
for tool in cmake ninja pkg-config cc c++; do
    command -v $tool >/dev/null || { echo "not run: there is no $tool"; exit 77; }
done
if grep -q '^CAROM_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
    echo "not run: a library with sanitizers asks for programs with sanitizers"
    exit 77
fi
holds "it installs under DESTDIR" env DESTDIR="$room/stage" cmake --install "$build" --prefix /usr
holds "DESTDIR has the program" test -x "$room/stage/usr/bin/carom"
holds "it installs" cmake --install "$build" --prefix "$room/first place"
prefix="$room/elsewhere"
mv "$room/first place" "$prefix"
holds "the installed program runs" "$prefix/bin/carom" --version
lib=$(dirname "$(find "$prefix" -name libcarom.a)")
export PKG_CONFIG_PATH="$lib/pkgconfig"
version=$("$carom" --version | awk '{print $2}')
holds "carom.pc has the version" test "$(pkg-config --modversion carom)" = "$version"

for header in "$prefix"/include/carom/*.h; do
    for language in c c++; do
        holds "$(basename "$header") alone is good $language" cc -x $language -Wall -Wextra \
            -Wpedantic -Werror -fsyntax-only -I"$prefix/include" -include "$header" /dev/null
    done
done

# 32 bits are refused in words; the compiler's own headers will do for that
cc -m32 -ffreestanding -nostdinc -isystem "$(cc -print-file-name=include)" -fsyntax-only \
    -x c -I"$prefix/include" -include carom/base.h /dev/null >"$room/narrow" 2>&1
holds "32 bits are refused" grep -q "carom needs a 64-bit machine" "$room/narrow"

# by pkg-config; without -static the archive is named, for beside it stands the shared library
# shellcheck disable=SC2046 # one word per flag
for language in c c++; do
    compiler=$([ $language = c ] && echo cc || echo c++)
    holds "pkg-config, shared, $language" $compiler -x $language "$hello" -x none -o "$room/shared" \
        $(pkg-config --cflags --libs carom)
    holds "the shared one runs, $language" env LD_LIBRARY_PATH="$lib" "$0" --rests "$room/shared"
    holds "pkg-config, static, $language" $compiler -x $language "$hello" -x none -o "$room/static" \
        $(pkg-config --cflags carom) "$lib/libcarom.a" \
        $(pkg-config --static --libs carom | sed 's/-lcarom//')
    holds "the static one runs, $language" "$0" --rests "$room/static"
done

# by find_package, each language in a project that knows no other
for language in C CXX; do
    suffix=$([ $language = C ] && echo c || echo cpp)
    mkdir "$room/$language"
    cp "$hello" "$room/$language/hello.$suffix"
    cat >"$room/$language/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.16)
project(consumer LANGUAGES $language)
find_package(carom $version REQUIRED)
add_executable(shared hello.$suffix)
target_link_libraries(shared PRIVATE carom::carom)
add_executable(static hello.$suffix)
target_link_libraries(static PRIVATE carom::carom_static)
CMAKE
    holds "find_package, $language: configures" cmake -G Ninja -S "$room/$language" \
        -B "$room/$language/build" -DCMAKE_PREFIX_PATH="$prefix"
    holds "find_package, $language: builds" cmake --build "$room/$language/build"
    holds "find_package, shared, $language: runs" "$0" --rests "$room/$language/build/shared"
    holds "find_package, static, $language: runs" "$0" --rests "$room/$language/build/static"
done

# the archive alone: it configures, and its carom.pc names what else is to be linked
holds "an archive alone configures" cmake -G Ninja -S . -B "$room/archive" -DBUILD_SHARED_LIBS=OFF \
    -DCAROM_TESTS=OFF
holds "carom.pc of an archive names what it needs" grep -q '^Libs: .*-lcarom .*-lz' "$room/archive/carom.pc"

finish "what is installed holds"
