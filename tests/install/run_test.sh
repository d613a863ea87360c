#!/bin/sh
# ./run with a cmake that only pretends: what it says, how it quotes, and that a failed build is shown.
# usage: run_test.sh SOURCE
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
fail() { echo "run_test: $*"; exit 1; }

mkdir -p "$work/bin" "$work/build/release"
cp "$1/run" "$1/packages.txt" "$work"
echo 'CMAKE_INSTALL_LIBDIR:PATH=lib' >"$work/build/release/CMakeCache.txt"
cat >"$work/bin/cmake" <<'END'
#!/bin/sh
[ "$1" = --build ] || exit 0
printf '[1/2] Building a\n[2/2] Building b\n'
[ -z "${BROKEN:-}" ] || { echo 'a.cpp:1: error: no'; exit 1; }
END
printf '#!/bin/sh\n' >"$work/bin/apt-get"
chmod +x "$work/bin/cmake" "$work/bin/apt-get"
export PATH="$work/bin:$PATH"
cd "$work"

odd="$work/a b'c \$d"
said=$(./run install "$odd" 2>"$work/errors") || fail "install ended with $?"
if grep -q 'Building\|building' "$work/errors"; then fail "a build is not quiet where nobody looks on"; fi
eval "$said"
[ "$CMAKE_PREFIX_PATH" = "$odd" ] || fail "CMAKE_PREFIX_PATH is $CMAKE_PREFIX_PATH"
[ "$PKG_CONFIG_PATH" = "$odd/lib/pkgconfig" ] || fail "PKG_CONFIG_PATH is $PKG_CONFIG_PATH"
[ "${PATH%%:*}" = "$odd/bin" ] || fail "PATH is $PATH"

if BROKEN=1 ./run install "$odd" >"$work/output" 2>"$work/errors"; then fail "a failed build is a success"; fi
[ ! -s "$work/output" ] || fail "a failed build prints exports"
grep -q 'a.cpp:1: error: no' "$work/errors" || fail "the error of a build is not shown"
if grep -q 'Building' "$work/errors"; then fail "what was built is shown with the error"; fi

./run install --help | grep -q -e '--static' || fail "install --help does not help"
for wrong in '' --statik; do
  if ./run install "$wrong" 2>"$work/errors"; then fail "install '$wrong' is a success"; fi
  [ "$(wc -l <"$work/errors")" = 1 ] || fail "install '$wrong' is not refused in one line"
done
