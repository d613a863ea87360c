# SPDX-License-Identifier: BSD-3-Clause
"""Which hosts and networks are simulated."""
from dataclasses import dataclass

# What a cable lets through: nothing is held back, or a rate is held at both ends.
NETWORKS = {"open": None, "200mbit": "200mbit"}


@dataclass(frozen=True)
class Shape:
    hosts: int
    per_host: int

    @property
    def np(self):
        return self.hosts * self.per_host
