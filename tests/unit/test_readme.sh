#!/bin/sh
# The README says what is so: its C program is examples/hello.c to the letter, prints what is said
# to be printed, and every page that README and docs/ point to is there.
. tests/kit.sh
build=$(dirname "$carom")

# The first block of README.md that opens with ```$1.
block() {
    awk -v open="\`\`\`$1" '$0 == "```" { inside = 0 }
        inside { print }
        $0 == open && !seen { inside = seen = 1 }' README.md
}

block c >"$room/hello.c"
[ -s "$room/hello.c" ] || fail "README.md has a block of C"
cmp "$room/hello.c" examples/hello.c || fail "README.md shows examples/hello.c"
block text >"$room/said"
"$build/examples/hello" >"$room/printed" || fail "hello runs"
diff "$room/said" "$room/printed" || fail "hello prints what README.md says"

# Links to files of the tree, without what follows a #.
for page in README.md CONTRIBUTING.md CHANGELOG.md docs/*.md; do
    for link in $(sed -n 's/](\([^)]*\))/\n](\1)\n/gp' "$page" | sed -n 's/^](\([^)]*\))$/\1/p'); do
        case $link in
        http*:* | '#'*) continue ;;
        esac
        [ -e "$(dirname "$page")/${link%%#*}" ] || fail "$page points to $link, which is there"
    done
done

# Every page of docs/ can be reached from its index.
for page in docs/*.md; do
    name=$(basename "$page")
    [ "$name" = README.md ] || grep -q "]($name" docs/README.md || fail "docs/README.md lists $name"
done

version=$("$carom" --version | awk '{print $2}')
grep -q "^## $version" CHANGELOG.md || fail "CHANGELOG.md has a heading for version $version"

[ $failures = 0 ] && echo "the README holds"
[ $failures = 0 ]
