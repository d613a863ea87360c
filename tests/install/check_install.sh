#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: check_install.sh BUILD LIBDIR CC CXX
set -eu
build=$1 libdir=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The prefix is moved after the installation: nothing may remember where it was made. It has a blank in its name.
cmake --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
mv "$work/first" "$work/pre fix"
prefix="$work/pre fix"

run_twice() {
  echo "check_install: $1, alone and as two ranks"
  [ "$("$1")" = "0 of 1" ]
  [ "$("$prefix/bin/weft" run -n 2 "$1" | sort)" = "0 of 2
1 of 2" ]
}

"$prefix/bin/weft" --version
test -s "$prefix/share/man/man1/weft.1"
test -s "$prefix/share/weft/suppressions/valgrind.supp"
"$prefix/bin/weft" plan barrier --machine hdr >/dev/null

# Only what the headers declare is visible, no debugging information is installed, and users' programs need nothing
# of what the library was built with but UCX and PMIx.
fail() { echo "check_install: $*"; exit 1; }
if [ -e "$prefix/$libdir/libweft.so" ]; then
  static=
  leaks=$(nm -DC --defined-only "$prefix/$libdir/libweft.so" | cut -d' ' -f3- |
    grep -vE '^(upc_|cray_upc_|weft_|weft::|(typeinfo|typeinfo name|vtable) for weft::error@|WEFT_0.1$)') || true
  [ -z "$leaks" ] || fail "these are visible: $leaks"
  bare=$(nm -DC --defined-only "$prefix/$libdir/libweft.so" | grep -vE '@@WEFT_|WEFT_0.1$') || true
  [ -z "$bare" ] || fail "these have no version: $bare"
  needs=$(readelf -d "$prefix/$libdir/libweft.so" | grep -E 'NEEDED.*(fmt|spdlog|hwloc)') || true
  [ -z "$needs" ] || fail "programs would need $needs"
else
  static=--static
fi
for file in "$prefix/bin/weft" "$prefix/$libdir"/libweft.*; do
  if readelf -SW "$file" | grep -q '[.]debug_info'; then fail "$file is not stripped"; fi
done

# What ./run install prints must survive a prefix with blanks and quotes.
eval "$(sed -n '/^quoted() {/,/^}/p' "$here/../../run")"
odd="/a b'c \$d"
eval "back=$(quoted "$odd")"
[ "$back" = "$odd" ] || fail "exports are not quoted: $back"

export PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig" LD_LIBRARY_PATH="$prefix/$libdir"
if pkg-config --libs weft | grep -q rpath; then fail "weft.pc puts a path of this prefix into programs"; fi
flags=$(pkg-config $static --cflags --libs weft)
strict="-Wall -Wextra -Werror"
# The flags are several words on purpose, and the prefix has a blank: pkg-config quotes for eval.
eval "\"$cc\" -g -std=c11 $strict -o '$work/pc_c' '$here/consumer/consumer.c' $flags"
eval "\"$cxx\" -g -std=c++20 $strict -o '$work/pc_cpp' '$here/consumer/consumer.cpp' $flags"
run_twice "$work/pc_c"
run_twice "$work/pc_cpp"

# Errors name the line of the call, whichever way the library is linked.
names_line() { # what it says, the file
  line=$(grep -n upc_memset "$here/consumer/$2" | cut -d: -f1)
  case $1 in *"upc_memset: "*" ($2:$line)"*) ;; *) fail "no line $line of $2: $1" ;; esac
}
names_line "$("$work/pc_c" wrong 2>&1 || true)" consumer.c
names_line "$("$work/pc_cpp" wrong)" consumer.cpp

unset LD_LIBRARY_PATH
export CC="$cc" CXX="$cxx"
cmake -S "$here/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log" ||
  { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
grep -q "^weft_DIR:[^=]*=$prefix/" "$work/build/CMakeCache.txt" || { echo "another weft was found"; exit 1; }
run_twice "$work/build/consumer_c"
run_twice "$work/build/consumer_cpp"
