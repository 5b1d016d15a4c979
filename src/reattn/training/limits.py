"""Limits that do not depend on the machine."""

# Memory that a step may take on a CPU; fixed, so that the micro-batch does not depend
# on the machine.
CPU_BYTES = 4 * 2**30
