#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
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
[ "$LD_LIBRARY_PATH" = "$odd/lib" ] || fail "LD_LIBRARY_PATH is $LD_LIBRARY_PATH"
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

# A release: of a commit, with the section of its version, tagged once and with a date only.
unset LD_LIBRARY_PATH
mkdir "$work/project" && cd "$work/project"
cp "$1/run" "$1/packages.txt" "$1/.gitignore" .
echo 'project(weft VERSION 7.1.0 LANGUAGES CXX)' >CMakeLists.txt
printf '# Changes\n\n## 7.1.0, not yet released\n\n- New.\n\n## 7.0.0, 2020-01-01\n\n- Old.\n' >CHANGELOG.md
git init -q . && git config user.email a@b && git config user.name a
refused() {
  if ./run release ${2:-} >"$work/output" 2>"$work/errors"; then fail "released although $1"; fi
  grep -q "$1" "$work/errors" && [ "$(wc -l <"$work/errors")" = 1 ] || fail "not told that $1: $(cat "$work/errors")"
}
refused 'changes that no commit has'
git add . && git commit -q -m one
./run release >"$work/output" || fail "no release"
(cd build && sha256sum --quiet -c weft-7.1.0.tar.gz.sha256) || fail "the checksum is another"
tar -tzf build/weft-7.1.0.tar.gz | grep -qx weft-7.1.0/CHANGELOG.md || fail "the tarball has no CHANGELOG.md"
grep -q New build/weft-7.1.0.notes.md || fail "the notes are not of this version"
if grep -q Old build/weft-7.1.0.notes.md; then fail "the notes are of another version, too"; fi
refused 'give the version a date' --tag
sed -i 's/not yet released/2020-02-02/' CHANGELOG.md && git commit -q -a -m two
./run release --tag >"$work/output" || fail "no tagged release"
[ "$(git rev-list -n 1 v7.1.0)" = "$(git rev-parse HEAD)" ] || fail "the tag is elsewhere"
refused 'tagged already' --tag
sed -i 's/7.1.0/7.2.0/' CMakeLists.txt && git commit -q -a -m three
refused "has no section '## 7.2.0"
