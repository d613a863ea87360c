#!/bin/sh
# usage: check_install.sh BUILD LIBDIR CC CXX
set -eu
build=$1 libdir=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The prefix is moved after the installation: nothing may remember where it was made.
cmake --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
mv "$work/first" "$work/prefix"
prefix=$work/prefix

run_twice() {
  echo "check_install: $1, alone and as two ranks"
  [ "$("$1")" = "0 of 1" ]
  [ "$("$prefix/bin/weft" run -n 2 "$1" | sort)" = "0 of 2
1 of 2" ]
}

"$prefix/bin/weft" --version
test -s "$prefix/share/man/man1/weft.1"

export PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig"
flags=$(pkg-config --cflags --libs weft)
strict="-Wall -Wextra -Werror"
# The flags are several words on purpose.
"$cc" -std=c11 $strict -o "$work/pc_c" "$here/consumer/consumer.c" $flags
"$cxx" -std=c++20 $strict -o "$work/pc_cpp" "$here/consumer/consumer.cpp" $flags
run_twice "$work/pc_c"
run_twice "$work/pc_cpp"

export CC="$cc" CXX="$cxx"
cmake -S "$here/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log" ||
  { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
grep -q "^weft_DIR:[^=]*=$prefix/" "$work/build/CMakeCache.txt" || { echo "another weft was found"; exit 1; }
run_twice "$work/build/consumer_c"
run_twice "$work/build/consumer_cpp"
