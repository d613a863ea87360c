#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: repeat.sh TIMES SECONDS COMMAND...
# The command again and again, each run with another number behind it; the first that fails, or takes longer,
# is the end.
times=$1 seconds=$2
shift 2
for run in $(seq "$times"); do
  timeout "$seconds" "$@" "$run" >/dev/null || { status=$?; echo "run $run: status $status"; exit 1; }
done
