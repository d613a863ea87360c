#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What was installed under a prefix works: a C and a C++ program are compiled against it and run as two ranks.
# usage: installcheck.sh PREFIX LIBDIR CC CXX
set -eu
prefix=$1 libdir=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
fail() { echo "installcheck: $*"; exit 1; }

[ -x "$prefix/bin/weft" ] || fail "there is no $prefix/bin/weft: install first, as with cmake --install BUILD --prefix $prefix"
export PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig" LD_LIBRARY_PATH="$prefix/$libdir"
static=--static
[ ! -e "$prefix/$libdir/libweft.so" ] || static=
# Several words on purpose; pkg-config quotes for eval.
flags=$(pkg-config $static --cflags --libs weft)
eval "\"$cc\" -std=c11 -o '$work/of_c' '$here/consumer/consumer.c' $flags"
eval "\"$cxx\" -std=c++20 -o '$work/of_cpp' '$here/consumer/consumer.cpp' $flags"
for program in of_c of_cpp; do
  [ "$("$prefix/bin/weft" run -n 2 "$work/$program" | sort)" = "0 of 2
1 of 2" ] || fail "a job of two ranks of $program did not say who they are"
done
"$prefix/bin/weft" doctor
echo "installcheck: $prefix is all right"
