"""Limits that do not depend on the machine."""

# Memory that a step may take on a CPU; fixed, so that the micro-batch, and with it
# the last bits of a run's numbers, are the same on every machine.
CPU_BYTES = 4 * 2**30
