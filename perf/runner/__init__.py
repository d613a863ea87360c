"""The runner of the benchmarks: launches the drivers, gathers their records, prints tables and plots."""
