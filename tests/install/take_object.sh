#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Launches a compiler, unless another build has made this object: a static library is the objects of the shared one.
# usage: take_object.sh OTHER-BUILD COMPILER ARGUMENTS...; both builds name their objects alike
other=$1 object= last=
shift
for word in "$@"; do
  [ "$last" != -o ] || object=$word
  last=$word
done
if [ -n "$object" ] && [ -f "$other/$object" ]; then
  exec cp "$other/$object" "$object"
fi
exec "$@"
