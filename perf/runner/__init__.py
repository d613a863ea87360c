# SPDX-License-Identifier: BSD-3-Clause
"""The runner of the benchmarks: launches the drivers, gathers their records, prints tables and plots."""
