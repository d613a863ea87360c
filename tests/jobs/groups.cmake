# SPDX-License-Identifier: BSD-3-Clause
# The sessions that have settings of their own, beside those that cover all pairs (cmake/multirank.cmake). Each
# place is one launch of a job in the standard suite, of which there is a budget (tests/budgets.py).

# What WEFT_CHECK=1 finds, and that programs without a mistake run as without it.
weft_add_session_group(checked AT 3:1:ucp:caller 4:2:direct 3:3:direct:dedicated:memory:few SETTINGS WEFT_CHECK=1)
weft_add_session_group(relayed AT 6:3:ucp
  SETTINGS UCX_TLS=tcp,self WEFT_ALGORITHM=broadcast=relayed WEFT_COSTS=gap=100000)
# The ways of reductions, beside those of relocalization that sessions have in turns (settings.py).
weft_add_session_group(flat AT 7:3:direct SETTINGS WEFT_ALGORITHM=reduce_all=flat,prefix_reduce=flat)

# What is scarce: places of operations, transfers under way, cores, memory.
weft_add_session_group(outstanding AT 2:1:direct 3:1:ucp)
# It measures the memory of its process.
weft_add_session_group(outstanding_teams AT 2:1:direct)
weft_add_session_group(cap AT 3:1:ucp SETTINGS WEFT_MAX_OPERATIONS=500)
weft_add_session_group(places_1 AT 4:1:ucp:dedicated SETTINGS WEFT_MAX_OPERATIONS=1)
weft_add_session_group(places_3 AT 4:1:ucp:dedicated SETTINGS WEFT_MAX_OPERATIONS=3)
weft_add_session_group(few_handles AT 3:1:ucp SETTINGS WEFT_MAX_OPERATIONS=8)
weft_add_session_group(one_place AT 3:1:direct:dedicated SETTINGS WEFT_MAX_OPERATIONS=1 WEFT_YIELDS=1000000000)
weft_add_session_group(one_core AT 3:2:direct:auto:sockets 5:2:direct:auto:sockets SETTINGS WEFT_WINDOW=1)
weft_add_session_group(sleepy AT 4:2:direct SETTINGS WEFT_SPINS=0 WEFT_YIELDS=0)
weft_add_session_group(heap AT 3:2:direct SETTINGS WEFT_HEAP_SIZE=256M)
weft_add_session_group(small_heap AT 3:1:ucp SETTINGS WEFT_HEAP_SIZE=8M)

# What the counters of messages say is of two ranks with a helping thread.
weft_add_session_group(two_helping AT 2:1:ucp:auto:sockets SETTINGS WEFT_PROGRESS=helping WEFT_YIELDS=1000000)
weft_add_session_group(three_helping AT 3:1:ucp:auto:sockets:few SETTINGS WEFT_PROGRESS=helping)
weft_add_session_group(two_dedicated AT 2:1:ucp:dedicated:sockets)

# A rank that computes, or is stopped, beside others of its host.
weft_add_session_group(independence AT 2:1:direct 3:1:direct 3:1:direct:dedicated 3:1:direct:caller)
weft_add_session_group(independence_of_many AT 1:1:direct 4:1:direct:caller 8:1:direct 5:1:direct LABELS long)

# Other launchers.
weft_add_session_group(mpirun AT 4:1:direct LAUNCHER mpirun)
weft_add_session_group(slurm AT 4:2:ucp LAUNCHER slurm LABELS slurm)

# Under the sanitizers.
weft_add_session_group(sanitized AT 3:1:direct:dedicated 3:1:ucp:dedicated 4:2:direct LABELS tsan asan)
weft_add_session_group(sanitized_cap AT 2:1:ucp SETTINGS WEFT_MAX_OPERATIONS=500 LABELS tsan asan)
weft_add_session_group(sanitized_hierarchical AT 4:2:direct SETTINGS WEFT_ALGORITHM=team_allreduce=hierarchical
  LABELS tsan asan)
weft_add_session_group(asan_checked AT 3:2:direct SETTINGS WEFT_CHECK=1 LABELS asan)
weft_add_session_group(sanitized_heap AT 3:1:direct LABELS tsan asan)
weft_add_session_group(asan_modes AT 4:2:direct LABELS asan)
