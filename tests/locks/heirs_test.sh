#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# heirs_test.sh WEFT PROGRAM RANKS NODES: all but the one that dies must survive.
survivors=$("$1" run -k -n "$3" --nodes "$4" "$2" | grep -c survived)
test "$survivors" -eq $(($3 - 1)) || { echo "$survivors of $(($3 - 1)) survived"; exit 1; }
